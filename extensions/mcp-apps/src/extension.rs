//! The extension's definition, and a server's apps.

use mcp_core::extension::Extension;
use mcp_types::meta::keys;

use crate::ui::AppsSettings;

/// The extension of both sides. On a server it contains the apps; on a client it declares that the
/// host displays them.
///
/// # Examples
///
/// A tool that answers with more text when the host shows no apps:
///
/// ```
/// use mcp::apps::Apps;
/// use mcp::extension::Declared;
///
/// async fn chart(host: Option<Declared<Apps>>) -> &'static str {
///     match host {
///         Some(Declared(settings)) if settings.shows_apps() => "3 series, see the chart",
///         _ => "January 3, February 5, March 9",
///     }
/// }
///
/// let builder = mcp::Client::builder().extension(Apps::new());
/// ```
// spec: APP-01
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Apps {
    #[cfg(feature = "server")]
    apps: Vec<App>,
}

impl Apps {
    /// The extension without apps.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Extension for Apps {
    const ID: &'static str = keys::UI_EXTENSION;
    type ServerSettings = ();
    type ClientSettings = AppsSettings;
}

#[cfg(feature = "client")]
impl mcp_client::ClientExtension for Apps {
    fn settings(&self) -> AppsSettings {
        AppsSettings::default()
    }

    fn register(self, _: &mut mcp_client::ClientSetup<Self>) {}
}

#[cfg(feature = "server")]
mod server {
    use mcp_server::{ResourceExt, Routes, ServerExtension, ServerSetup};
    use mcp_types::meta::keys;
    use mcp_types::{Resource, ResourceContents};

    use super::Apps;
    use crate::csp::content_security_policy;
    use crate::ui::{Csp, MIME_TYPE, Permissions, ResourceUi, SCHEME};

    /// A user interface: an HTML document at a `ui://` URI.
    ///
    /// The document is one file: scripts and styles are inside, or come from the domains in its
    /// [`Csp`]. Link tools to it with [`Tool::app`](mcp_types::Tool::app).
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::apps::{App, Csp, Permissions};
    ///
    /// let app = App::new("ui://map", "<!doctype html><title>Map</title>")
    ///     .title("Map")
    ///     .csp(Csp::new().load("https://tiles.example.com"))
    ///     .permissions(Permissions::new().geolocation())
    ///     .prefers_border(false);
    /// ```
    #[derive(Debug, Clone)]
    pub struct App {
        resource: Resource,
        html: String,
        ui: ResourceUi,
        is_listed: bool,
    }

    impl App {
        /// An app without requirements: it loads nothing and connects to nothing.
        pub fn new(uri: impl Into<String>, html: impl Into<String>) -> Self {
            Self {
                resource: Resource::new(uri).mime_type(MIME_TYPE),
                html: html.into(),
                ui: ResourceUi::default(),
                is_listed: true,
            }
        }

        /// Sets the display name.
        #[must_use]
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.resource.title = Some(title.into());
            self
        }

        /// Sets the domains that the document uses. Default: none.
        // spec: APP-03
        #[must_use]
        pub fn csp(mut self, csp: Csp) -> Self {
            self.ui.csp = Some(csp);
            self
        }

        /// Sets the permissions that the document asks for. Default: none.
        // spec: APP-03
        #[must_use]
        pub fn permissions(mut self, permissions: Permissions) -> Self {
            self.ui.permissions = Some(permissions);
            self
        }

        /// Sets the domain that the document asks for, in a format of the host.
        #[must_use]
        pub fn domain(mut self, domain: impl Into<String>) -> Self {
            self.ui.domain = Some(domain.into());
            self
        }

        /// Sets the preference for a visible border.
        #[must_use]
        pub fn prefers_border(mut self, border: bool) -> Self {
            self.ui.prefers_border = Some(border);
            self
        }

        /// Leaves the app out of `resources/list`. Hosts find it by its tools.
        #[must_use]
        pub fn unlisted(mut self) -> Self {
            self.is_listed = false;
            self
        }

        /// Returns the app's mistake, if it has one.
        fn problem(&self) -> Option<String> {
            let uri = &self.resource.uri;
            // spec: APP-02
            if !uri.starts_with(SCHEME) {
                return Some(format!("a URI that begins with `ui://` instead of {uri:?}"));
            }
            let refused = content_security_policy(self.ui.csp.as_ref()).err()?;
            Some(format!("a valid policy of {uri} ({refused})"))
        }

        /// The metadata is on the list entry and on the contents, because hosts read either.
        fn into_routes(self) -> Routes {
            let Self {
                mut resource,
                html,
                ui,
                is_listed,
            } = self;
            let mut meta = resource.meta.take().unwrap_or_default();
            if let Ok(ui) = serde_json::to_value(&ui) {
                meta.insert(keys::UI, ui);
            }
            resource.meta = Some(meta.clone());
            let mut contents = ResourceContents::text(&*resource.uri, html).mime_type(MIME_TYPE);
            if let ResourceContents::Text(text) = &mut contents {
                text.meta = Some(meta);
            }
            let route = resource.read(move || contents.clone());
            Routes::new().resource(if is_listed { route } else { route.unlisted() })
        }
    }

    impl Apps {
        /// Adds an app.
        #[must_use]
        pub fn app(mut self, app: App) -> Self {
            self.apps.push(app);
            self
        }
    }

    impl ServerExtension for Apps {
        fn settings(&self) {}

        fn register(self, setup: &mut ServerSetup<Self>) {
            for app in self.apps {
                if let Some(problem) = app.problem() {
                    setup.requires(problem, |_| false);
                }
                setup.routes(app.into_routes());
            }
        }
    }
}

#[cfg(feature = "server")]
pub use server::App;

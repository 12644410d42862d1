//! The server's extensions.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use mcp_core::extension::{
    CustomNotification, CustomRequest, Extension, ListRequest, from_params, read_settings,
    to_object,
};
use mcp_core::{Call, ResultBody};
use mcp_types::{Cursor, Page};
use serde::{Deserialize, Serialize};

use super::arguments::with_arguments;
use crate::call::{Pagination, PreparedCall, PreparedNotification};
use crate::client::Client;
use crate::error::{Error, ErrorKind};

impl Client {
    /// Returns the server's extension `E`, to read its settings and to send its messages.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the server does not declare the extension, when its settings do not
    /// have the type that the extension defines, or when the server was not queried yet (see
    /// [`ConnectMode::Pin`](crate::ConnectMode::Pin)).
    // spec: EXT-05
    pub fn extension<E: Extension>(&self) -> Result<ExtensionClient<E>, Error> {
        let Some(server) = self.inner.server() else {
            return Err(ErrorKind::UnknownExtensions.into());
        };
        match read_settings::<E::ServerSettings>(&server.capabilities.extensions, E::ID) {
            Ok(Some(settings)) => Ok(ExtensionClient {
                client: self.clone(),
                settings: Arc::new(settings),
            }),
            Ok(None) => Err(ErrorKind::NoExtension(E::ID).into()),
            Err(error) => Err(ErrorKind::ExtensionSettings(error).into()),
        }
    }

    /// Sends an extension notification. `params` must serialize to a JSON object, or be `()`. For programs that
    /// pass messages on; others use [`ExtensionClient::notify`]. Headers and `_meta` can be set before it is awaited.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use serde_json::json;
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// client.notify("notifications/clock/tick", json!({"number": 1})).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn notify(&self, method: &str, params: impl Serialize) -> PreparedNotification {
        let params = to_object(&params).map_err(ErrorKind::Arguments);
        PreparedNotification::new(self, method, params)
    }
}

/// An extension of the server that a client is connected to. Created by [`Client::extension`].
///
/// # Examples
///
/// ```no_run
/// use mcp::Client;
/// use mcp::extension::{CustomRequest, Extension};
///
/// # struct Clock;
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct ClockSettings { zone: String }
/// # impl Extension for Clock {
/// #     const ID: &'static str = "com.example/clock";
/// #     type ServerSettings = ClockSettings;
/// #     type ClientSettings = ();
/// # }
/// # struct Now;
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct Time { seconds: u64 }
/// # impl CustomRequest for Now {
/// #     const METHOD: &'static str = "clock/now";
/// #     type Extension = Clock;
/// #     type Params = ();
/// #     type Result = Time;
/// # }
/// # async fn example(client: Client) -> mcp::Result<()> {
/// let clock = client.extension::<Clock>()?;
/// let time = clock.request::<Now>(&()).await?;
/// println!("{} seconds in {}", time.seconds, clock.settings().zone);
/// # Ok(())
/// # }
/// ```
pub struct ExtensionClient<E: Extension> {
    client: Client,
    settings: Arc<E::ServerSettings>,
}

impl<E: Extension> ExtensionClient<E> {
    /// Returns the settings that the server publishes.
    pub fn settings(&self) -> &E::ServerSettings {
        &self.settings
    }

    /// Returns the client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a request. A call's options, such as its timeout, can be set before it is awaited.
    pub fn request<'a, R>(&self, params: &R::Params) -> PreparedCall<'a, R::Result>
    where
        R: CustomRequest<Extension = E>,
    {
        let call = |params| Call::Other {
            method: R::METHOD.into(),
            params,
        };
        let params = to_object(params).map(Some);
        with_arguments(&self.client, params, call, read_result::<R>)
    }

    /// Lists the items of all pages. The limits of a whole list apply, as for
    /// [`Client::list_tools`]: [`max_pages`](PreparedCall::max_pages),
    /// [`max_items`](PreparedCall::max_items) and [`max_list_bytes`](PreparedCall::max_list_bytes). A page
    /// is requested again when the connection breaks, unless [`idempotent`](PreparedCall::idempotent)
    /// forbids it.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use mcp::extension::{Extension, ListRequest};
    /// # async fn example<E: Extension, R: ListRequest<Extension = E>>(
    /// #     client: mcp::Client,
    /// # ) -> Result<(), mcp::Error> {
    /// let extension = client.extension::<E>()?;
    /// let items = extension.list::<R>().max_pages(20).await?;
    /// println!("{} items", items.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn list<'a, R>(&self) -> PreparedCall<'a, Vec<R::Item>>
    where
        R: ListRequest<Extension = E>,
    {
        let read = |body| read_result::<R>(body).map(R::into_items);
        let first = page_call::<R>(Page::default());
        let list = PreparedCall::new(&self.client, first, read).idempotent(true);
        list.paginated(Pagination::of_items(page_call::<R>, next_page, any_new))
    }

    /// Sends a notification. Headers and `_meta` can be set before it is awaited.
    pub fn notify<N>(&self, params: &N::Params) -> PreparedNotification
    where
        N: CustomNotification<Extension = E>,
    {
        self.client.notify(N::METHOD, params)
    }
}

/// Builds the call for a page.
fn page_call<R: ListRequest>(page: Page) -> Call {
    Call::Other {
        method: R::METHOD.into(),
        params: to_object(&page).ok(),
    }
}

/// Returns the cursor of the next page.
/// Items of an extension have no name by which a repeated one is known.
fn any_new<T>(_: &mut Vec<T>, _: &mut HashSet<String>) -> bool {
    true
}

fn next_page(body: &ResultBody) -> Option<Cursor> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Next {
        next_cursor: Option<Cursor>,
    }

    match body {
        ResultBody::Other(result) => result.parse::<Next>().ok()?.next_cursor,
        _ => None,
    }
}

fn read_result<R: CustomRequest>(body: ResultBody) -> Result<R::Result, ErrorKind> {
    match body {
        ResultBody::Other(result) => from_params(Some(result.as_str()))
            .map_err(|error| ErrorKind::CustomResult(error.to_string())),
        _ => Err(ErrorKind::WrongResult),
    }
}

impl<E: Extension> Clone for ExtensionClient<E> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            settings: self.settings.clone(),
        }
    }
}

impl<E: Extension> fmt::Debug for ExtensionClient<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtensionClient")
            .field("id", &E::ID)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

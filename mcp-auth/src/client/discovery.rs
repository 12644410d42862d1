//! From a challenge to the authorization server: which documents are fetched, in which order.

use std::time::Duration;

use url::Url;

use crate::challenge::Challenge;
use crate::client::document::{AuthDocument, DocumentKind};
use crate::client::event::AuthEvent;
use crate::client::login::Login;
use crate::error::{AuthError, shown};
use crate::fetch::Fetched;
use crate::metadata::resource::{self, ResourceMetadata};
use crate::metadata::server::{self, S256, ServerMetadata};

/// The metadata that a login needs.
#[derive(Debug, Clone)]
pub(crate) struct Discovered {
    pub(crate) resource: Option<ResourceMetadata>,
    pub(crate) server: ServerMetadata,
}

/// Finds the metadata of one MCP server.
pub(crate) struct Discovery<'a> {
    pub(crate) login: &'a Login,
    /// The authorization server of revision 2025-03-26 may be used.
    pub(crate) allows_legacy: bool,
    /// Endpoints that no metadata names may be used: those of revision 2025-03-26.
    pub(crate) allows_unnamed: bool,
    /// The issuer that is selected first: that of stored credentials.
    pub(crate) preferred: Option<&'a str>,
}

impl Discovery<'_> {
    /// Finds the metadata of the server and of its authorization server.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError`] when there is no usable metadata.
    // spec: AUTH-C-01
    pub(crate) async fn run(&self, challenge: Option<&Challenge>) -> Result<Discovered, AuthError> {
        match self.published(challenge).await? {
            Some(found) => Ok(found),
            None if self.allows_legacy && self.allows_unnamed => Ok(Discovered {
                resource: None,
                server: ServerMetadata::at_origin(&self.login.server),
            }),
            None => Err(AuthError::NoMetadata {
                server: shown(&self.login.server),
            }),
        }
    }

    /// Finds the metadata that is published. Returns `None` when there is none.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError`] when the metadata is not usable.
    pub(crate) async fn published(
        &self,
        challenge: Option<&Challenge>,
    ) -> Result<Option<Discovered>, AuthError> {
        if let Some(resource) = self.resource(challenge).await? {
            let server = self.select(&resource).await?;
            return Ok(Some(Discovered {
                resource: Some(resource),
                server,
            }));
        }
        if !self.allows_legacy {
            return Ok(None);
        }
        let found = self.legacy().await?;
        Ok(found.map(|server| Discovered {
            resource: None,
            server,
        }))
    }

    /// Fetches the server's metadata. Returns `None` when it publishes none.
    async fn resource(
        &self,
        challenge: Option<&Challenge>,
    ) -> Result<Option<ResourceMetadata>, AuthError> {
        let mut candidates = resource::candidates(&self.login.server);
        if let Some(named) = challenge.and_then(|challenge| self.named(challenge)) {
            candidates.retain(|url| *url != named);
            candidates.insert(0, named);
        }
        for url in candidates {
            if let Some(fetched) = self.document(DocumentKind::Resource, &url).await? {
                return ResourceMetadata::read(&fetched, &self.login.server).map(Some);
            }
        }
        Ok(None)
    }

    /// The URL in a challenge, if it may be fetched.
    // spec: AUTH-C-02
    fn named(&self, challenge: &Challenge) -> Option<Url> {
        let text = challenge.resource_metadata.as_deref()?;
        let url = Url::parse(text).ok();
        let url = url.filter(|url| {
            let is_downgrade = self.login.server.scheme() == "https" && url.scheme() != "https";
            !is_downgrade && self.login.fetcher.check(url).is_ok()
        });
        if url.is_none() {
            tracing::warn!("the URL in resource_metadata of the challenge is not allowed");
        }
        url
    }

    /// Fetches a document. Returns `None` when there is none at this URL.
    async fn document(&self, kind: DocumentKind, url: &Url) -> Result<Option<Fetched>, AuthError> {
        let mut fetched = self.login.fetcher.get(url).await;
        if is_transient(&fetched) {
            tokio::time::sleep(RETRY_DELAY).await;
            fetched = self.login.fetcher.get(url).await;
        }
        let fetched = fetched?;
        if fetched.is_transient() {
            return Err(fetched.unexpected());
        }
        // A web application may answer every path with its page.
        let exists = fetched.status.is_success() && fetched.is_json();
        if !exists {
            return Ok(None);
        }
        if let Some(document) = AuthDocument::new(kind, &fetched) {
            self.login.emit(AuthEvent::Fetched { document });
        }
        Ok(Some(fetched))
    }

    /// Selects the first authorization server with valid metadata, the preferred one first. Nothing is
    /// fetched from another one than that of the settings.
    async fn select(&self, resource: &ResourceMetadata) -> Result<ServerMetadata, AuthError> {
        let mut issuers: Vec<&String> = resource.issuers().collect();
        issuers.sort_by_key(|issuer| {
            let preferred = self.preferred;
            !preferred.is_some_and(|preferred| server::is_same_issuer(preferred, issuer))
        });
        let (mut first_error, mut refused) = (None, None);
        for issuer in issuers {
            if let Err(error) = self.login.oauth.check_pin(issuer) {
                refused = refused.or(Some(error));
                continue;
            }
            match self.server_metadata(issuer).await {
                Ok(server) => return Ok(server),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error
            .or(refused)
            .unwrap_or_else(|| AuthError::NoMetadata {
                server: shown(&self.login.server),
            }))
    }

    async fn server_metadata(&self, issuer: &str) -> Result<ServerMetadata, AuthError> {
        let invalid =
            || AuthError::malformed(&self.login.server, "the issuer is not a URL without query");
        let url = Url::parse(issuer).map_err(|_| invalid())?;
        // Programs and error messages show the issuer.
        if url.query().is_some() || issuer.contains(char::is_control) {
            return Err(invalid());
        }
        self.login.fetcher.check(&url)?;
        let found = self.first_valid(issuer, &server::candidates(&url)).await?;
        found.ok_or_else(|| AuthError::NoMetadata {
            server: shown(&url),
        })
    }

    /// Returns the first valid document. A document of another issuer is an error, unless a later
    /// one is valid.
    async fn first_valid(
        &self,
        issuer: &str,
        candidates: &[Url],
    ) -> Result<Option<ServerMetadata>, AuthError> {
        let mut first_error = None;
        for url in candidates {
            let Some(fetched) = self.document(DocumentKind::Server, url).await? else {
                continue;
            };
            match ServerMetadata::read(&fetched, issuer, &self.login.fetcher) {
                Ok(server) => return Ok(Some(server)),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or(Ok(None), Err)
    }

    /// Revision 2025-03-26: the authorization server is at the MCP server's origin. Returns `None` when
    /// it publishes no metadata.
    // spec: AUTH-C-33
    async fn legacy(&self) -> Result<Option<ServerMetadata>, AuthError> {
        let issuer = self.login.server.origin().ascii_serialization();
        self.login.oauth.check_pin(&issuer)?;
        let url = resource::at(&self.login.server, "/");
        self.login.fetcher.check(&url)?;
        let found = self.first_valid(&issuer, &server::candidates(&url)).await?;
        // Revision 2025-03-26 requires PKCE without announcing it.
        Ok(found.map(|server| ServerMetadata {
            code_challenge_methods_supported: Some(vec![S256.to_owned()]),
            ..server
        }))
    }
}

/// Delay before the only retry of a metadata request.
const RETRY_DELAY: Duration = Duration::from_millis(250);

fn is_transient(fetched: &Result<Fetched, AuthError>) -> bool {
    match fetched {
        Ok(fetched) => fetched.is_transient(),
        Err(error) => matches!(error, AuthError::Unavailable { .. }),
    }
}

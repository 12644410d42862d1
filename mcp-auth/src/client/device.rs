//! The device authorization grant: the user logs in on another device.
//!
//! Spec: RFC 8628.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::BoxFuture;
use serde::Deserialize;
use url::Url;

use crate::error::{AuthError, printable};
use crate::fetch::{Fetcher, TokenForm};
use crate::lenient;
use crate::metadata::server::ServerMetadata;
use crate::oauth_client::Client;
use crate::secret::Secret;
use crate::token::{TokenEndpoint, Tokens, rejection};

const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// Seconds until a code expires when the server does not say.
const DEFAULT_EXPIRY: u64 = 600;
/// Delay between two polls when the server names none.
const DEFAULT_INTERVAL: u64 = 5;
/// Largest delay between two polls.
const MAX_INTERVAL: Duration = Duration::from_secs(60);

/// A function of the program that shows a page and a code.
pub(crate) type ShowDevice =
    Arc<dyn Fn(DeviceLogin) -> BoxFuture<'static, Result<(), AuthError>> + Send + Sync>;

/// The page and the code of a login on another device.
#[derive(Clone)]
#[non_exhaustive]
pub struct DeviceLogin {
    /// The page that the user opens.
    pub verification_uri: String,
    /// The code that the user enters there.
    pub user_code: String,
    /// The page with the code, for a QR code. Not every server has one.
    pub verification_uri_complete: Option<String>,
    /// Seconds until the code expires.
    pub expires_in: u64,
}

/// Omits the code.
impl fmt::Debug for DeviceLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceLogin")
            .field("verification_uri", &self.verification_uri)
            .field("expires_in", &self.expires_in)
            .finish_non_exhaustive()
    }
}

/// A login that waits for the user.
pub(crate) struct PendingDevice {
    pub(crate) login: DeviceLogin,
    /// The page that the user opens.
    pub(crate) page: Url,
    code: Secret,
    interval: Duration,
}

#[derive(Deserialize)]
struct DeviceResponse {
    device_code: Secret,
    user_code: String,
    verification_uri: String,
    verification_uri_complete: Option<String>,
    #[serde(default, deserialize_with = "lenient::seconds")]
    expires_in: Option<u64>,
    #[serde(default, deserialize_with = "lenient::seconds")]
    interval: Option<u64>,
}

impl PendingDevice {
    /// Starts a login. `form` has the scopes and the resource.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Malformed`] when the server offers no such login.
    pub(crate) async fn start(
        fetcher: &Fetcher,
        server: &ServerMetadata,
        client: &Client,
        mut form: TokenForm,
    ) -> Result<Self, AuthError> {
        let Some(endpoint) = &server.device_authorization_endpoint else {
            let message = "device_authorization_endpoint is missing";
            return Err(AuthError::malformed(&server.token_endpoint, message));
        };
        client.authenticate(server, &mut form)?;
        let fetched = fetcher.post_form(endpoint, &form).await?;
        if !fetched.status.is_success() {
            return Err(rejection(&fetched));
        }
        let response: DeviceResponse = fetched.json()?;
        let read = |text: &str| {
            let invalid = |_| AuthError::malformed(endpoint, "verification_uri is not a URL");
            let url = Url::parse(text).map_err(invalid)?;
            fetcher.check(&url).map(|()| url)
        };
        let page = read(&response.verification_uri)?;
        let complete = response.verification_uri_complete.as_deref();
        let complete = complete.map(read).transpose()?;
        if complete
            .as_ref()
            .is_some_and(|complete| complete.origin() != page.origin())
        {
            let message = "verification_uri_complete has another origin than verification_uri";
            return Err(AuthError::malformed(endpoint, message));
        }
        let interval = Duration::from_secs(response.interval.unwrap_or(DEFAULT_INTERVAL));
        Ok(Self {
            login: DeviceLogin {
                // The parsed form has no control characters, which could rewrite a terminal.
                verification_uri: page.to_string(),
                user_code: printable(&response.user_code),
                verification_uri_complete: complete.as_ref().map(Url::to_string),
                expires_in: response.expires_in.unwrap_or(DEFAULT_EXPIRY),
            },
            page,
            code: response.device_code,
            interval: interval.clamp(Duration::from_secs(1), MAX_INTERVAL),
        })
    }

    /// Polls until the user has logged in. The caller sets the time limit.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Denied`] when the user refuses.
    pub(crate) async fn poll(
        &self,
        endpoint: &TokenEndpoint<'_>,
        client: &Client,
        resource: Option<&str>,
    ) -> Result<Tokens, AuthError> {
        let mut interval = self.interval;
        loop {
            tokio::time::sleep(interval).await;
            let mut form = TokenForm::new(DEVICE_CODE);
            form.set("device_code", self.code.clone());
            form.set_resource(resource);
            match endpoint.request(client, form).await {
                Err(AuthError::TokenRejected(code)) => match &*code.code {
                    "authorization_pending" => {}
                    "slow_down" => interval = (interval + Duration::from_secs(5)).min(MAX_INTERVAL),
                    "access_denied" => return Err(AuthError::Denied(code)),
                    _ => return Err(AuthError::TokenRejected(code)),
                },
                Err(error) if error.is_transient() => interval = (interval * 2).min(MAX_INTERVAL),
                outcome => return outcome,
            }
        }
    }
}

//! The scenarios about authorization. The suite has no browser: its login page redirects at once.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use mcp::auth::{AuthError, Dpop, EnterpriseIdp, ManualRedirect, OAuth, PrivateKey};
use mcp::prelude::*;
use mcp::{HttpClient, Result};
use serde_json::Value;
use tower::ServiceExt as _;

use crate::scenarios::{call_every_tool, mode};

/// The client id of the scenario `basic-cimd`. The suite never fetches it.
const METADATA_URL: &str = "https://conformance-test.local/client-metadata.json";
/// The redirect URI of every login. Nothing listens there.
const REDIRECT_URI: &str = "http://127.0.0.1:8765/callback";

pub(crate) async fn run(scenario: &str, url: &str) -> Result<()> {
    let client = Client::builder()
        .identity("everything-client", env!("CARGO_PKG_VERSION"))
        .mode(mode())
        .oauth(settings(scenario)?)
        .connect(url)
        .await?;
    call_every_tool(&client).await?;
    // Some scenarios change between two requests.
    call_every_tool(&client).await?;
    client.close().await?;
    Ok(())
}

/// The settings for the client id that the suite gives in a scenario.
fn settings(scenario: &str) -> Result<OAuth> {
    let context = Context::read()?;
    let settings = match scenario {
        "client-credentials-basic" => {
            OAuth::client_credentials(context.text("client_id"), context.text("client_secret"))
        }
        "client-credentials-jwt" => {
            let key = PrivateKey::from_pem(&context.text("private_key_pem"))?;
            OAuth::client_credentials_jwt(context.text("client_id"), key)
        }
        "enterprise-managed-authorization" => {
            let token = context.text("idp_id_token");
            let endpoint = context.text("idp_token_endpoint");
            let id_token = move || std::future::ready(Ok::<_, io::Error>(token.clone()));
            let idp = EnterpriseIdp::new(endpoint, context.text("idp_client_id"), id_token);
            let secret = context.text("client_secret");
            OAuth::enterprise(idp).client_secret(context.text("client_id"), secret)
        }
        "wif-jwt-bearer" => {
            let assertion = context.text("valid_jwt");
            let issuer = audience(&assertion).unwrap_or_default();
            OAuth::workload(move || std::future::ready(Ok::<_, io::Error>(assertion.clone())))
                .client_id(context.text("client_id"))
                .issuer(issuer)
        }
        "pre-registration" => {
            let secret = context.text("client_secret");
            interactive().client_secret(context.text("client_id"), secret)
        }
        "dpop" | "dpop-nonce" => interactive().dpop(Dpop::Required),
        _ => interactive(),
    };
    Ok(settings)
}

fn interactive() -> OAuth {
    OAuth::interactive("everything-client")
        .client_metadata_url(METADATA_URL)
        .redirect(ManualRedirect::new(REDIRECT_URI, follow))
}

/// Returns the audience of an assertion: the authorization server that it is for.
fn audience(assertion: &str) -> Option<String> {
    let payload = URL_SAFE_NO_PAD.decode(assertion.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    claims["aud"].as_str().map(str::to_owned)
}

/// Requests the login page, and returns the URL to which it redirects.
async fn follow(page: String) -> Result<String, AuthError> {
    let failed = |reason: String| AuthError::Redirect(reason);
    let request = http::Request::get(page).body(Bytes::new());
    let request = request.map_err(|error| failed(error.to_string()))?;
    let client = HttpClient::new().map_err(|error| failed(error.to_string()))?;
    let response = client.oneshot(request).await;
    let response = response.map_err(|error| failed(error.to_string()))?;
    let location = response.headers().get(http::header::LOCATION);
    match location.and_then(|value| value.to_str().ok()) {
        Some(location) => Ok(location.to_owned()),
        None => Err(failed(format!(
            "the login page answers {}",
            response.status()
        ))),
    }
}

/// The values that the suite gives to the client.
struct Context(Value);

impl Context {
    fn read() -> Result<Self> {
        let text = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
        match text.as_str() {
            "" => Ok(Self(Value::Null)),
            text => Ok(Self(serde_json::from_str(text)?)),
        }
    }

    fn text(&self, name: &str) -> String {
        self.0[name].as_str().unwrap_or_default().to_owned()
    }
}

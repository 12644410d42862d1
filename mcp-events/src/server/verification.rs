//! The agreement of a URL to receive events, before its first event.

use bytes::Bytes;
use mcp_server::RequestError;
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;
use url::Url;

use super::subscription::Subscription;
use super::unique::unique_id;
use super::webhooks::{WebhookFailure, Webhooks};
use super::{delivery, errors};
use crate::secret::random_hex;
use crate::wire::{RECEIVER_FILE, ReceiverFile};

/// Checks that a URL agrees to receive the events of an owner: it repeats a challenge, or its host lists
/// the path in a well-known file. The store remembers the agreement.
///
/// # Errors
///
/// Returns the error of the challenge if the URL does not agree.
pub(super) async fn verify(
    webhooks: &Webhooks,
    subscription: &Subscription,
    id: &str,
    owner: &str,
) -> Result<(), RequestError> {
    let url = subscription
        .url()
        .map_err(|error| errors::store_failed(&error))?;
    let known = webhooks.store.is_verified(owner, url.as_str());
    let is_known = webhooks.timed(known).await;
    if is_known.map_err(|error| errors::store_failed(&error))? {
        return Ok(());
    }
    match challenge(webhooks, subscription, id).await? {
        Challenge::Repeated => {}
        Challenge::Refused(error) if !is_listed(webhooks, &url).await => return Err(error),
        Challenge::Refused(_) => {}
    }
    let set = webhooks.store.set_verified(owner, url.as_str());
    let set = webhooks.timed(set).await;
    set.map_err(|error| errors::store_failed(&error))
}

/// The answer of a URL to a challenge.
enum Challenge {
    Repeated,
    /// The URL works, but does not know challenges.
    Refused(RequestError),
}

/// Asks the URL to repeat a random text: only a receiver of this extension does.
///
/// # Errors
///
/// Returns the error for a URL that is not allowed, or that does not work.
async fn challenge(
    webhooks: &Webhooks,
    subscription: &Subscription,
    id: &str,
) -> Result<Challenge, RequestError> {
    #[derive(Deserialize)]
    struct Echo {
        challenge: String,
    }

    let challenge = random_hex::<32>().map_err(errors::no_randomness)?;
    let body = json!({"type": "verification", "challenge": challenge}).to_string();
    let message = format!("msg_verification_{}", unique_id());
    let response = delivery::attempt(webhooks, subscription, id, &message, Bytes::from(body)).await;
    let response = response.map_err(|error| errors::store_failed(&error))?;
    let response = response.map_err(|failure| refused(&failure))?;
    let status = response.status;
    match status {
        200..300 => {}
        400..500 => return Ok(Challenge::Refused(status_error("http_4xx", status))),
        500.. => return Err(status_error("http_5xx", status)),
        _ => return Err(status_error("challenge_failed", status)),
    }
    let echo: Option<Echo> = serde_json::from_slice(&response.body).ok();
    if echo.is_some_and(|echo| echo.challenge == challenge) {
        return Ok(Challenge::Repeated);
    }
    Ok(Challenge::Refused(errors::callback(
        "challenge_failed",
        "the URL did not repeat the challenge; answer `verification` with {\"challenge\": …}",
    )))
}

/// Returns true if the host of a URL lists its path, or a folder above it, as a receiver.
async fn is_listed(webhooks: &Webhooks, url: &Url) -> bool {
    let Ok(file) = url.join(RECEIVER_FILE) else {
        return false;
    };
    let get = webhooks.transport.get(file);
    let Ok(Ok(response)) = timeout(webhooks.settings.post_timeout, get).await else {
        return false;
    };
    let file = (response.status == 200).then(|| serde_json::from_slice(&response.body).ok());
    file.flatten()
        .is_some_and(|file: ReceiverFile| file.covers(url.path()))
}

fn status_error(reason: &str, status: u16) -> RequestError {
    errors::callback(
        reason,
        &format!("the URL answered the challenge with HTTP status {status}"),
    )
}

/// The error for a URL that cannot be posted to.
pub(super) fn refused(failure: &WebhookFailure) -> RequestError {
    errors::callback(failure.reason(), &format!("`delivery.url`: {failure}"))
}

//! Checks that a URL agrees to receive events, before its first event.

use bytes::Bytes;
use mcp_server::RequestError;
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;
use url::Url;

use super::challenge_rate::MAX_CHALLENGES;
use super::subscription::Subscription;
use super::unique::unique_id;
use super::webhooks::{POST_TIMEOUT, Webhooks};
use super::{delivery, errors};
use crate::secret::random_hex;
use crate::wire::{RECEIVER_FILE, ReceiverFile};

/// Checks that a URL agrees to receive an owner's events: it repeats a challenge, or its host lists
/// the path in a well-known file. The store remembers the agreement.
///
/// # Errors
///
/// Returns one error for every URL that does not agree, so that callers do not learn about the server's network,
/// and another one for a caller that causes too many challenges.
pub(super) async fn verify(
    webhooks: &Webhooks,
    subscription: &Subscription,
    id: &str,
    owner: &str,
) -> Result<(), RequestError> {
    let url = subscription.url().map_err(errors::store_failed)?;
    let known = webhooks.store.is_verified(owner, url.as_str());
    let is_known = webhooks.timed(known).await;
    if is_known.map_err(errors::store_failed)? {
        return Ok(());
    }
    if !webhooks.challenges.admits(owner) {
        let max = MAX_CHALLENGES as usize;
        return Err(errors::exhausted("new URLs of a caller in a minute", max));
    }
    match challenge(webhooks, subscription, id).await? {
        Challenge::Repeated => {}
        Challenge::NotRepeated(_) if is_listed(webhooks, &url).await => {}
        Challenge::NotRepeated(reason) | Challenge::Failed(reason) => {
            return Err(refused(url.as_str(), owner, &reason));
        }
    }
    let set = webhooks.store.set_verified(owner, url.as_str());
    let set = webhooks.timed(set).await;
    set.map_err(errors::store_failed)
}

/// The answer of a URL to a challenge.
enum Challenge {
    Repeated,
    /// The URL works, but does not know challenges; with the reason.
    NotRepeated(String),
    /// The URL is not allowed or does not work; with the reason.
    Failed(String),
}

/// Asks the URL to repeat a random text: only a receiver of this extension does.
///
/// # Errors
///
/// Returns an error if the server itself fails.
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
    let response = match response.map_err(errors::store_failed)? {
        Ok(response) => response,
        Err(failure) => return Ok(Challenge::Failed(failure.to_string())),
    };
    let reason = format!("HTTP status {}", response.status);
    match response.status {
        200..300 => {}
        400..500 => return Ok(Challenge::NotRepeated(reason)),
        _ => return Ok(Challenge::Failed(reason)),
    }
    let echo: Option<Echo> = serde_json::from_slice(&response.body).ok();
    if echo.is_some_and(|echo| echo.challenge == challenge) {
        return Ok(Challenge::Repeated);
    }
    let reason = "it did not repeat the challenge";
    Ok(Challenge::NotRepeated(reason.to_owned()))
}

/// Returns true if the host of a URL lists its path, or a folder above it, as a receiver.
async fn is_listed(webhooks: &Webhooks, url: &Url) -> bool {
    let Ok(file) = url.join(RECEIVER_FILE) else {
        return false;
    };
    let get = webhooks.transport.get(file);
    let Ok(Ok(response)) = timeout(POST_TIMEOUT, get).await else {
        return false;
    };
    let file = (response.status == 200).then(|| serde_json::from_slice(&response.body).ok());
    file.flatten()
        .is_some_and(|file: ReceiverFile| file.covers(url.path()))
}

/// The error for every URL that gets no events. The log has the reason.
pub(super) fn refused(url: &str, owner: &str, reason: &str) -> RequestError {
    tracing::info!(url, owner, reason, "a webhook is refused");
    errors::callback(
        "challenge_failed",
        "`delivery.url`: the URL is refused or did not repeat the challenge; it must be an allowed `https:` URL at a \
         public address that answers `verification` with {\"challenge\": …}",
    )
}

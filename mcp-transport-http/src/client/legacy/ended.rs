//! Responses by which a server says that it has ended a session.

use std::sync::atomic::Ordering;

use http::{Response, StatusCode};
use mcp_core::{ChannelError, Frame};
use mcp_types::{ErrorObject, Message, RequestId, codes};

use super::session::{EndReason, Session};
use crate::client::http_client::HttpBody;
use crate::client::response::{self, ResponseBody};

/// A response to a request, after its status was checked.
pub(super) enum Checked {
    /// The response is not read yet.
    Unread(Response<HttpBody>),
    /// The message in a response with an error status.
    Answer(Frame),
}

/// Ends the session if the status of a response to the request `id` means that the server does not know it any more.
///
/// | response | meaning |
/// |---|---|
/// | 404 without the request's id, or with the code "session not found" | ended before the request |
/// | 404 with the id and another code | ended while the request ran |
/// | 400 with another body than a response to the request, or about the session | ended, unless the session replaces one that was refused like this |
/// | 410 | ended; the request fails |
///
/// A session without an id does not end.
///
/// # Errors
///
/// Returns [`ChannelError::SessionExpired`] if the request did not run and may be sent in a new session.
// spec: SESS-08
pub(super) async fn check(
    session: &Session,
    response: Response<HttpBody>,
    id: &RequestId,
) -> Result<Checked, ChannelError> {
    if response.status().is_success() {
        session.is_replacement.store(false, Ordering::Relaxed);
    }
    if !session.may_expire() {
        return Ok(Checked::Unread(response));
    }
    match response.status() {
        StatusCode::NOT_FOUND => {
            session.end(EndReason::Expired);
            let expired = ChannelError::SessionExpired;
            Err(if was_accepted(response, id, session).await {
                after_acceptance(expired)
            } else {
                expired
            })
        }
        StatusCode::GONE => {
            let error = response::status_error(response, &session.http).await;
            session.end(EndReason::Expired);
            Err(error)
        }
        StatusCode::BAD_REQUEST => {
            let read = response::read(response, &session.http).await;
            let answer = match read {
                Ok(ResponseBody::Message(frame)) if is_own_error(&frame, id) => {
                    return Ok(Checked::Answer(frame));
                }
                Ok(ResponseBody::Message(frame)) => Ok(Checked::Answer(frame)),
                Ok(_) => Err(ChannelError::Malformed("an empty answer".to_owned())),
                Err(error) => Err(error),
            };
            // A second refusal in a row is one of the request. The next one gets a new session all the same.
            if session.is_replacement.load(Ordering::Relaxed) {
                session.end(EndReason::Expired);
                return answer;
            }
            session.end(EndReason::Refused);
            Err(ChannelError::SessionExpired)
        }
        _ => Ok(Checked::Unread(response)),
    }
}

/// Returns whether the server accepted a request before it answered 404. An error with the id of the
/// request means that the session ended while the request ran. A server that does not know the session
/// answers before it reads the request, so without its id. After an incomplete body both are possible,
/// and the request counts as accepted.
// spec: SESS-08
async fn was_accepted(response: Response<HttpBody>, id: &RequestId, session: &Session) -> bool {
    match response::read_error(response, &session.http).await {
        Ok(Some((given, error))) => {
            given.as_ref() == Some(id) && error.code != codes::SESSION_NOT_FOUND
        }
        Ok(None) | Err(ChannelError::TooLarge { .. }) => false,
        Err(_) => true,
    }
}

/// Converts the error of a request that the server has accepted and may have executed.
pub(super) fn after_acceptance(error: ChannelError) -> ChannelError {
    match error {
        ChannelError::SessionExpired => ChannelError::Broken {
            source: Some(ChannelError::SessionExpired.into()),
        },
        other => other,
    }
}

/// Returns whether a message is an error response to the request `id` that does not speak of a session.
fn is_own_error(frame: &Frame, id: &RequestId) -> bool {
    match Message::parse(&frame.message) {
        Ok(Message::Response(response)) => {
            let names = response.outcome.as_ref().err().is_some_and(names_session);
            response.id.as_ref() == Some(id) && !names
        }
        _ => false,
    }
}

/// Returns whether an error refuses a request because of its session.
pub(super) fn refuses_session(error: &ErrorObject) -> bool {
    error.code == codes::INVALID_REQUEST && names_session(error)
}

fn names_session(error: &ErrorObject) -> bool {
    error.message.to_ascii_lowercase().contains("session")
}

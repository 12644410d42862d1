//! The way of a request, step by step: its body arrives, its call is at work, it is answered.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use pin_project_lite::pin_project;

use super::answer::{Begun, Later};
use super::body::{BodyError, Discarding, Limits, Reading};
use super::endpoint::Endpoint;
use super::guard::{self, Refusal};
use super::respond::{self, Body};

pin_project! {
    /// The response of a [`StreamableHttp`](super::StreamableHttp). Dropping it cancels the call.
    // A connection has the room for one all its life, so it is small.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<B> {
        endpoint: Arc<Endpoint>,
        #[pin]
        body: B,
        step: Step,
    }
}

/// How far a request has come.
pub(super) enum Step {
    /// Its body arrives. The head is taken when that is done.
    Reading(Option<Box<Parts>>, Reading),
    /// It is turned away, as soon as the body has gone.
    Refused(Box<(Refusal, Discarding)>),
    /// Its response is on the way.
    Begun(Later),
}

impl Step {
    /// Turns a request away whose body was not read, or not to its end.
    #[cold]
    pub(super) fn refuse(refusal: Refusal, headers: &HeaderMap, body_limit: usize) -> Self {
        let discarding = Discarding::new(headers, body_limit.saturating_mul(2));
        Self::Refused(Box::new((refusal, discarding)))
    }
}

impl<B> ResponseFuture<B> {
    pub(super) fn new(endpoint: Arc<Endpoint>, head: Box<Parts>, body: B) -> Self {
        let step = endpoint.admit(head);
        Self {
            endpoint,
            body,
            step,
        }
    }
}

impl<B: http_body::Body> Future for ResponseFuture<B> {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let endpoint = &**this.endpoint;
        loop {
            *this.step = match this.step {
                Step::Reading(head, reading) => {
                    let limits = endpoint.config.body_limits();
                    let read = ready!(reading.poll(this.body.as_mut(), limits, cx));
                    let Some(head) = head.take() else {
                        return Poll::Pending;
                    };
                    match read {
                        Ok(text) => match endpoint.begin(head, text, cx) {
                            Begun::Answered(answer) => {
                                return Poll::Ready(Ok(answer.into_response()));
                            }
                            Begun::Later(later) => {
                                *this.step = Step::Begun(later);
                                return Poll::Pending;
                            }
                        },
                        Err(error) => {
                            let refusal = unread(&error, limits);
                            Step::refuse(refusal, &head.headers, limits.size)
                        }
                    }
                }
                Step::Refused(refused) => {
                    let (refusal, discarding) = &mut **refused;
                    ready!(discarding.poll(this.body, cx));
                    let answer = respond::refusal(refusal.clone());
                    return Poll::Ready(Ok(answer.into_response()));
                }
                Step::Begun(later) => {
                    let answer = ready!(Pin::new(later).poll(cx));
                    return Poll::Ready(Ok(answer.into_response()));
                }
            };
        }
    }
}

#[cold]
fn unread(error: &BodyError, limits: Limits) -> Refusal {
    match error {
        BodyError::TooLarge => guard::too_large(limits.size),
        BodyError::TooSlow => Refusal::new(StatusCode::REQUEST_TIMEOUT, error.to_string()),
        BodyError::Broken => Refusal::new(StatusCode::BAD_REQUEST, error.to_string()),
    }
}

impl<B> fmt::Debug for ResponseFuture<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

//! A channel to a service in the same process.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use mcp_types::{Message, ProtocolVersion, RequestId};

use super::{Channel, ChannelError, Frame, Frames, OneWayMessage, OutgoingRequest};
use crate::call::Service;
use crate::connection::Extensions;
use crate::inbound::{CallOutput, InboundNotification, RunningCall, modern};
use crate::message::Fault;
use crate::wire::{LINE_FRAMING, ReplyTarget};

/// A channel to a service in the same process, without a task or a socket. Messages are encoded and
/// decoded as on a wire.
///
/// A call runs while its frames are polled. Dropping them cancels it.
#[derive(Debug)]
pub struct InProcessChannel<S> {
    service: Arc<S>,
}

impl<S: Service> InProcessChannel<S> {
    /// A channel to a service.
    pub fn new(service: S) -> Self {
        Self {
            service: Arc::new(service),
        }
    }

    /// Decodes a request and starts the call. The service finds the headers of the call as a `HeaderMap` in its
    /// extensions.
    fn start(
        &self,
        body: &[u8],
        headers: HeaderMap,
    ) -> Result<RunningCall, (Option<RequestId>, Fault)> {
        let message = Message::parse(body).map_err(|error| (error.id().cloned(), error.into()))?;
        let Message::Request(request) = message else {
            return Err((None, Fault::InvalidRequest("not a request".into())));
        };
        let id = request.id.clone();
        let profile = self.service.profile();
        let inbound = modern::read_request(&request, None, &profile, true, |_| Ok(()));
        let inbound = inbound.and_then(|inbound| {
            let legacy = || Fault::InvalidRequest("only modern requests are served here".into());
            inbound.ok_or_else(legacy)
        });
        match inbound {
            Ok(inbound) => {
                let target = ReplyTarget {
                    id,
                    profile,
                    version: inbound.facts.version,
                };
                let (service, mut extensions) = (&*self.service, Extensions::default());
                if !headers.is_empty() {
                    extensions.insert(headers);
                }
                Ok(RunningCall::start(
                    service,
                    inbound,
                    target,
                    LINE_FRAMING,
                    None,
                    extensions,
                ))
            }
            Err(fault) => Err((Some(id), fault)),
        }
    }
}

impl<S: Service> Channel for InProcessChannel<S> {
    fn call(&self, request: OutgoingRequest) -> Frames {
        Box::pin(match self.start(&request.body, request.headers) {
            Ok(running) => CallStream {
                running: Some(running),
                ready: VecDeque::new(),
            },
            Err((id, fault)) => {
                let error = fault.encode(id.as_ref(), ProtocolVersion::LATEST);
                CallStream {
                    running: None,
                    ready: [Frame::new(error)].into(),
                }
            }
        })
    }

    /// Runs the handler of an extension's notification while the future is polled.
    fn notify(&self, message: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        let profile = self.service.profile();
        let inbound = match Message::parse(&message.body) {
            Ok(Message::Notification(notification)) => {
                InboundNotification::decode(&notification, &profile, || None)
            }
            _ => None,
        };
        let serve = |inbound: InboundNotification| {
            inbound.serve(&*self.service, None, Extensions::default())
        };
        let handling = inbound.and_then(|inbound| serve(inbound).ok());
        Box::pin(async move {
            if let Some(handling) = handling {
                handling.await;
            }
            Ok(())
        })
    }

    fn peer(&self) -> Cow<'_, str> {
        Cow::Borrowed("a server in this process")
    }
}

/// The messages of a call.
struct CallStream {
    /// `None` after the reply.
    running: Option<RunningCall>,
    ready: VecDeque<Frame>,
}

impl CallStream {
    fn queue(&mut self, notifications: &Bytes) {
        let lines = notifications
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        self.ready
            .extend(lines.map(|line| Frame::new(notifications.slice_ref(line))));
    }
}

impl Stream for CallStream {
    type Item = Result<Frame, ChannelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(frame)));
            }
            let Some(running) = &mut self.running else {
                return Poll::Ready(None);
            };
            match running.poll_output(cx, true) {
                Poll::Ready(CallOutput::Notifications(lines)) => self.queue(&lines),
                Poll::Ready(CallOutput::Reply(reply)) => {
                    self.running = None;
                    self.ready.push_back(Frame::new(reply.into_bytes()));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

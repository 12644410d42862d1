//! A channel to a service in the same process.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use mcp_types::{Message, RequestId};

use crate::lines::LINE_FRAMING;
use crate::versioning::{RequestEra, classify};
use crate::wire::MODERN;
use crate::{CallOutput, ReplyTarget, RunningCall, modern};
use crate::{Channel, ChannelError, Extensions, Fault, Frame, Frames, OutgoingRequest, Service};

/// A channel to a service in the same process. Calls run when their answer is awaited; dropping
/// one cancels it. Messages are written and read as on a wire, and there is neither task nor
/// socket.
#[derive(Debug)]
pub struct InProcessChannel<S> {
    service: Arc<S>,
}

impl<S: Service> InProcessChannel<S> {
    /// A channel to a service.
    #[inline]
    pub fn new(service: S) -> Self {
        Self {
            service: Arc::new(service),
        }
    }

    /// Reads the request and begins to serve it.
    #[inline]
    fn begin(&self, text: &[u8]) -> Result<RunningCall, (Option<RequestId>, Fault)> {
        let message = Message::parse(text).map_err(|error| (error.id().cloned(), error.into()))?;
        let Message::Request(request) = message else {
            return Err((None, Fault::InvalidRequest("not a request".into())));
        };
        let id = request.id.clone();
        let profile = self.service.profile();
        let inbound = match classify(&request, None) {
            RequestEra::Modern(envelope) => modern::read_request(&request, envelope, &profile),
            RequestEra::Refused(fault) => Err(fault),
            _ => Err(Fault::InvalidRequest(
                "only modern requests are served here".into(),
            )),
        };
        let to = ReplyTarget {
            id,
            profile,
            wire: MODERN,
        };
        match inbound {
            Ok(inbound) => {
                let extensions = Extensions::new();
                Ok(RunningCall::start(
                    &*self.service,
                    inbound,
                    to,
                    LINE_FRAMING,
                    extensions,
                ))
            }
            Err(fault) => Err((Some(to.id), fault)),
        }
    }
}

impl<S: Service> Channel for InProcessChannel<S> {
    #[inline]
    fn call(&self, out: OutgoingRequest) -> Frames {
        Box::pin(match self.begin(&out.body) {
            Ok(running) => Call {
                running: Some(running),
                ready: VecDeque::new(),
            },
            Err((id, fault)) => {
                let mut text = Vec::new();
                MODERN.encode_error(&fault, id.as_ref(), &mut text);
                Call {
                    running: None,
                    ready: [Frame::new(text)].into(),
                }
            }
        })
    }

    #[inline]
    fn peer(&self) -> Cow<'_, str> {
        Cow::Borrowed("a server in this process")
    }
}

/// The messages of a call.
struct Call {
    /// `None` once it is answered.
    running: Option<RunningCall>,
    ready: VecDeque<Frame>,
}

impl Call {
    #[inline]
    fn queue(&mut self, notes: &Bytes) {
        let lines = notes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        self.ready
            .extend(lines.map(|line| Frame::new(notes.slice_ref(line))));
    }
}

impl Stream for Call {
    type Item = Result<Frame, ChannelError>;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(frame)));
            }
            let Some(running) = &mut self.running else {
                return Poll::Ready(None);
            };
            match running.poll_output(cx, true) {
                Poll::Ready(CallOutput::Notifications(notes)) => self.queue(&notes),
                Poll::Ready(CallOutput::Reply(answer)) => {
                    self.running = None;
                    self.ready.push_back(Frame::new(answer.into_bytes()));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

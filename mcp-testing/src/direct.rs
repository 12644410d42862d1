//! A channel to a service in the same process.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use mcp::core::front::modern;
use mcp::core::versioning::{Route, classify};
use mcp::core::wire::{MODERN, Outbound};
use mcp::core::{
    BoxFuture, Channel, ChannelError, Fault, Frame, Frames, Framing, NoteBuffer, NoteSink, OutCall,
    Outlet, Reply, ServerProfile, Service,
};
use mcp::types::{Message, RequestId};

/// One message per line; messages have no line breaks of their own.
const LINES: Framing = Framing::new(b"", b"\n");

/// A channel to a service in the same process. Calls run when their answer is awaited; dropping
/// one cancels it. Messages are written and read as on a wire.
#[derive(Debug)]
pub struct Direct<S> {
    service: Arc<S>,
}

impl<S: Service> Direct<S> {
    /// A channel to a service.
    pub fn new(service: S) -> Self {
        Self {
            service: Arc::new(service),
        }
    }

    /// Reads the request and begins to serve it.
    fn begin(&self, text: &[u8]) -> Result<Running, (Option<RequestId>, Fault)> {
        let message = Message::parse(text).map_err(|error| (error.id().cloned(), error.into()))?;
        let Message::Request(request) = message else {
            return Err((None, Fault::InvalidRequest("not a request".into())));
        };
        let id = request.id.clone();
        let profile = self.service.profile();
        let inbound = match classify(&request, None) {
            Route::Modern(envelope) => modern::read(&request, *envelope, &profile),
            Route::Refuse(fault) => Err(fault),
            _ => Err(Fault::InvalidRequest(
                "only modern requests are served here".into(),
            )),
        };
        let inbound = inbound.map_err(|fault| (Some(id.clone()), fault))?;
        let notes = Arc::new(NoteBuffer::new(MODERN, LINES));
        let sink = notes.clone();
        let outlet = Outlet::new(
            inbound.progress_token.clone(),
            inbound.facts.log_level,
            || sink as Arc<dyn NoteSink>,
        );
        let reply = inbound.serve(&*self.service, outlet.clone(), Default::default());
        Ok(Running {
            reply,
            id,
            profile,
            outlet,
            notes,
            ready: VecDeque::new(),
            done: false,
        })
    }
}

impl<S: Service> Channel for Direct<S> {
    fn call(&self, out: OutCall) -> Frames {
        match self.begin(&out.body) {
            Ok(running) => Box::pin(running),
            Err((id, fault)) => {
                let mut text = Vec::new();
                MODERN.encode_error(&fault, id.as_ref(), &mut text);
                Box::pin(Once(Some(Frame::new(text))))
            }
        }
    }

    fn peer(&self) -> Cow<'_, str> {
        Cow::Borrowed("a server in this process")
    }
}

/// A call at work; the stream of its messages.
struct Running {
    reply: BoxFuture<'static, Reply>,
    id: RequestId,
    profile: Arc<ServerProfile>,
    outlet: Outlet,
    notes: Arc<NoteBuffer>,
    ready: VecDeque<Frame>,
    done: bool,
}

impl Running {
    fn queue(&mut self, text: &Bytes) {
        let lines = text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        self.ready
            .extend(lines.map(|line| Frame::new(text.slice_ref(line))));
    }
}

impl Stream for Running {
    type Item = Result<Frame, ChannelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(frame) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(frame)));
            }
            if this.done {
                return Poll::Ready(None);
            }
            if let Poll::Ready(reply) = this.reply.as_mut().poll(cx) {
                this.outlet.close();
                let waiting = this.notes.take_now();
                this.queue(&waiting);
                let to = Outbound::new(&this.id, &this.profile);
                let answer = MODERN.encode_reply(reply, &to, Vec::new()).into_bytes();
                this.ready.push_back(Frame::new(answer));
                this.done = true;
            } else if let Poll::Ready(Some(waiting)) = this.notes.poll_take(cx) {
                this.queue(&waiting);
            } else {
                return Poll::Pending;
            }
        }
    }
}

/// A stream of one message.
struct Once(Option<Frame>);

impl Stream for Once {
    type Item = Result<Frame, ChannelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

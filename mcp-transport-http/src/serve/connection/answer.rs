//! The body of an answer, which keeps its connection busy until it is sent.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::super::connections::AtWork;

/// The most that is copied of a frame at a time, so that a connection keeps little more room than that.
pub(super) const PIECE: usize = 32 * 1024;

pin_project! {
    /// The body of an answer.
    pub(super) struct Answer<B> {
        #[pin]
        reply: Reply<B>,
        // Of a frame that is sent in pieces.
        rest: Option<Box<Bytes>>,
        // As long as this lives, the connection is busy. It also knows how far it is with sending.
        at_work: Option<AtWork>,
    }
}

pin_project! {
    /// What the service says, or what we say.
    #[project = ReplyProj]
    pub(super) enum Reply<B> {
        Body { #[pin] body: B },
        Text { text: Option<Bytes> },
    }
}

impl<B> Reply<B> {
    pub(super) fn of(body: B) -> Self {
        Self::Body { body }
    }
}

impl<B> Answer<B> {
    pub(super) fn new(reply: Reply<B>, at_work: Option<AtWork>) -> Self {
        Self {
            reply,
            rest: None,
            at_work,
        }
    }
}

impl<B: Body<Data = Bytes>> Body for Answer<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.project();
        let joins = this.at_work.as_ref().filter(|at_work| at_work.joins());
        if let (Some(rest), Some(at_work)) = (&mut *this.rest, joins) {
            ready!(at_work.poll_sent());
            let piece = rest.split_to(PIECE.min(rest.len()));
            match rest.is_empty() {
                true => *this.rest = None,
                false => at_work.wait_until_sent(),
            }
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let frame = match this.reply.project() {
            ReplyProj::Body { body } => ready!(body.poll_frame(cx)),
            ReplyProj::Text { text } => text.take().map(|text| Ok(Frame::data(text))),
        };
        Poll::Ready(match (frame, joins) {
            (Some(Ok(frame)), Some(at_work)) => {
                let (piece, rest) = split(frame);
                if rest.is_some() {
                    at_work.wait_until_sent();
                }
                *this.rest = rest;
                Some(Ok(piece))
            }
            (frame, _) => frame,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_none()
            && match &self.reply {
                Reply::Body { body } => body.is_end_stream(),
                Reply::Text { text } => text.is_none(),
            }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.reply {
            // It is asked before there is a rest.
            Reply::Body { body } => body.size_hint(),
            Reply::Text { text } => {
                SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64))
            }
        }
    }
}

/// Parts a long frame.
fn split(frame: Frame<Bytes>) -> (Frame<Bytes>, Option<Box<Bytes>>) {
    match frame.into_data() {
        Ok(mut data) if data.len() > PIECE => {
            let piece = data.split_to(PIECE);
            (Frame::data(piece), Some(Box::new(data)))
        }
        Ok(data) => (Frame::data(data), None),
        Err(frame) => (frame, None),
    }
}

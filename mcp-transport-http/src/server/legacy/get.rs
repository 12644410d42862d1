//! GET: the stream of what belongs to no call.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use mcp_core::{BoxFuture, Subscriber};
use parking_lot::Mutex;
use tokio::time::{Sleep, sleep};

use super::super::config::Config;
use super::super::in_flight::Hold;
use super::super::kept::{self, Keeper, LastEvent, STANDALONE, Seat};
use super::super::refused::Refused;
use super::super::respond::{self, Answer, EventSource};
use super::super::stream::Ping;
use super::audience::lasting_audience;
use super::live::Live;
use crate::headers::names;
use crate::sse::encode as sse;

/// Opens the stream that the request asks for, for the newest reader.
// spec: HTTP-SL-08, HTTP-SL-09, RSM-03
pub(super) async fn open(
    live: &Arc<Live>,
    parts: Box<Parts>,
    config: &Config,
) -> Result<Answer, Refused> {
    let mut first = Vec::new();
    if let (Some(events), Some(last)) = (&config.events, parts.headers.get(names::LAST_EVENT_ID)) {
        let last = LastEvent::parse(last)?;
        if &*last.stream != STANDALONE {
            let hold = live.calls.hold();
            let streams = live.streams();
            return events.resume(&live.id, streams, hold, config, last).await;
        }
        let retry = config.streams.retry;
        first = events.missed(&live.id, last.number, retry).await?;
    }
    let seat = live.standalone().enter()?;
    let draining = config.ended_by().map(|shutdown| {
        let future: Pin<Box<dyn Future<Output = ()> + Send + Sync>> =
            Box::pin(async move { shutdown.draining().await });
        future
    });
    if first.is_empty() {
        first.extend_from_slice(sse::COMMENT);
    }
    let mut stream = Standalone {
        _hold: live.calls.hold(),
        live: Arc::clone(live),
        who: lasting_audience(parts, config),
        seat,
        ping: Ping::new(config.streams.ping_interval),
        unsupported_legacy: config.streams.max_age.map(|age| Box::pin(sleep(age))),
        draining,
        keeper: config.events.clone(),
        retry: config.streams.retry,
        keeping: None,
        out: first,
        is_done: false,
    };
    if live.machine.wire().version().has_stream_polling() {
        stream.keep(Bytes::new());
    }
    Ok(respond::live_events(Box::new(stream)))
}

/// The stream of what belongs to no call: the changes that the client wants to hear of. While
/// nobody reads, they are kept as marks, one for each list and each resource.
// spec: HTTP-SL-10, HTTP-SL-12
struct Standalone {
    live: Arc<Live>,
    who: Subscriber,
    _hold: Hold,
    seat: Seat,
    ping: Ping,
    unsupported_legacy: Option<Pin<Box<Sleep>>>,
    draining: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
    keeper: Option<Arc<dyn Keeper>>,
    retry: Duration,
    /// The event that the store is asked to keep.
    keeping: Option<Keeping>,
    /// Frames that are there and not taken.
    out: Vec<u8>,
    is_done: bool,
}

/// What is asked of the store; locked never, but only so that it may be shared.
type Keeping = Mutex<BoxFuture<'static, Vec<u8>>>;

impl Standalone {
    /// Another reader has come, the session has ended, the server drains, or it is time to go.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut ends = self.seat.poll_dismissed(cx).is_ready();
        if let Some(draining) = &mut self.draining {
            ends |= draining.as_mut().poll(cx).is_ready();
        }
        if let Some(unsupported_legacy) = &mut self.unsupported_legacy {
            ends |= unsupported_legacy.as_mut().poll(cx).is_ready();
        }
        if ends { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Has a message kept, where messages are kept; then it goes out.
    fn keep(&mut self, text: Bytes) {
        let Some(events) = &self.keeper else {
            if !text.is_empty() {
                self.out.extend(kept::without_id(&text));
            }
            return;
        };
        let keeping = events.keep(Arc::clone(&self.live.id), text, self.retry);
        self.keeping = Some(Mutex::new(keeping));
    }

    /// The message is kept, or cannot be.
    fn poll_kept(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(keeping) = &mut self.keeping {
            let frames = ready!(keeping.get_mut().as_mut().poll(cx));
            self.out.extend(frames);
            self.keeping = None;
        }
        Poll::Ready(())
    }

    /// Reads on, as far as it goes.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.poll_kept(cx));
            if !self.out.is_empty() {
                return Poll::Ready(());
            }
            let note = ready!(self.live.machine.poll_change(cx, &self.who));
            let mut text = Vec::new();
            if self
                .live
                .machine
                .wire()
                .encode_server_notification(&note, None, &mut text)
            {
                self.keep(text.into());
            }
        }
    }
}

impl EventSource for Standalone {
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        // What is on its way into the store is not lost by an end.
        if self.is_done || (self.keeping.is_none() && self.poll_end(cx).is_ready()) {
            self.is_done = true;
            return Poll::Ready(None);
        }
        if self.out.is_empty() && self.poll_read(cx).is_pending() {
            let pinged = self.ping.poll(cx);
            return pinged.map(|()| Some(Bytes::from_static(sse::PING)));
        }
        self.ping.postpone();
        Poll::Ready(Some(std::mem::take(&mut self.out).into()))
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

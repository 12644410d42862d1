//! Reading a stream out of the store: from its beginning, or from where a client was.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use mcp_core::BoxFuture;
use mcp_core::store::{EventStore, Replay, ReplayError, StreamId};
use parking_lot::Mutex;

use super::super::config::Config;
use super::super::in_flight::Hold;
use super::super::refused::Refused;
use super::super::respond::{self, Answer, EventSource};
use super::super::stream::Ping;
use super::events::{self, LastEvent};
use super::place::{Leave, Seat};
use super::streams::{Stream, Streams};

/// Reads the stream of a call from its beginning.
#[inline]
pub(super) fn begin(stream: Arc<Stream>, config: &Config) -> Answer {
    // It is new: nobody else reads it.
    match stream.place.enter() {
        Ok(seat) => {
            let mut reader = Reader::new(stream.name.clone(), config);
            reader.live = Some((stream, seat));
            respond::live_events(Box::new(reader))
        }
        Err(too_soon) => Refused::from(too_soon).into_answer(),
    }
}

/// Reads the stream of a call on from where the client was. `hold` keeps its session alive.
// spec: RSM-03, RSM-04
#[inline]
pub(super) async fn resume(
    store: &dyn EventStore,
    session: &str,
    streams: &Streams,
    hold: Hold,
    config: &Config,
    last: LastEvent,
) -> Result<Answer, Refused> {
    let id = StreamId::new(session, &last.stream);
    let stream = streams.find(&last.stream);
    let missed = store.after(id, Some(last.number)).await;
    let missed = missed.map_err(|error| events::refuse(&error))?;
    let mut reader = Reader::new(last.stream, config);
    reader.hold = Some(hold);
    // Beyond the end of the stream there is nothing that was seen.
    let end = stream.as_ref().and_then(|stream| stream.tail().end);
    reader.seen = Some(end.map_or(last.number, |end| last.number.min(end)));
    reader.take(missed);
    if let Some(stream) = stream {
        stream.tail().is_released = false;
        let seat = stream.place.enter()?;
        reader.live = Some((stream, seat));
    } else if !reader.is_over {
        // It is written somewhere else: the client comes again until it has everything.
        events::write_retry(&mut reader.out, config.streams.retry);
        reader.is_over = true;
    }
    Ok(respond::live_events(Box::new(reader)))
}

/// Reads the events of one stream.
struct Reader {
    name: Box<str>,
    /// The stream, while it is written here, and the reader's place at it.
    live: Option<(Arc<Stream>, Seat)>,
    hold: Option<Hold>,
    /// The last event that was read.
    seen: Option<u64>,
    fetch: Option<Fetch>,
    /// Frames that are read and not taken.
    out: Vec<u8>,
    retry: Duration,
    ping: Ping,
    /// Nothing more is read.
    is_over: bool,
}

/// What is asked of the store; locked never, but only so that it may be shared.
type Fetch = Mutex<BoxFuture<'static, Result<Replay, ReplayError>>>;

impl Reader {
    #[inline]
    fn new(name: Box<str>, config: &Config) -> Self {
        Self {
            name,
            live: None,
            hold: None,
            seen: None,
            fetch: None,
            out: Vec::new(),
            retry: config.streams.retry,
            ping: Ping::new(config.streams.ping_interval),
            is_over: false,
        }
    }

    #[inline]
    fn take(&mut self, replay: Replay) {
        for (number, event) in replay.events {
            if self.seen.is_none_or(|seen| number > seen) {
                events::write(&mut self.out, &self.name, number, &event, self.retry);
                self.seen = Some(number);
            }
        }
        self.is_over |= replay.is_over;
    }

    /// Reads on, as far as it goes. Pending when there is nothing to read.
    #[inline]
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(fetch) = &mut self.fetch {
            let Poll::Ready(fetched) = fetch.get_mut().as_mut().poll(cx) else {
                return Poll::Pending;
            };
            self.fetch = None;
            match fetched {
                Ok(replay) => self.take(replay),
                // What was missed is gone; to come again would say so.
                Err(_) => return self.stop(),
            }
            return Poll::Ready(());
        }
        let Some((stream, seat)) = &self.live else {
            return self.stop();
        };
        let dismissed = seat.poll_dismissed(cx);
        if dismissed == Poll::Ready(Leave::TakenOver) {
            return self.stop();
        }
        let mut tail = stream.tail();
        if tail.end > self.seen {
            let (stream, seen) = (Arc::clone(stream), self.seen);
            drop(tail);
            self.fetch = Some(Mutex::new(Box::pin(async move {
                stream.store.after(stream.id(), seen).await
            })));
            return Poll::Ready(());
        }
        self.out.append(&mut tail.unsaved);
        // Without an id the client could not come again.
        let is_released = self.seen.is_some() && std::mem::take(&mut tail.is_released);
        let is_over = tail.is_over;
        drop(tail);
        if is_released && !is_over {
            events::write_retry(&mut self.out, self.retry);
        }
        if is_released || is_over || dismissed.is_ready() {
            return self.stop();
        }
        if self.out.is_empty() {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }

    #[inline]
    fn stop(&mut self) -> Poll<()> {
        self.is_over = true;
        Poll::Ready(())
    }
}

impl EventSource for Reader {
    #[inline]
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        while self.out.is_empty() && !self.is_over {
            if self.poll_read(cx).is_pending() {
                let pinged = self.ping.poll(cx);
                return pinged.map(|()| Some(Bytes::from_static(crate::sse::encode::PING)));
            }
        }
        self.ping.postpone();
        let out = std::mem::take(&mut self.out);
        Poll::Ready((!out.is_empty()).then(|| out.into()))
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.is_over && self.out.is_empty()
    }
}

//! GET: the stream of what belongs to no call.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http::request::Parts;
use mcp_core::{Audience, ServerNote};
use tokio::time::{Sleep, sleep};

use super::super::config::Config;
use super::super::in_flight::Hold;
use super::super::respond::{self, Body, EventSource};
use super::super::stream::Ping;
use super::live::Live;
use super::place::Seat;
use super::{Refused, audience, busy_reader};
use crate::Shutdown;
use crate::sse::encode as sse;

/// Opens the stream for the newest reader.
// spec: HTTP-SL-08, HTTP-SL-09
pub(super) fn open(
    live: &Arc<Live>,
    parts: &Parts,
    config: &Config,
    shutdown: Option<Shutdown>,
) -> Result<Response<Body>, Refused> {
    let seat = live.standalone.enter().map_err(|_| busy_reader())?;
    let draining = shutdown.map(|shutdown| {
        let future: Pin<Box<dyn Future<Output = ()> + Send + Sync>> =
            Box::pin(async move { shutdown.draining().await });
        future
    });
    let stream = Standalone {
        _hold: live.calls.hold(),
        live: Arc::clone(live),
        who: audience(parts, config),
        seat,
        ping: Ping::new(config.streams.ping_interval),
        too_old: config.streams.max_age.map(|age| Box::pin(sleep(age))),
        draining,
        has_begun: false,
        is_done: false,
    };
    Ok(respond::live_events(Box::new(stream)))
}

/// The stream of what belongs to no call: the changes that the client wants to hear of. While
/// nobody reads, they are kept as marks, one for each list and each resource.
// spec: HTTP-SL-10, HTTP-SL-12
struct Standalone {
    live: Arc<Live>,
    who: Audience,
    _hold: Hold,
    seat: Seat,
    ping: Ping,
    too_old: Option<Pin<Box<Sleep>>>,
    draining: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
    has_begun: bool,
    is_done: bool,
}

impl Standalone {
    /// Another reader has come, the session has ended, the server drains, or it is time to go.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut ends = self.seat.poll_dismissed(cx).is_ready();
        if let Some(draining) = &mut self.draining {
            ends |= draining.as_mut().poll(cx).is_ready();
        }
        if let Some(too_old) = &mut self.too_old {
            ends |= too_old.as_mut().poll(cx).is_ready();
        }
        if ends { Poll::Ready(()) } else { Poll::Pending }
    }

    fn frame(&self, note: &ServerNote) -> Option<Bytes> {
        let mut frame = sse::MESSAGE_PREFIX.to_vec();
        let written = self.live.machine.wire().encode_note(note, None, &mut frame);
        frame.extend_from_slice(sse::MESSAGE_SUFFIX);
        written.then(|| frame.into())
    }
}

impl EventSource for Standalone {
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.is_done || self.poll_end(cx).is_ready() {
            self.is_done = true;
            return Poll::Ready(None);
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            return Poll::Ready(Some(Bytes::from_static(sse::COMMENT)));
        }
        while let Poll::Ready(note) = self.live.machine.poll_change(cx, &self.who) {
            if let Some(frame) = self.frame(&note) {
                self.ping.postpone();
                return Poll::Ready(Some(frame));
            }
        }
        self.ping
            .poll(cx)
            .map(|()| Some(Bytes::from_static(sse::PING)))
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

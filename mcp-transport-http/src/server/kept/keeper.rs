//! How events are kept. All of it is behind two traits, which [`Events`] alone implements: the program
//! of a server that is given no store has no code of it.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_core::BoxFuture;
use mcp_core::store::{StoredEvent, StreamId};
use mcp_core::wire::Wire;

use super::super::call::Call;
use super::super::config::Config;
use super::super::in_flight::Hold;
use super::super::refused::Refused;
use super::super::respond::Answer;
use super::super::stream;
use super::events::{self, Events, LastEvent, STANDALONE};
use super::reader;
use super::streams::{Stream, Streams};

/// What keeps the events of an endpoint.
pub(in crate::server) trait Keeper: Send + Sync {
    /// A stream for a call. Nothing is stored before it has something to say.
    fn open(&self, streams: &Arc<Streams>, session: &Arc<str>) -> Arc<dyn Kept>;

    /// Reads the stream of a call on from where the client was. `hold` keeps its session alive.
    fn resume<'a>(
        &'a self,
        session: &'a str,
        streams: &'a Streams,
        hold: Hold,
        config: &'a Config,
        last: LastEvent,
    ) -> BoxFuture<'a, Result<Answer, Refused>>;

    /// What a client has missed of what belongs to no call, as frames.
    fn missed<'a>(
        &'a self,
        session: &'a str,
        last: u64,
        retry: Duration,
    ) -> BoxFuture<'a, Result<Vec<u8>, Refused>>;

    /// Keeps a message that belongs to no call, and makes the frames of it.
    fn keep(&self, session: Arc<str>, text: Bytes, retry: Duration) -> BoxFuture<'static, Vec<u8>>;

    /// Nobody can read the events of a session any more.
    fn forget(&self, session: Arc<str>) -> BoxFuture<'static, ()>;
}

/// The stream of a call, whose events are kept.
pub(in crate::server) trait Kept: Debug + Send + Sync {
    /// The handler lets the connection go.
    // spec: RSM-06
    fn release(&self);

    fn is_released(&self) -> bool;

    /// Keeps the events of an answer that is there, and sends them.
    fn finish(
        self: Arc<Self>,
        wire: &'static dyn Wire,
        events: Bytes,
        config: Arc<Config>,
    ) -> BoxFuture<'static, Answer>;

    /// Moves a call that goes on into a task, and keeps what it says.
    fn follow(self: Arc<Self>, call: Call, first: Bytes, config: &Config) -> Answer;
}

impl Keeper for Events {
    #[inline]
    fn open(&self, streams: &Arc<Streams>, session: &Arc<str>) -> Arc<dyn Kept> {
        streams.open(self, Arc::clone(session))
    }

    #[inline]
    fn resume<'a>(
        &'a self,
        session: &'a str,
        streams: &'a Streams,
        hold: Hold,
        config: &'a Config,
        last: LastEvent,
    ) -> BoxFuture<'a, Result<Answer, Refused>> {
        Box::pin(reader::resume(
            &*self.store,
            session,
            streams,
            hold,
            config,
            last,
        ))
    }

    #[inline]
    fn missed<'a>(
        &'a self,
        session: &'a str,
        last: u64,
        retry: Duration,
    ) -> BoxFuture<'a, Result<Vec<u8>, Refused>> {
        Box::pin(async move {
            let id = StreamId::new(session, STANDALONE);
            let missed = self.store.after(id, Some(last)).await;
            let missed = missed.map_err(|error| events::refuse(&error))?;
            let mut frames = Vec::new();
            for (number, event) in &missed.events {
                events::write(&mut frames, STANDALONE, *number, event, retry);
            }
            Ok(frames)
        })
    }

    #[inline]
    fn keep(&self, session: Arc<str>, text: Bytes, retry: Duration) -> BoxFuture<'static, Vec<u8>> {
        let store = Arc::clone(&self.store);
        Box::pin(async move {
            let event = StoredEvent::new(text);
            let id = StreamId::new(&session, STANDALONE);
            let mut frames = Vec::new();
            match store.append(id, event.clone()).await {
                Ok(number) => events::write(&mut frames, STANDALONE, number, &event, retry),
                Err(_) if event.text.is_empty() => {}
                Err(_) => frames = events::without_id(&event.text),
            }
            frames
        })
    }

    #[inline]
    fn forget(&self, session: Arc<str>) -> BoxFuture<'static, ()> {
        let store = Arc::clone(&self.store);
        // What it does not forget ages.
        Box::pin(async move { drop(store.forget(&session).await) })
    }
}

impl Kept for Stream {
    #[inline]
    fn release(&self) {
        self.tail().is_released = true;
        self.place.wake();
    }

    #[inline]
    fn is_released(&self) -> bool {
        self.tail().is_released
    }

    #[inline]
    fn finish(
        self: Arc<Self>,
        wire: &'static dyn Wire,
        events: Bytes,
        config: Arc<Config>,
    ) -> BoxFuture<'static, Answer> {
        Box::pin(async move {
            self.prime(wire).await;
            self.write(events, true).await;
            reader::begin(self, &config)
        })
    }

    #[inline]
    fn follow(self: Arc<Self>, call: Call, first: Bytes, config: &Config) -> Answer {
        let (stream, wire) = (Arc::clone(&self), call.to().wire);
        stream::start_kept(call, config, |notes| async move {
            stream.prime(wire).await;
            stream.write_on(first, notes).await;
        });
        reader::begin(self, config)
    }
}

//! Connections over a transport of messages. The transcripts and faults of `mcp-testing` run over it too.

use std::error::Error;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use mcp::Over;
use mcp::prelude::*;
use mcp_transport_stdio::{MessageTransport, PipeChannel, StdioServer};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::kit::{ToolNameService, modern};

const SECOND: Duration = Duration::from_secs(1);

/// The error of a host's transport.
#[derive(Debug, thiserror::Error)]
#[error("the cable is cut at {0}")]
struct Cut(u8);

/// An action of the other side.
enum Event {
    Message(Bytes),
    Fail,
    Panic,
}

/// The client's or the server's end. The test holds the other one.
struct End {
    sender: Mutex<Option<mpsc::Sender<Bytes>>>,
    events: Mutex<mpsc::Receiver<Event>>,
    fails_to_send: bool,
    closes_forever: bool,
    /// The number of `receive` futures that were dropped before they were ready.
    dropped: Arc<AtomicUsize>,
}

/// The other end.
struct Far {
    received: mpsc::Receiver<Bytes>,
    events: mpsc::Sender<Event>,
    dropped: Arc<AtomicUsize>,
}

fn ends() -> (End, Far) {
    let (sender, received) = mpsc::channel(16);
    let (events, incoming) = mpsc::channel(256);
    let dropped = Arc::<AtomicUsize>::default();
    let end = End {
        sender: Mutex::new(Some(sender)),
        events: Mutex::new(incoming),
        fails_to_send: false,
        closes_forever: false,
        dropped: dropped.clone(),
    };
    let far = Far {
        received,
        events,
        dropped,
    };
    (end, far)
}

impl Far {
    async fn send(&self, message: &Value) {
        let message = Event::Message(message.to_string().into());
        self.events.send(message).await.ok().unwrap();
    }

    async fn next(&mut self) -> Option<Value> {
        let message = timeout(600 * SECOND, self.received.recv()).await.unwrap()?;
        Some(serde_json::from_slice(&message).unwrap())
    }

    async fn expect(&mut self) -> Value {
        self.next().await.unwrap()
    }
}

/// Counts a future that is dropped before it is ready.
struct Unfinished<'a>(&'a AtomicUsize, bool);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl MessageTransport for End {
    type Error = Cut;

    async fn send(&self, message: Bytes) -> Result<(), Cut> {
        if self.fails_to_send {
            return Err(Cut(1));
        }
        match &*self.sender.lock().await {
            Some(sender) => sender.send(message).await.map_err(|_| Cut(2)),
            None => Err(Cut(3)),
        }
    }

    async fn receive(&self) -> Result<Option<Bytes>, Cut> {
        let mut unfinished = Unfinished(&self.dropped, false);
        let event = self.events.lock().await.recv().await;
        unfinished.1 = true;
        match event {
            Some(Event::Message(message)) => Ok(Some(message)),
            Some(Event::Fail) => Err(Cut(4)),
            Some(Event::Panic) => panic!("a transport with a defect"),
            None => Ok(None),
        }
    }

    async fn close(&self) -> Result<(), Cut> {
        if self.closes_forever {
            pending::<()>().await;
        }
        self.sender.lock().await.take();
        Ok(())
    }
}

async fn client_of(end: End) -> Client {
    let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
    let builder = Client::builder().mode(mode).timeout(30 * SECOND);
    let channel = PipeChannel::from_messages(end);
    builder.connect(Over(channel)).await.unwrap()
}

fn server_of(
    end: End,
    set: impl FnOnce(StdioServer) -> StdioServer,
) -> JoinHandle<std::io::Result<()>> {
    let server = set(StdioServer::new(ToolNameService::default()));
    tokio::spawn(server.run_over_messages(end))
}

/// Returns the host's error among the sources.
fn cut(error: &(dyn Error + 'static)) -> Option<u8> {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.find_map(|cause| cause.downcast_ref().map(|Cut(at)| *at))
}

#[tokio::test(start_paused = true)]
async fn every_failed_call_has_the_transport_error_as_source() {
    let (end, mut far) = ends();
    let client = client_of(end).await;
    let calls = [1, 2].map(|_| tokio::spawn(client.call("wait", ()).into_future()));
    for _ in &calls {
        far.expect().await;
    }
    far.events.send(Event::Fail).await.ok().unwrap();
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(cut(&error), Some(4), "{error}");
        assert!(error.is_closed(), "{error}");
        assert!(error.to_string().contains("the cable is cut at 4"));
        // The text of the cause is not repeated.
        assert_eq!(format!("{error:?}").matches("the cable").count(), 1);
    }
    // Later calls fail for the same reason.
    let error = client.call("wait", ()).await.unwrap_err();
    assert_eq!(cut(&error), Some(4), "{error}");
}

#[tokio::test(start_paused = true)]
async fn failed_send_ends_the_connection() {
    let (mut end, _far) = ends();
    end.fails_to_send = true;
    let client = client_of(end).await;
    let start = Instant::now();
    let error = client.call("wait", ()).await.unwrap_err();
    assert_eq!(cut(&error), Some(1), "{error}");
    // Received messages are still read for a second.
    assert_eq!(start.elapsed(), SECOND);
}

#[tokio::test(start_paused = true)]
async fn server_returns_the_error_from_the_transport() {
    let (end, far) = ends();
    let server = server_of(end, |server| server);
    far.events.send(Event::Fail).await.ok().unwrap();
    let error = server.await.unwrap().unwrap_err();
    let cause = error.get_ref().unwrap();
    assert_eq!(cause.downcast_ref().map(|Cut(at)| *at), Some(4));
}

#[tokio::test(start_paused = true)]
async fn panic_in_the_transport_ends_only_the_connection() {
    let (end, mut far) = ends();
    let client = client_of(end).await;
    let call = tokio::spawn(client.call("wait", ()).into_future());
    far.expect().await;
    far.events.send(Event::Panic).await.ok().unwrap();
    assert!(call.await.unwrap().unwrap_err().is_closed());

    let (end, far) = ends();
    let server = server_of(end, |server| server);
    far.events.send(Event::Panic).await.ok().unwrap();
    assert!(server.await.unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn receive_is_never_dropped_while_the_connection_is_open() {
    let (end, mut far) = ends();
    let server = server_of(end, |server| server);
    for id in 1..=500 {
        far.send(&modern(id, "wait 1")).await;
    }
    for _ in 1..=500 {
        far.expect().await;
    }
    assert_eq!(far.dropped.load(Ordering::SeqCst), 0);
    let Far {
        mut received,
        events,
        dropped,
    } = far;
    drop(events);
    server.await.unwrap().unwrap();
    // The server has closed its side.
    assert!(received.recv().await.is_none());
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn message_beyond_the_limit_is_refused() {
    let (end, mut far) = ends();
    let _server = server_of(end, |server| server.line_limit(1000));
    far.send(&json!("x".repeat(2000))).await;
    let refused = far.expect().await;
    let reason = refused["error"]["message"].as_str().unwrap();
    assert!(reason.contains("longer than 1000 bytes"), "{refused}");
    far.send(&modern(1, "now")).await;
    assert_eq!(far.expect().await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn stuck_transport_delays_neither_calls_nor_close_without_end() {
    let (mut end, _far) = ends();
    end.closes_forever = true;
    let client = client_of(end).await;
    // The far side takes nothing, so most of these wait to be sent.
    let big = "x".repeat(100_000);
    let calls = (0..100).map(|_| client.call("wait", json!({ "text": big })).into_future());
    let calls: Vec<_> = calls.map(tokio::spawn).collect();
    for call in calls {
        assert!(call.await.unwrap().unwrap_err().is_timeout());
    }
    let start = Instant::now();
    client.close().await.unwrap();
    assert_eq!(start.elapsed(), SECOND);
}

#[tokio::test(start_paused = true)]
async fn dropped_call_is_cancelled_and_close_reaches_the_transport() {
    let (end, mut far) = ends();
    let client = client_of(end).await;
    let call = tokio::spawn(client.call("wait", ()).into_future());
    let id = far.expect().await["id"].clone();
    call.abort();
    let note = far.expect().await;
    assert_eq!(note["method"], "notifications/cancelled");
    assert_eq!(note["params"]["requestId"], id);
    client.close().await.unwrap();
    assert_eq!(far.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_the_server_and_closes_the_transport() {
    let (end, mut far) = ends();
    let server = server_of(end, |server| server.shutdown_on(tokio::time::sleep(SECOND)));
    far.send(&modern(1, "wait 3")).await;
    assert_eq!(far.expect().await["id"], 1);
    assert_eq!(far.next().await, None);
    server.await.unwrap().unwrap();
}

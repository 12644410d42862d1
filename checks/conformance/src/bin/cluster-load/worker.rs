//! One session: its calls, and the check of each answer.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use mcp::client::{Change, Error};
use mcp::prelude::*;
use mcp::{ConnectMode, ElicitRequest, HttpChannel, HttpClient};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::faults::Faults;
use crate::options::Failure;

/// The resource whose changes the sessions are subscribed to.
const WATCHED: &str = "test://watched-resource";
/// The longest time of a call. One without an answer or an error then is lost.
const LIMIT: Duration = Duration::from_secs(40);
/// The timeout of calls in the client.
const TIMEOUT: Duration = Duration::from_secs(15);

/// State that all sessions share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) faults: Faults,
    pub(crate) counts: Counts,
    /// Messages about the first unexplained failures.
    pub(crate) examples: Mutex<Vec<String>>,
    /// Start of the run, for the times of changes.
    pub(crate) start: Option<Instant>,
}

/// Event numbers from all sessions.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) answers: [AtomicUsize; 3],
    pub(crate) wrong: AtomicUsize,
    /// Errors of calls that were in flight during a fault.
    pub(crate) in_flight: AtomicUsize,
    pub(crate) unexplained: AtomicUsize,
    /// Calls with neither an answer nor an error.
    pub(crate) lost: AtomicUsize,
    pub(crate) changes: AtomicUsize,
}

impl Shared {
    fn note(&self, count: &AtomicUsize, text: String) {
        count.fetch_add(1, Ordering::Relaxed);
        let mut examples = self.examples.lock().unwrap_or_else(PoisonError::into_inner);
        if examples.len() < 20 {
            examples.push(text);
        }
    }
}

/// One session.
pub(crate) struct Session {
    number: usize,
    client: Client,
    shared: Arc<Shared>,
    /// The latest question.
    asked: Arc<Mutex<String>>,
    /// Milliseconds from the start of the run to the last change that the session was notified of.
    pub(crate) changed: Arc<AtomicU64>,
}

impl Session {
    pub(crate) async fn open(
        number: usize,
        mode: ConnectMode,
        url: &str,
        http: HttpClient,
        shared: Arc<Shared>,
    ) -> Result<Self, Failure> {
        let asked = Arc::<Mutex<String>>::default();
        let last = asked.clone();
        let builder =
            Client::builder()
                .mode(mode)
                .timeout(TIMEOUT)
                .on_elicit(move |form: ElicitRequest| {
                    // The answer belongs to its question.
                    let message = form.message().to_owned();
                    message.clone_into(&mut last.lock().unwrap_or_else(PoisonError::into_inner));
                    let answer = json!({ "username": message, "email": "ada@example.com" });
                    async move { form.accept(answer) }
                });
        let client = builder
            .connect(HttpChannel::with_service(url, http)?)
            .await?;
        let changed = Arc::<AtomicU64>::default();
        let session = Self {
            number,
            client,
            shared,
            asked,
            changed,
        };
        session.watch().await?;
        Ok(session)
    }

    /// Subscribes, and records the time of each change.
    async fn watch(&self) -> Result<(), Failure> {
        let mut changes = self.client.subscribe([WATCHED]).await?;
        let (shared, changed) = (self.shared.clone(), self.changed.clone());
        tokio::spawn(async move {
            while let Some(change) = changes.next().await {
                if matches!(change, Ok(Change::Resource { .. } | Change::Missed(_))) {
                    shared.counts.changes.fetch_add(1, Ordering::Relaxed);
                    let elapsed = shared.start.map(|start| start.elapsed());
                    let elapsed = elapsed.unwrap_or_default().as_millis() as u64;
                    changed.store(elapsed, Ordering::Relaxed);
                }
            }
        });
        Ok(())
    }

    /// Changes the resource that all sessions are subscribed to.
    pub(crate) async fn trigger(&self) -> Result<(), Failure> {
        let call = self.client.call("test_trigger_resource_change", json!({}));
        call.await?;
        Ok(())
    }

    /// Calls tools until `end`, with this pause between two calls.
    pub(crate) async fn work(&self, end: Instant, pause: Duration) {
        let mut turn = self.number;
        // The sessions do not call at the same time.
        sleep(pause.mul_f64(self.number as f64 * 0.618 % 1.0)).await;
        while Instant::now() < end {
            turn += 1;
            let start = Instant::now();
            let counts = &self.shared.counts;
            let kind = turn % 3;
            let text = match timeout(LIMIT, self.call(kind, turn)).await {
                Ok(Ok(None)) => {
                    counts.answers[kind].fetch_add(1, Ordering::Relaxed);
                    sleep(pause).await;
                    continue;
                }
                Ok(Ok(Some(wrong))) => {
                    let text = format!("wrong answer: {wrong}");
                    self.shared.note(&counts.wrong, text);
                    continue;
                }
                Ok(Err(_)) if self.shared.faults.explain(start) => {
                    counts.in_flight.fetch_add(1, Ordering::Relaxed);
                    sleep(pause).await;
                    continue;
                }
                Ok(Err(error)) => format!("{kind}: {error}"),
                Err(_) => {
                    let text = format!("{kind}: neither an answer nor an error");
                    self.shared.note(&counts.lost, text);
                    continue;
                }
            };
            self.shared.note(&counts.unexplained, text);
            sleep(pause).await;
        }
    }

    fn question(&self, turn: usize) -> String {
        format!("question {turn} of session {}", self.number)
    }

    /// Returns whether the call with this number has asked its client: it runs.
    pub(crate) fn was_asked(&self, turn: usize) -> bool {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) == self.question(turn)
    }

    /// Calls a tool. Returns the answer if it is wrong.
    pub(crate) async fn call(&self, kind: usize, turn: usize) -> Result<Option<String>, Error> {
        match kind {
            0 => {
                let message = self.question(turn);
                let call = self
                    .client
                    .call("test_elicitation", json!({ "message": message }));
                let text = call.await?.text();
                Ok((!text.contains(&message)).then_some(text))
            }
            1 => {
                let mut seen = Vec::new();
                let call = self.client.call("test_tool_with_progress", json!({}));
                let call = call.on_progress(|progress| seen.push(progress.progress));
                let text = call.await?.text();
                let is_right = seen == [0.0, 50.0, 100.0] && text.contains("successfully");
                Ok((!is_right).then(|| format!("{text} after {seen:?}")))
            }
            2 => {
                let call = self.client.call("test_reconnection", json!({}));
                let text = call.await?.text();
                Ok((!text.contains("completed successfully")).then_some(text))
            }
            _ => {
                let text = self
                    .client
                    .call("test_simple_text", json!({}))
                    .await?
                    .text();
                Ok((!text.contains("simple text response")).then_some(text))
            }
        }
    }
}

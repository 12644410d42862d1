//! The connection of a running call to its task: questions and progress.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_core::{BackChannelError, BoxFuture, ServerNotification, TaskChannel};
use mcp_types::{InputRequest, InputRequests, InputResponse, InputResponses, ProgressUpdate};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

/// Longest status message in bytes. A longer one is cut.
const MAX_MESSAGE: usize = 1024;

/// The connection of a running call to its task.
pub(crate) struct TaskLink {
    is_task: AtomicBool,
    state: Mutex<LinkState>,
    /// A question was asked or withdrawn.
    pub(crate) asked: Notify,
    /// The progress has changed.
    pub(crate) reported: Notify,
}

#[derive(Default)]
struct LinkState {
    open: BTreeMap<String, OpenQuestion>,
    message: Option<String>,
}

struct OpenQuestion {
    request: InputRequest,
    answer: oneshot::Sender<Result<InputResponse, BackChannelError>>,
}

impl TaskLink {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            is_task: AtomicBool::new(false),
            state: Mutex::default(),
            asked: Notify::new(),
            reported: Notify::new(),
        })
    }

    /// Makes the call a task. From now on, the task asks and reports.
    pub(crate) fn promote(&self) {
        self.is_task.store(true, Ordering::Release);
    }

    /// Returns the open questions and the status message.
    pub(crate) fn snapshot(&self) -> (InputRequests, Option<String>) {
        let state = self.state.lock();
        let open = state.open.iter();
        let open = open.map(|(key, question)| (key.clone(), question.request.clone()));
        (open.collect(), state.message.clone())
    }

    /// Delivers responses to the running call.
    pub(crate) fn deliver(&self, answers: &InputResponses) {
        for (key, raw) in answers {
            let question = self.state.lock().open.remove(key);
            if let Some(OpenQuestion { request, answer }) = question {
                let read = request.read(raw);
                let read = read.map_err(|error| BackChannelError::Malformed(error.to_string()));
                // The handler may have dropped the question.
                let _ = answer.send(read);
            }
        }
    }

    fn withdraw(&self, key: &str) {
        if self.state.lock().open.remove(key).is_some() {
            self.asked.notify_one();
        }
    }
}

/// Returns the status message for a progress report.
fn describe(progress: &ProgressUpdate) -> String {
    let done = progress.progress;
    let mut message = match (&progress.message, progress.total) {
        (Some(message), _) => message.clone(),
        (None, Some(total)) => format!("{done} of {total}"),
        (None, None) => done.to_string(),
    };
    message.truncate(mcp_types::truncate(&message, MAX_MESSAGE).len());
    message
}

impl TaskChannel for TaskLink {
    fn is_task(&self) -> bool {
        self.is_task.load(Ordering::Acquire)
    }

    fn report(&self, notification: &ServerNotification) {
        if let ServerNotification::Progress { progress, .. } = notification {
            self.state.lock().message = Some(describe(progress));
            self.reported.notify_one();
        }
    }

    // The input round of the handler refuses a key that was used before.
    fn ask(
        self: Arc<Self>,
        key: &str,
        request: InputRequest,
    ) -> BoxFuture<'static, Result<InputResponse, BackChannelError>> {
        let (answer, answered) = oneshot::channel();
        let question = OpenQuestion { request, answer };
        self.state.lock().open.insert(key.to_owned(), question);
        self.asked.notify_one();
        let guard = QuestionGuard {
            link: self,
            key: key.to_owned(),
        };
        Box::pin(async move {
            let answer = answered.await.unwrap_or(Err(BackChannelError::Closed));
            drop(guard);
            answer
        })
    }
}

/// Withdraws a question when its future is dropped.
struct QuestionGuard {
    link: Arc<TaskLink>,
    key: String,
}

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        self.link.withdraw(&self.key);
    }
}

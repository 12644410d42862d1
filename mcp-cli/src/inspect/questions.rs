//! The server's questions to the user.

use std::collections::HashMap;
use std::sync::Arc;

use mcp::types::{CreateMessageResult, ElicitResult};
use mcp::{ElicitRequest, Rejected, SampleRequest, UrlRequest};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::history::History;

/// Largest number of open questions. Further ones are declined.
const MAX_OPEN: usize = 64;

/// The user's answer.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    /// The number of the question.
    id: u64,
    action: Action,
    #[serde(default)]
    content: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

/// The open questions.
#[derive(Debug, Clone)]
pub(super) struct Questions {
    history: Arc<History>,
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    last: u64,
    waiting: HashMap<u64, oneshot::Sender<Answer>>,
}

/// A question that waits. When it is dropped, the page no longer shows it.
struct Waiting<'a> {
    questions: &'a Questions,
    id: u64,
}

impl Questions {
    pub(super) fn new(history: Arc<History>) -> Self {
        Self {
            history,
            open: Arc::default(),
        }
    }

    /// Answers a question. Returns false if it is no longer open.
    pub(super) fn answer(&self, answer: Answer) -> bool {
        let waiting = self.open.lock().waiting.remove(&answer.id);
        waiting.is_some_and(|waiting| waiting.send(answer).is_ok())
    }

    /// Asks for a form, again while the answers do not fit.
    pub(super) async fn form(self, form: ElicitRequest) -> ElicitResult {
        let mut problem = None;
        loop {
            let asker = &form.asker.server;
            let answer = self.ask("form", asker, &form.params, problem.as_deref());
            let (action, content) = match answer.await {
                Some(Answer {
                    action, content, ..
                }) => (action, content),
                None => (Action::Cancel, Value::Null),
            };
            match action {
                Action::Accept => match form.accept(content) {
                    Ok(result) => return result,
                    Err(error) => problem = Some(error.to_string()),
                },
                Action::Decline => return ElicitResult::decline(),
                Action::Cancel => return ElicitResult::cancel(),
            }
        }
    }

    /// Asks whether the user visits a URL. The page opens it.
    pub(super) async fn visit(self, visit: UrlRequest) -> ElicitResult {
        let asker = &visit.asker.server;
        let answer = self.ask("url", asker, &visit.params, None).await;
        match answer.map(|answer| answer.action) {
            Some(Action::Accept) => {
                visit.complete();
                ElicitResult::accept_url()
            }
            Some(Action::Decline) => ElicitResult::decline(),
            _ => ElicitResult::cancel(),
        }
    }

    /// Asks for a language model's answer, again until it is a result.
    pub(super) async fn sample(
        self,
        request: SampleRequest,
    ) -> Result<CreateMessageResult, Rejected> {
        let mut problem = None;
        loop {
            let asker = &request.asker.server;
            let answer = self.ask("sampling", asker, &request.params, problem.as_deref());
            match answer.await {
                Some(Answer {
                    action: Action::Accept,
                    content,
                    ..
                }) => match serde_json::from_value(content) {
                    Ok(result) => return Ok(result),
                    Err(error) => problem = Some(error.to_string()),
                },
                _ => return Err(Rejected::new("the user declined")),
            }
        }
    }

    async fn ask(
        &self,
        kind: &str,
        asker: &str,
        params: &impl Serialize,
        problem: Option<&str>,
    ) -> Option<Answer> {
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut open = self.open.lock();
            if open.waiting.len() >= MAX_OPEN {
                return None;
            }
            open.last += 1;
            let id = open.last;
            open.waiting.insert(id, sender);
            id
        };
        let _waiting = Waiting {
            questions: self,
            id,
        };
        let question = json!({
            "id": id, "type": kind, "asker": asker, "params": params, "problem": problem,
        });
        self.history.add("question", question);
        answer.await.ok()
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.questions.open.lock().waiting.remove(&self.id);
        self.questions
            .history
            .add("settled", json!({"id": self.id}));
    }
}

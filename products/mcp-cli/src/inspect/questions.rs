//! The server's questions to the user.

use std::collections::HashMap;
use std::sync::Arc;

use mcp::extension::Asker;
use mcp::types::{CreateMessageResult, ElicitResult};
use mcp::{ElicitRequest, Rejected, SampleRequest, UrlRequest};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::history::History;
use super::tap;

/// Largest number of open questions. Further ones are declined.
const MAX_OPEN: usize = 64;

/// The user's answer.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    /// The number of the question.
    id: u64,
    action: Action,
    content: Option<Box<RawValue>>,
}

/// A question as the page receives it.
#[derive(Serialize)]
struct Question<'a, P> {
    id: u64,
    r#type: &'a str,
    asker: &'a str,
    /// The method and the tool, prompt or resource of the call that asks. `None` in a legacy session.
    method: Option<&'a str>,
    item: Option<&'a str>,
    /// The page's request that asks.
    call: Option<&'a str>,
    params: &'a P,
    problem: Option<&'a str>,
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
            let answer = self.ask("form", &form.asker, &form.params, problem.as_deref());
            let (action, content) = match answer.await {
                Some(Answer {
                    action, content, ..
                }) => (action, content),
                None => (Action::Cancel, None),
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
        let answer = self.ask("url", &visit.asker, &visit.params, None).await;
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
            let answer = self.ask(
                "sampling",
                &request.asker,
                &request.params,
                problem.as_deref(),
            );
            match answer.await {
                Some(Answer {
                    action: Action::Accept,
                    content,
                    ..
                }) => {
                    match serde_json::from_str(content.as_deref().map_or("null", RawValue::get)) {
                        Ok(result) => return Ok(result),
                        Err(error) => problem = Some(error.to_string()),
                    }
                }
                _ => return Err(Rejected::new("the user declined")),
            }
        }
    }

    async fn ask(
        &self,
        kind: &str,
        asker: &Asker,
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
        let call = tap::page_request();
        self.history.add(
            "question",
            Question {
                id,
                r#type: kind,
                asker: &asker.server,
                method: asker.method.as_deref(),
                item: asker.item.as_deref(),
                call: call.as_deref(),
                params,
                problem,
            },
        );
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

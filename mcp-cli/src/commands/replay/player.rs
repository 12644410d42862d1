//! The answers of a recorded server.

use mcp::types::meta::keys::SUBSCRIPTION_ID;
use mcp::types::{Method, codes};
use serde_json::{Value, json};

use super::recording::{Dialogue, Kind, id_text};

/// Largest number of dialogues that wait for the client.
const MAX_WAITING: usize = 1024;

/// Plays the server in a recording. It answers each request like the recorded one with the same method
/// and parameters; `_meta` is not compared. Equal requests are answered in the recorded order, and then
/// by the last answer.
#[derive(Debug)]
pub(super) struct Player {
    dialogues: Vec<Dialogue>,
    used: Vec<bool>,
    waiting: Vec<Running>,
}

/// A dialogue that waits for the client to answer a server request.
#[derive(Debug)]
struct Running {
    dialogue: usize,
    /// The next reply.
    next: usize,
    /// The client's request.
    request: Value,
}

impl Player {
    pub(super) fn new(dialogues: Vec<Dialogue>) -> Self {
        let used = vec![false; dialogues.len()];
        Self {
            dialogues,
            used,
            waiting: Vec::new(),
        }
    }

    /// Returns the server messages that follow a client message.
    pub(super) fn receive(&mut self, message: &Value) -> Vec<Value> {
        match Kind::of(message) {
            Kind::Request => self.answer(message),
            Kind::Response => self.resume(&message["id"]),
            Kind::Notification => Vec::new(),
        }
    }

    fn answer(&mut self, request: &Value) -> Vec<Value> {
        match self.find(request) {
            Some(dialogue) => self.play(Running {
                dialogue,
                next: 0,
                request: request.clone(),
            }),
            None => vec![unknown(request)],
        }
    }

    /// Finds the first unused dialogue for a request, or the last one.
    fn find(&mut self, request: &Value) -> Option<usize> {
        let matches = |dialogue: &Dialogue| {
            dialogue.method() == request["method"]
                && dialogue.response().is_some()
                && (dialogue.method() == Method::Initialize.as_str()
                    || params(&dialogue.request) == params(request))
        };
        let all = self.dialogues.iter().enumerate();
        let found: Vec<_> = all
            .filter(|(_, it)| matches(it))
            .map(|(at, _)| at)
            .collect();
        let unused = found.iter().copied().find(|at| !self.used[*at]);
        let at = unused.or(found.last().copied())?;
        self.used[at] = true;
        Some(at)
    }

    fn resume(&mut self, id: &Value) -> Vec<Value> {
        let dialogues = &self.dialogues;
        let asked = |running: &Running| {
            let replies = &dialogues[running.dialogue].replies;
            running
                .next
                .checked_sub(1)
                .is_some_and(|at| replies[at]["id"] == *id)
        };
        match self.waiting.iter().position(asked) {
            Some(at) => {
                let running = self.waiting.swap_remove(at);
                self.play(running)
            }
            None => Vec::new(),
        }
    }

    /// Returns the replies up to the server's next request.
    fn play(&mut self, mut running: Running) -> Vec<Value> {
        let mut sent = Vec::new();
        let dialogue = &self.dialogues[running.dialogue];
        while let Some(reply) = dialogue.replies.get(running.next) {
            running.next += 1;
            sent.push(adapt(reply, &running.request));
            if Kind::of(reply) == Kind::Request {
                if self.waiting.len() < MAX_WAITING {
                    self.waiting.push(running);
                }
                break;
            }
        }
        sent
    }
}

/// The parameters that are compared.
fn params(request: &Value) -> Value {
    let mut params = request["params"].clone();
    match params.as_object_mut() {
        Some(members) => {
            members.remove("_meta");
            params
        }
        None => json!({}),
    }
}

/// Replaces id, progress token and subscription by those of the actual request.
fn adapt(reply: &Value, request: &Value) -> Value {
    let mut reply = reply.clone();
    if Kind::of(&reply) == Kind::Response {
        reply["id"] = request["id"].clone();
    }
    if let Some(token) = reply.pointer_mut("/params/progressToken") {
        *token = request["params"]["_meta"]["progressToken"].clone();
    }
    for part in ["params", "result"] {
        let meta = reply.get_mut(part).and_then(|part| part.get_mut("_meta"));
        if let Some(id) = meta.and_then(|meta| meta.get_mut(SUBSCRIPTION_ID)) {
            *id = id_text(&request["id"]).into();
        }
    }
    reply
}

fn unknown(request: &Value) -> Value {
    let id = &request["id"];
    match request["method"].as_str().unwrap_or_default() {
        method if method == Method::Ping.as_str() => {
            json!({ "jsonrpc": "2.0", "id": id, "result": {} })
        }
        method => {
            let message = format!("the recording has no request {method} with these parameters");
            let error = json!({ "code": codes::METHOD_NOT_FOUND, "message": message });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    }
}

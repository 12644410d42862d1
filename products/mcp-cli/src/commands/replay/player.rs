//! The answers of a recorded server.

use std::collections::{HashMap, VecDeque};

use mcp::types::meta::keys::SUBSCRIPTION_ID;
use mcp::types::{Method, codes};
use serde_json::{Map, Value, json};

use super::recording::{Dialogue, MessageKind, id_text};

/// Largest number of dialogues that wait for the client.
const MAX_WAITING: usize = 1024;

/// Plays the server in a recording. It answers each request like the recorded one with the same method
/// and parameters; `_meta` is not compared. Equal requests are answered in the recorded order, and then
/// by the last answer.
#[derive(Debug)]
pub(super) struct Player {
    dialogues: Vec<Dialogue>,
    /// The dialogues of equal requests that are left, and the last one of them.
    left: HashMap<(String, Value), VecDeque<usize>>,
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
        let mut left: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (at, dialogue) in dialogues.iter().enumerate() {
            if dialogue.response().is_some() {
                left.entry(key(&dialogue.request))
                    .or_default()
                    .push_back(at);
            }
        }
        Self {
            dialogues,
            left,
            waiting: Vec::new(),
        }
    }

    /// Returns the server messages that follow a client message.
    pub(super) fn receive(&mut self, message: &Value) -> Vec<Value> {
        match MessageKind::of(message) {
            MessageKind::Request => self.answer(message),
            MessageKind::Response => self.resume(&message["id"]),
            MessageKind::Notification => Vec::new(),
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
        let left = self.left.get_mut(&key(request))?;
        if left.len() > 1 {
            return left.pop_front();
        }
        left.front().copied()
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
            if MessageKind::of(reply) == MessageKind::Request {
                if self.waiting.len() < MAX_WAITING {
                    self.waiting.push(running);
                }
                break;
            }
        }
        sent
    }
}

/// The method of a request, and the parameters that are compared.
fn key(request: &Value) -> (String, Value) {
    let method = request["method"].as_str().unwrap_or_default();
    let mut params = match &request["params"] {
        Value::Object(params) if method != Method::Initialize.as_str() => params.clone(),
        _ => Map::new(),
    };
    params.remove("_meta");
    (method.to_owned(), params.into())
}

/// Replaces id, progress token and subscription by those of the actual request.
fn adapt(reply: &Value, request: &Value) -> Value {
    let mut reply = reply.clone();
    if MessageKind::of(&reply) == MessageKind::Response {
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

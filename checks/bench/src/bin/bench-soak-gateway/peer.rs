//! Servers of the legacy era that misbehave, without the SDK.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use bench::era::LEGACY;
use bench::random::Random;
use serde_json::{Value, json};

/// Tools of one list with changing names.
const CHANGING: u64 = 10;
/// Longest life of a server that dies, in milliseconds.
const MAX_LIFE: usize = 20_000;
/// Longest pause between two changes of the lists, in milliseconds.
const MAX_CHANGE: usize = 1000;
/// Largest message of the server that sends garbage, in bytes.
const HUGE: usize = 4 << 20;
/// The time that a slow server needs to start and to answer a call.
const SLOW: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(1));

/// The misbehavior of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Healthy,
    /// Lists have new names and URIs all the time; pings have new ids.
    Changing,
    /// Exits at a random time, sometimes in the middle of a line.
    Dying,
    /// Answers no call.
    Silent,
    /// Answers nothing.
    Mute,
    /// Sends lines that are not messages, huge notifications, and answers that nobody waits for.
    Garbage,
    /// Its calls ask for a form, a sample and roots.
    Asking,
    /// Asks for roots when it starts.
    Roots,
    Slow,
}

impl Kind {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "healthy" => Self::Healthy,
            "changing" => Self::Changing,
            "dying" => Self::Dying,
            "silent" => Self::Silent,
            "mute" => Self::Mute,
            "garbage" => Self::Garbage,
            "asking" => Self::Asking,
            "roots" => Self::Roots,
            "slow" => Self::Slow,
            _ => return None,
        })
    }
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Peer {
    kind: Kind,
    /// Makes names and ids that no other process has used.
    number: Arc<AtomicU64>,
}

impl Peer {
    pub(crate) fn start(kind: Kind) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seed = now.unwrap_or_default().as_micros() as u64;
        let number = Arc::new(AtomicU64::new(seed));
        let mut random = Random::new(seed);
        match kind {
            Kind::Dying => {
                thread::spawn(move || {
                    thread::sleep(random.pause(MAX_LIFE));
                    if random.below(2) == 0 {
                        let _ = write(br#"{"jsonrpc":"2.0","id":"#);
                    }
                    std::process::exit(3);
                });
            }
            Kind::Changing => {
                let number = number.clone();
                thread::spawn(move || -> io::Result<()> {
                    loop {
                        thread::sleep(random.pause(MAX_CHANGE));
                        let next = number.fetch_add(CHANGING, Ordering::Relaxed);
                        for list in ["tools", "prompts", "resources"] {
                            notify(&format!("notifications/{list}/list_changed"), &json!({}))?;
                        }
                        let uri = format!("changing://{next}");
                        notify("notifications/resources/updated", &json!({"uri": uri}))?;
                        request(&json!(format!("ping-{next}")), "ping", &json!({}))?;
                    }
                });
            }
            _ => {}
        }
        Self { kind, number }
    }

    /// Handles a message of the client.
    pub(crate) fn receive(&self, message: &Value) -> io::Result<()> {
        let id = &message["id"];
        let method = message["method"].as_str().unwrap_or_default();
        if self.kind == Kind::Mute {
            return Ok(());
        }
        if method == "notifications/initialized" && self.kind == Kind::Roots {
            return request(&self.next_id(), "roots/list", &json!({}));
        }
        if id.is_null() || method.is_empty() {
            return Ok(());
        }
        if self.kind == Kind::Garbage {
            self.send_garbage(id)?;
        }
        let result = match method {
            "initialize" => {
                if self.kind == Kind::Slow {
                    thread::sleep(SLOW.0);
                }
                json!({
                    "protocolVersion": LEGACY,
                    "capabilities": {
                        "tools": {"listChanged": true},
                        "prompts": {"listChanged": true},
                        "resources": {"listChanged": true, "subscribe": true},
                        "logging": {},
                    },
                    "serverInfo": {"name": format!("{:?}", self.kind), "version": "0.0.0"},
                })
            }
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                json!({})
            }
            "tools/list" => json!({"tools": self.items(|name| json!({
                "name": name,
                "description": "One of many tools, listed to see what a long list costs.",
                "inputSchema": {"type": "object", "properties": {"message": {"type": "string"}}},
            }))}),
            "prompts/list" => json!({"prompts": self.items(|name| json!({"name": name}))}),
            "resources/list" => json!({"resources": self.items(|name| {
                json!({"name": name, "uri": format!("{:?}://{name}", self.kind).to_lowercase()})
            })}),
            "resources/templates/list" => json!({"resourceTemplates": []}),
            "tools/call" => return self.call(id, &message["params"]),
            _ => {
                let error = json!({"code": -32601, "message": "method not found"});
                return send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
        };
        respond(id, &result)
    }

    fn next_id(&self) -> Value {
        format!("question-{}", self.number.fetch_add(1, Ordering::Relaxed)).into()
    }

    /// Returns `echo` and names that change.
    fn items(&self, item: impl Fn(&str) -> Value) -> Vec<Value> {
        let mut items = vec![item("echo")];
        if self.kind == Kind::Changing {
            let first = self.number.load(Ordering::Relaxed);
            items.extend((first..first + CHANGING).map(|number| item(&format!("tool_{number}"))));
        }
        items
    }

    fn call(&self, id: &Value, params: &Value) -> io::Result<()> {
        match self.kind {
            Kind::Silent => return Ok(()),
            Kind::Asking => {
                let form = json!({
                    "message": "Which word?",
                    "requestedSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
                });
                request(&self.next_id(), "elicitation/create", &form)?;
                let text = json!({"type": "text", "text": "Which word?"});
                let sample =
                    json!({"messages": [{"role": "user", "content": text}], "maxTokens": 9});
                request(&self.next_id(), "sampling/createMessage", &sample)?;
                return request(&self.next_id(), "roots/list", &json!({}));
            }
            Kind::Slow => thread::sleep(SLOW.1),
            _ => {}
        }
        let text = params["arguments"]["message"].as_str().unwrap_or_default();
        respond(id, &json!({"content": [{"type": "text", "text": text}]}))
    }

    fn send_garbage(&self, id: &Value) -> io::Result<()> {
        let mut random = Random::new(self.number.fetch_add(1, Ordering::Relaxed));
        match random.below(8) {
            0 => write(b"Server is starting...\n"),
            1 => write(b"\xff\xfe\x00\n"),
            2 => write(b"{}\n[]\n{\"jsonrpc\":\"2.0\"}\n"),
            3 => respond(&self.next_id(), &json!({})),
            4 => {
                let data = "x".repeat(random.below(HUGE));
                let message = json!({"level": "error", "data": data});
                notify("notifications/message", &message)
            }
            5 => {
                let token = self.next_id();
                let progress = json!({"progressToken": token, "progress": 1});
                notify("notifications/progress", &progress)
            }
            6 => {
                let cancelled = json!({"requestId": self.next_id()});
                notify("notifications/cancelled", &cancelled)
            }
            // The answer comes twice.
            _ => respond(
                id,
                &json!({"tools": [], "prompts": [], "resources": [], "content": []}),
            ),
        }
    }
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

fn send(message: &Value) -> io::Result<()> {
    write(format!("{message}\n").as_bytes())
}

fn respond(id: &Value, result: &Value) -> io::Result<()> {
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn request(id: &Value, method: &str, params: &Value) -> io::Result<()> {
    send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn notify(method: &str, params: &Value) -> io::Result<()> {
    send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

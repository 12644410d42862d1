//! A chat client on the terminal. It answers forms and sampling requests, cancels calls by their request id, reads
//! notifications twice, and names the conversation in every call's metadata. The server is this program again, as a
//! child process.
//!
//! `cargo run -p examples --bin chat [legacy]`, then for example:
//!
//! ```text
//! book {"day":"Friday"}     starts a call; its lines begin with the id of its request
//! count=3                   answers the open form; `no` declines it
//! brew {"minutes":60}       a long call
//! cancel 4                  cancels the call with this id
//! quit
//! ```

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use mcp::client::{ClientBuilder, LostNotifications};
use mcp::core::ServerNotification;
use mcp::prelude::*;
use mcp::types::{LoggingLevel, RequestId};
use mcp::{Ask, Elicit, RequestMeta, Sampling, ServerCommand};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The key of the conversation in the metadata.
const CONVERSATION: &str = "com.example/conversation";

// The server.

#[derive(Elicit)]
struct Guests {
    /// Number of guests
    #[elicit(range = 1..=12, default = 2)]
    count: u32,
}

struct Cafe;

#[mcp::server]
impl Cafe {
    /// Book a table.
    #[tool]
    async fn book(&self, day: String, ask: Ask) -> Result<String, ToolError> {
        let guests = ask.form::<Guests>("guests", "How many guests?").await?;
        Ok(match guests.accepted() {
            Some(guests) => format!("a table for {} on {day}", guests.count),
            None => "no table".to_owned(),
        })
    }

    /// Invent a slogan.
    #[tool]
    async fn slogan(&self, ask: Ask) -> Result<String, ToolError> {
        let question = Sampling::user("Praise our tea.").max_tokens(50);
        let slogan = ask.sample("slogan", question).await?;
        Ok(format!("our slogan: {}", slogan.content.text()))
    }

    /// Brew tea for some minutes, which are short here.
    #[tool]
    async fn brew(&self, minutes: u32, progress: Progress, log: Log) -> String {
        log.info("the water boils");
        for minute in 1..=minutes {
            progress
                .report(minute.into(), minutes.into(), "it steeps")
                .await;
            sleep(Duration::from_millis(100)).await;
        }
        format!("tea after {minutes} minutes")
    }

    /// Name the conversation of the call.
    #[tool]
    fn conversation(&self, meta: RequestMeta) -> String {
        meta.get(CONVERSATION).unwrap_or_else(|| "none".to_owned())
    }
}

// The client.

/// The forms that wait for the user, the oldest first.
#[derive(Clone, Default)]
struct OpenForms(Arc<Mutex<VecDeque<oneshot::Sender<String>>>>);

impl OpenForms {
    fn queue(&self) -> MutexGuard<'_, VecDeque<oneshot::Sender<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows a form and waits for the user's line. An answer that does not fit is asked for again.
    async fn ask(&self, form: ElicitRequest) -> ElicitResult {
        loop {
            let (sender, line) = oneshot::channel();
            // Before the question is shown: the user may be quick.
            self.queue().push_back(sender);
            let fields = serde_json::to_string(form.schema()).unwrap_or_default();
            println!("{} asks: {} {fields}", form.asker.server, form.message());
            // The call of the form was cancelled, or the program ends.
            let Ok(line) = line.await else {
                return ElicitResult::cancel();
            };
            if line == "no" {
                return ElicitResult::decline();
            }
            match form.accept(fields_of(&line)) {
                Ok(accepted) => return accepted,
                Err(error) => println!("that does not fit: {error}"),
            }
        }
    }

    /// Passes a line to the oldest form whose call still runs. Returns false without one.
    fn answer(&self, line: &str) -> bool {
        let mut forms = self.queue();
        while let Some(form) = forms.pop_front() {
            if form.send(line.to_owned()).is_ok() {
                return true;
            }
        }
        false
    }
}

/// Reads `name=value name=value`, where a value is JSON or a text.
fn fields_of(line: &str) -> Value {
    let fields = line
        .split_whitespace()
        .filter_map(|field| field.split_once('='));
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    Value::Object(
        fields
            .map(|(name, text)| (name.to_owned(), value(text)))
            .collect(),
    )
}

/// The model of this chat, which is a parrot.
async fn sample(request: SampleRequest) -> Result<CreateMessageResult, Rejected> {
    let asked = request.params.messages.last();
    let text = asked
        .map(|message| message.content.text())
        .unwrap_or_default();
    println!("the model is asked: {text}");
    Ok(CreateMessageResult::new("parrot", format!("{text}!!")))
}

fn settings(forms: &OpenForms, mode: ConnectMode) -> ClientBuilder {
    let forms = forms.clone();
    Client::builder()
        .identity("chat", "1.0.0")
        .mode(mode)
        .meta(CONVERSATION, "c-17")
        .log_level(LoggingLevel::Info)
        .on_elicit(move |form: ElicitRequest| {
            let forms = forms.clone();
            async move { forms.ask(form).await }
        })
        .on_sample(sample)
}

type Received = Result<ServerNotification, LostNotifications>;

/// The first reader: a log.
async fn show_logs(mut notifications: impl Stream<Item = Received> + Unpin) {
    while let Some(received) = notifications.next().await {
        match received {
            Ok(ServerNotification::Log(message)) => println!("log: {}", message.data),
            Ok(_) => {}
            Err(lost) => println!("log: {lost}"),
        }
    }
}

/// The second reader: a line of progress for each call. The token of a call is the id of its request.
async fn show_progress(mut notifications: impl Stream<Item = Received> + Unpin) {
    while let Some(received) = notifications.next().await {
        if let Ok(ServerNotification::Progress { token, progress }) = received {
            println!("[{}] {} done", token.as_id(), progress.progress);
        }
    }
}

/// The calls that run.
struct Chat {
    client: Client,
    forms: OpenForms,
    calls: JoinSet<()>,
}

impl Chat {
    /// Handles a line of the user. Returns false at the end.
    fn handle(&mut self, line: &str) -> bool {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "quit" => return false,
            "cancel" => {
                let id = rest.parse::<i64>().map(RequestId::from);
                if !id.is_ok_and(|id| self.client.cancel(&id)) {
                    println!("no call has the id {rest:?}");
                }
            }
            _ if word == "no" || word.contains('=') => {
                if !self.forms.answer(line) {
                    println!("no form is open");
                }
            }
            tool => match serde_json::from_str(if rest.is_empty() { "{}" } else { rest }) {
                Ok(arguments) => self.start(tool, arguments),
                Err(error) => println!("the arguments are not JSON: {error}"),
            },
        }
        true
    }

    /// Starts a call, which prints its result. The user may go on typing.
    fn start(&mut self, tool: &str, arguments: Value) {
        // Progress is wanted; the second reader shows it.
        let mut call = self.client.call(tool, arguments).on_progress(|_| ());
        let id = call.id();
        println!("[{id}] {tool} runs");
        self.calls.spawn(async move {
            match call.await {
                Ok(result) => println!("[{id}] {}", result.text()),
                Err(error) if error.is_cancelled() => println!("[{id}] is cancelled"),
                Err(error) => println!("[{id}] {error}"),
            }
        });
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let mode = match std::env::args().nth(1).as_deref() {
        Some("serve") => return mcp::serve_stdio(Cafe).await,
        Some("legacy") => ConnectMode::Legacy,
        _ => ConnectMode::Auto,
    };
    let forms = OpenForms::default();
    let server = ServerCommand::new(std::env::current_exe()?).arg("serve");
    let client = settings(&forms, mode).connect(server).await?;
    println!("connected with {}", client.protocol_version());
    tokio::spawn(show_logs(client.notifications()));
    tokio::spawn(show_progress(client.notifications()));
    let mut chat = Chat {
        client: client.clone(),
        forms,
        calls: JoinSet::new(),
    };
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        if !line.trim().is_empty() && !chat.handle(line.trim()) {
            break;
        }
    }
    // Dropping the calls cancels them.
    drop(chat);
    client.close().await?;
    Ok(())
}

//! A server with events, and a webhook in the same process.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use mcp::core::{BoxFuture, Principal};
use mcp::events::{
    EventClient, EventLog, EventType, Events, MemoryEventLog, WebhookFailure, WebhookPost,
    WebhookResponse, WebhookTransport, Webhooks,
};
use mcp::middleware::{Exchange, Next, from_fn};
use mcp::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Order {
    pub(crate) number: u64,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Since {
    number: u64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Ping {}

/// A type with all deliveries and a filter, and one that can only be polled.
pub(crate) fn events() -> Events {
    events_with(MemoryEventLog::new())
}

/// Event types with a log that nodes may share.
pub(crate) fn events_with(log: impl EventLog) -> Events {
    let order = EventType::<Order>::new("order.placed")
        .description("An order")
        .poll()
        .push()
        .webhook();
    let order = order.filter(|since: &Since, order: &Order, _| order.number >= since.number);
    Events::with_log(log)
        .event(order)
        .event(EventType::<Ping>::new("ping").poll())
}

/// The events with webhooks that nobody answers.
pub(crate) fn plain_events() -> Events {
    events().webhooks(Webhooks::new(Endpoint::default()))
}

pub(crate) fn server(events: &Events) -> Server {
    Server::new("shop", "1.0.0").extension(events.clone())
}

/// A server that takes all callers for `subject`.
pub(crate) fn server_for(events: &Events, subject: &'static str) -> Server {
    server(events).layer(from_fn(
        move |mut exchange: Exchange, next: Next| async move {
            exchange.extensions.insert(Principal::new("test", subject));
            next.run(exchange).await
        },
    ))
}

pub(crate) async fn client_of(server: Server) -> EventClient {
    let client = Client::builder().extension(Events::new());
    let client = client.connect(mcp::InProcess(server)).await.unwrap();
    EventClient::new(&client).unwrap()
}

/// The code of an error of the server.
#[track_caller]
pub(crate) fn code(error: &mcp::client::Error) -> i64 {
    match error.fault() {
        Some(mcp::core::Fault::Protocol(error)) => error.code,
        Some(mcp::core::Fault::BadParams { .. }) => -32602,
        Some(mcp::core::Fault::NoSuchMethod { .. }) => -32601,
        other => panic!("{other:?}"),
    }
}

/// A status and `Retry-After`.
type Answer = (u16, Option<String>);

/// A webhook that records the messages that it receives.
#[derive(Clone, Default)]
pub(crate) struct Endpoint {
    posts: Arc<Mutex<VecDeque<WebhookPost>>>,
    arrived: Arc<Notify>,
    /// The statuses of the next responses, and their `Retry-After`. Afterwards: 200.
    statuses: Arc<Mutex<VecDeque<Answer>>>,
    /// The well-known file of the host, and the URLs from which it was read.
    file: String,
    files: Arc<Mutex<Vec<String>>>,
    /// Answers challenges with something else.
    is_stranger: bool,
}

impl Endpoint {
    /// A webhook that does not repeat challenges.
    pub(crate) fn stranger() -> Self {
        Self {
            is_stranger: true,
            ..Self::default()
        }
    }

    /// Returns the next message.
    pub(crate) async fn next(&self) -> WebhookPost {
        loop {
            let arrived = self.arrived.notified();
            if let Some(post) = self.posts.lock().unwrap().pop_front() {
                return post;
            }
            arrived.await;
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.posts.lock().unwrap().len()
    }

    pub(crate) fn answer(&self, statuses: &[u16]) {
        let statuses = statuses.iter().map(|status| (*status, None));
        self.statuses.lock().unwrap().extend(statuses);
    }

    /// Answers the next message with `Retry-After`.
    pub(crate) fn answer_busy(&self, status: u16, retry_after: &str) {
        let answer = (status, Some(retry_after.to_owned()));
        self.statuses.lock().unwrap().push_back(answer);
    }

    pub(crate) fn with_file(mut self, file: &str) -> Self {
        file.clone_into(&mut self.file);
        self
    }

    pub(crate) fn files(&self) -> Vec<String> {
        self.files.lock().unwrap().clone()
    }
}

pub(crate) fn body(post: &WebhookPost) -> Value {
    serde_json::from_slice(&post.body).unwrap()
}

pub(crate) fn header<'a>(post: &'a WebhookPost, name: &str) -> &'a str {
    &post.headers.iter().find(|(key, _)| *key == name).unwrap().1
}

impl WebhookTransport for Endpoint {
    fn check(&self, _: &url::Url) -> Result<(), WebhookFailure> {
        Ok(())
    }

    fn post(
        &self,
        post: WebhookPost,
    ) -> BoxFuture<'static, Result<WebhookResponse, WebhookFailure>> {
        let json = body(&post);
        let answer = self.statuses.lock().unwrap().pop_front();
        let (status, retry_after) = answer.unwrap_or((200, None));
        let echo = match (self.is_stranger, json.get("challenge")) {
            (false, Some(challenge)) => serde_json::json!({ "challenge": challenge }).to_string(),
            _ => "hello".to_owned(),
        };
        self.posts.lock().unwrap().push_back(post);
        self.arrived.notify_one();
        let mut response = WebhookResponse::new(status, echo);
        response.retry_after = retry_after;
        Box::pin(async move { Ok(response) })
    }

    fn get(&self, url: url::Url) -> BoxFuture<'static, Result<WebhookResponse, WebhookFailure>> {
        self.files.lock().unwrap().push(url.to_string());
        let response = WebhookResponse::new(200, self.file.clone());
        Box::pin(async move { Ok(response) })
    }
}

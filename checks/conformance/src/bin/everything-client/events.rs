//! Scenarios of the events extension. The server has an event type, and may have the tool
//! `test_publish_event`, which publishes one.
//!
//! | scenario | steps |
//! |---|---|
//! | `events-list` | list the event types |
//! | `events-poll` | poll, publish, poll again |
//! | `events-stream` | stream, publish, receive |
//! | `events-webhook` | subscribe with a receiver at a loopback port, publish, receive a signed message, unsubscribe |
//! | `events-no-extension` | use a server without events: nothing of the extension is sent |
//!
//! Received events are printed.

use std::io::Error;
use std::net::Ipv4Addr;
use std::time::Duration;

use axum::Router;
use futures_util::StreamExt as _;
use mcp::Result;
use mcp::events::{
    DeliveryMode, EventClient, EventOccurrence, EventQuery, EventUpdate, WebhookEvent,
    WebhookReceiver, WebhookSecret, WebhookTarget,
};
use mcp::prelude::*;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::arguments;

/// The time limit of one event.
const LIMIT: Duration = Duration::from_secs(15);

pub(crate) async fn run(client: &Client, scenario: &str) -> Result<()> {
    match scenario {
        "events-list" => list(client).await,
        "events-poll" => poll(client).await,
        "events-stream" => stream(client).await,
        "events-webhook" => webhook(client).await,
        "events-no-extension" => without_extension(client).await,
        _ => Err(Error::other("unknown scenario").into()),
    }
}

async fn list(client: &Client) -> Result<()> {
    let events = EventClient::new(client)?;
    for event in events.list().await? {
        println!("{}: {:?}", event.name, event.delivery);
    }
    Ok(())
}

/// Selects the events of the first type with a delivery.
async fn select(events: &EventClient, delivery: DeliveryMode) -> Result<EventQuery> {
    let types = events.list().await?;
    let found = types.iter().find(|kind| kind.delivery.contains(&delivery));
    let found = found.ok_or_else(|| Error::other(format!("no event type with {delivery:?}")))?;
    let mut query = EventQuery::new(&found.name);
    if let Value::Object(arguments) = arguments::for_schema(&found.input_schema) {
        for (name, value) in arguments {
            query = query.argument(name, value);
        }
    }
    Ok(query)
}

/// Calls the tool that publishes an event, if the server has it.
async fn publish(client: &Client) -> Result<()> {
    let tools = client.list_tools().await?;
    if tools.iter().any(|tool| tool.name == "test_publish_event") {
        client.call("test_publish_event", ()).await?;
    }
    Ok(())
}

async fn poll(client: &Client) -> Result<()> {
    let events = EventClient::new(client)?;
    let query = select(&events, DeliveryMode::Poll).await?;
    let mut page = events.poll(query.clone()).await?;
    publish(client).await?;
    let received = async {
        loop {
            let cursor = page.cursor.ok_or_else(|| Error::other("no cursor"))?;
            page = events.poll(query.clone().cursor(cursor)).await?;
            if !page.events.is_empty() {
                return Ok::<_, mcp::Error>(page.events);
            }
            let pause = page.next_poll_ms.unwrap_or(1000).clamp(50, 1000);
            sleep(Duration::from_millis(pause)).await;
        }
    };
    let received = timeout(LIMIT, received).await;
    for event in received.map_err(|_| Error::other("no event"))?? {
        print(&event);
    }
    Ok(())
}

async fn stream(client: &Client) -> Result<()> {
    let events = EventClient::new(client)?;
    let mut query = select(&events, DeliveryMode::Push).await?;
    // The position of now, where the server has polls, too: nothing is lost until the stream starts.
    if let Ok(page) = events.poll(query.clone()).await
        && let Some(cursor) = page.cursor
    {
        query = query.cursor(cursor);
    }
    let mut stream = events.stream(query);
    publish(client).await?;
    loop {
        let update = timeout(LIMIT, stream.next()).await;
        match update.map_err(|_| Error::other("no event"))? {
            Some(Ok(EventUpdate::Event(event))) => {
                print(&event);
                return Ok(());
            }
            Some(Ok(other)) => println!("{other:?}"),
            Some(Err(error)) => return Err(error.into()),
            None => return Err(Error::other("the stream has ended").into()),
        }
    }
}

async fn webhook(client: &Client) -> Result<()> {
    let events = EventClient::new(client)?;
    let query = select(&events, DeliveryMode::Webhook).await?;
    let secret = WebhookSecret::generate().map_err(Error::other)?;
    let (sender, mut received) = mpsc::channel(16);
    let receiver = WebhookReceiver::new(move |message| {
        let sender = sender.clone();
        async move { sender.send(message).await.is_ok() }
    });
    receiver.answer_challenges(secret.clone());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}/hooks", listener.local_addr()?);
    let router: Router = Router::new().route_service("/hooks", receiver.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let target = WebhookTarget::new(url, secret.clone());
    let subscription = events.keep_subscribed(query, target).await?;
    receiver.bind(subscription.status().id, [secret]);
    println!("subscribed: {}", subscription.status().id);
    publish(client).await?;
    loop {
        let message = timeout(LIMIT, received.recv()).await;
        match message.map_err(|_| Error::other("no message"))? {
            Some(WebhookEvent::Event { event, .. }) => {
                print(&event);
                break;
            }
            Some(other) => println!("{other:?}"),
            None => return Err(Error::other("the receiver has ended").into()),
        }
    }
    Ok(subscription.unsubscribe().await?)
}

async fn without_extension(client: &Client) -> Result<()> {
    if EventClient::new(client).is_ok() {
        return Err(Error::other("the server declares events").into());
    }
    client.list_tools().await?;
    Ok(())
}

fn print(event: &EventOccurrence) {
    println!("{}: {}", event.name, Value::Object(event.data.clone()));
}

//! The task that handles notifications: inbound layers, then an extension's handler or the client
//! itself.

use std::sync::{Arc, Weak};

use mcp_core::{BoxFuture, Call, Exchange, Reply, ResultBody, ServerNotification, catch_panic};
use mcp_types::{Message, RawObject};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::{Client, ClientInner};
use crate::notifications::QueuedNotification;

/// Spawns the task. It ends with the client.
pub(crate) fn spawn(client: &Client, mut queue: mpsc::Receiver<QueuedNotification>) {
    let client = Arc::downgrade(&client.inner);
    tokio::spawn(async move {
        while let Some(notification) = queue.recv().await {
            handle(&client, notification).await;
        }
    });
}

async fn handle(client: &Weak<ClientInner>, notification: QueuedNotification) {
    let Some(inner) = client.upgrade() else {
        return;
    };
    let layers = inner.inputs.layers.clone();
    let QueuedNotification { method, params } = notification;
    if layers.is_empty() {
        let handling = deliver(inner, method, params);
        return handling.await;
    }
    let exchange = Exchange::new(Call::Notification { method, params }, inner.facts());
    drop(inner);
    let client = client.clone();
    let endpoint = move |exchange: Exchange| -> BoxFuture<'static, Reply> {
        Box::pin(async move {
            if let (Call::Notification { method, params }, Some(inner)) =
                (exchange.call, client.upgrade())
            {
                deliver(inner, method, params).await;
            }
            ResultBody::Empty.into()
        })
    };
    if let Reply::Fault(error) = layers.run(exchange, endpoint).await {
        tracing::debug!(error = %mcp_types::escaped(&error), "a layer refused a notification of the server");
    }
}

/// Passes a notification to its handler, or to the client. It does not keep the client alive while a
/// handler runs.
async fn deliver(inner: Arc<ClientInner>, method: Box<str>, params: Option<RawObject>) {
    let Some(handler) = inner.notifications.handlers.0.get(&*method).cloned() else {
        return handle_core(&inner, &method, params.as_ref());
    };
    // Without inbound layers, its readers had it when it arrived.
    if !inner.inputs.layers.is_empty() && inner.events.has_readers() {
        inner.events.publish(&ServerNotification::Other {
            method: method.clone(),
            params: params.clone(),
        });
    }
    let asker = inner.asker();
    drop(inner);
    // The handler is called inside the block, so that a panic before its first await is caught.
    let handling = async { handler(params, asker).await };
    match catch_panic(handling).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::warn!(method = %mcp_types::escaped(&method), error = %mcp_types::escaped(&error), "the handler of a notification failed")
        }
        Err(_) => {
            tracing::error!(method = %mcp_types::escaped(&method), "the handler of a notification panicked")
        }
    }
}

/// Handles a protocol notification, as a layer has left it.
fn handle_core(inner: &ClientInner, method: &str, params: Option<&RawObject>) {
    #[derive(serde::Serialize)]
    struct Members<'a> {
        jsonrpc: &'static str,
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a RawObject>,
    }

    let members = Members {
        jsonrpc: "2.0",
        method,
        params,
    };
    let json = serde_json::value::to_raw_value(&members);
    let json = json.as_deref().map_or("", RawValue::get);
    if let Ok(Message::Notification(notification)) = Message::parse(json.as_bytes())
        && let Some(notification) = ServerNotification::decode(&notification, inner.version())
    {
        inner.handle_notification(notification);
    }
}

//! Subscriptions in a session: single resources are subscribed to, everything else is told anyway.

use std::pin::pin;

use futures_util::future::{Either, select};
use futures_util::stream;
use mcp_core::SessionRequest;
use mcp_types::{ListChangedCapability, ServerCapabilities, SubscribeParams, SubscriptionFilter};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::{Settings, Subscription};
use crate::call;
use crate::change::Change;
use crate::error::Kind;
use crate::options::Options;
use crate::{Client, Error};

// spec: SUB-14
pub(super) async fn subscribe(
    client: Client,
    asked: SubscriptionFilter,
    settings: Settings,
) -> Result<Subscription, Error> {
    let capabilities = client.server_capabilities().unwrap_or_default();
    let changes = client.inner.events.changes();
    let mut granted = lists(&asked, &capabilities);
    let mut watching = Watching {
        client,
        uris: Vec::new(),
    };
    if allows_subscribe(&capabilities) {
        for uri in &asked.resource_subscriptions {
            match watching.add(uri, &settings).await {
                Ok(()) => granted = granted.resource(uri),
                // The server does not tell of this one.
                Err(error) if error.fault().is_some() => {}
                Err(error) => return Err(error),
            }
        }
    }
    let telling = Telling {
        watching,
        granted: granted.clone(),
        changes,
        is_over: false,
    };
    let changes = stream::unfold(telling, |mut telling| async move {
        let next = telling.next().await?;
        Some((next, telling))
    });
    Ok(Subscription {
        asked,
        granted,
        changes: Box::pin(changes),
    })
}

fn allows_subscribe(capabilities: &ServerCapabilities) -> bool {
    let resources = capabilities.resources.as_ref();
    resources.is_some_and(|resources| resources.subscribe == Some(true))
}

/// The lists whose changes are wanted and announced.
fn lists(asked: &SubscriptionFilter, capabilities: &ServerCapabilities) -> SubscriptionFilter {
    let announces = |capability: &Option<ListChangedCapability>| {
        capability
            .as_ref()
            .is_some_and(|it| it.list_changed == Some(true))
    };
    let resources = capabilities.resources.as_ref();
    let mut granted = SubscriptionFilter::new();
    granted.tools_list_changed = asked.tools_list_changed && announces(&capabilities.tools);
    granted.prompts_list_changed = asked.prompts_list_changed && announces(&capabilities.prompts);
    granted.resources_list_changed = asked.resources_list_changed
        && resources.is_some_and(|resources| resources.list_changed == Some(true));
    granted
}

/// A subscription at work.
struct Telling {
    watching: Watching,
    granted: SubscriptionFilter,
    changes: broadcast::Receiver<Change>,
    is_over: bool,
}

impl Telling {
    async fn next(&mut self) -> Option<Result<Change, Error>> {
        if self.is_over {
            return None;
        }
        let missed = || Some(Ok(Change::Missed(self.granted.clone())));
        loop {
            let closed = pin!(self.watching.client.closed());
            match select(pin!(self.changes.recv()), closed).await {
                Either::Left((Ok(Change::Missed(_)) | Err(RecvError::Lagged(_)), _)) => {
                    return missed();
                }
                Either::Left((Ok(change), _)) if change.is_in(&self.granted) => {
                    return Some(Ok(change));
                }
                Either::Left((Ok(_), _)) => {}
                Either::Left((Err(RecvError::Closed), _)) => return None,
                Either::Right((reason, _)) => {
                    self.is_over = true;
                    return Some(Err(Kind::closed(reason).into()));
                }
            }
        }
    }
}

/// Resources that one subscription watches; dropping it lets go of them.
struct Watching {
    client: Client,
    uris: Vec<String>,
}

impl Watching {
    async fn add(&mut self, uri: &str, settings: &Settings) -> Result<(), Error> {
        self.uris.push(uri.to_owned());
        if !self.client.inner.watched.add(uri) {
            return Ok(());
        }
        let options = Options {
            idle: settings.timeout,
            headers: settings.headers.clone(),
            ..Options::default()
        };
        let asked = SessionRequest::Subscribe(SubscribeParams::new(uri)).into();
        let answer = call::run(&self.client, asked, options).await;
        if answer.is_err() {
            self.uris.pop();
            self.client.inner.watched.remove(uri);
        }
        answer.map(drop)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let inner = &self.client.inner;
        let uris = std::mem::take(&mut self.uris).into_iter();
        let unused: Vec<_> = uris.filter(|uri| inner.watched.remove(uri)).collect();
        let is_closed = inner.closing.reason().is_some();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if unused.is_empty() || is_closed {
            return;
        }
        let client = self.client.clone();
        runtime.spawn(async move {
            for uri in unused {
                let asked = SessionRequest::Unsubscribe(SubscribeParams::new(uri)).into();
                // A server that does not hear of it tells more than anybody wants to know.
                let _ = call::run(&client, asked, Options::default()).await;
            }
        });
    }
}

//! Sessions, message by message.

mod back_channel;
mod opening;
mod records;
mod requests;
mod subscriptions;

use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use futures_util::future::BoxFuture;
use mcp_types::ProtocolVersion::V2025_11_25;
use mcp_types::{
    ClientCapabilities, ExtraFields, Implementation, InitializeParams, Message, Notification,
    ProtocolVersion, Request, ServerCapabilities,
};

use crate::call::{Exchange, Service};
use crate::changes::{Changes, MemoryBus, Subscriber};
use crate::connection::ServerProfile;
use crate::legacy::session::{Session, SessionLimits};
use crate::message::{Reply, ResultBody, ServerNotification};

/// A server with changes.
struct Server {
    profile: Arc<ServerProfile>,
    bus: Arc<MemoryBus>,
}

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        self.profile.clone()
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        Box::pin(ready(ResultBody::Empty.into()))
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.bus.clone().into())
    }
}

fn server() -> Server {
    let mut offers = ServerCapabilities::default()
        .with_tools(true)
        .with_resources(false, true);
    offers.logging = Some(ExtraFields::default());
    server_with(offers)
}

fn server_with(offers: ServerCapabilities) -> Server {
    let mut profile = ServerProfile::new(Implementation::new("server", "1"));
    profile.capabilities = offers;
    profile.versions = ProtocolVersion::ALL.into();
    Server {
        profile: Arc::new(profile),
        bus: Arc::default(),
    }
}

fn initialize(version: &str) -> InitializeParams {
    let capabilities = ClientCapabilities::default().with_elicitation();
    let info = Implementation::new("client", "1");
    let mut params = InitializeParams::new(V2025_11_25, capabilities, info);
    params.protocol_version = version.to_owned();
    params
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self::new(Instant::now, None)
    }
}

fn opened_with(limits: SessionLimits) -> (Server, Arc<Session>) {
    let server = server();
    let params = initialize("2025-11-25");
    let (session, _) = Session::open(None, &params, &server, None, limits).unwrap();
    (server, Arc::new(session))
}

fn opened() -> (Server, Arc<Session>) {
    opened_with(SessionLimits::default())
}

fn request(text: &str) -> Request<'_> {
    match Message::parse(text.as_bytes()) {
        Ok(Message::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

fn note(text: &str) -> Notification<'_> {
    match Message::parse(text.as_bytes()) {
        Ok(Message::Notification(note)) => note,
        other => panic!("{other:?}"),
    }
}

const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn asks(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

fn poll_change(session: &Session) -> Poll<ServerNotification> {
    session.poll_change(
        &mut Context::from_waker(Waker::noop()),
        &Subscriber::default(),
    )
}

//! Connecting over a channel: checks the settings, creates the client, negotiates the version.

use std::borrow::Cow;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use http::header::AUTHORIZATION;
use mcp_core::close_signal::CloseSignal;
use mcp_core::extension::{Registration, find_problems};
use mcp_core::{Channel, ServerIdentity};
use mcp_types::meta::keys;
use mcp_types::{ClientCapabilities, Meta};
use parking_lot::{Mutex, RwLock};

use super::builder::ClientBuilder;
use super::negotiate::negotiate;
use crate::client::{
    Client, ClientInner, ConnectionState, ResourceSubscriptions, ServerInfo, notification_task,
};
use crate::error::{Error, ErrorKind};
use crate::inputs::first_invalid_root;
use crate::negotiation::{ConnectMode, ConnectPlan, Negotiation, ProbeMemory, Verdict};
use crate::notifications::{Events, NotificationQueue};
use crate::options::CallIds;
use crate::results::{Omissions, ToolIndex};
use crate::session;

/// Refuses metadata keys that the protocol sets.
fn check_meta(meta: &Meta) -> Result<(), ErrorKind> {
    let is_reserved = |key: &&str| meta.contains_key(*key);
    match keys::ENVELOPE.into_iter().find(is_reserved) {
        Some(key) => Err(ErrorKind::ReservedMeta(key)),
        None => Ok(()),
    }
}

/// Connects over a channel.
pub(crate) async fn open(
    mut builder: ClientBuilder,
    mut channel: impl Channel,
) -> Result<Client, Error> {
    #[cfg(feature = "auth")]
    let authorizer = builder
        .login
        .map(|login| login.applied(&channel.peer()))
        .transpose()?
        .flatten();
    if let Some(name) = builder.invalid_header {
        return Err(ErrorKind::Header(name).into());
    }
    check_meta(&builder.meta)?;
    if let Some(credentials) = builder.authorization {
        builder.headers.insert(AUTHORIZATION, credentials);
    }
    if !builder.headers.is_empty() {
        channel.set_headers(builder.headers);
    }
    let roots = builder.inputs.roots.as_ref();
    if let Some(uri) = roots.and_then(|roots| first_invalid_root(&roots.read())) {
        return Err(ErrorKind::Root(uri).into());
    }
    builder.profile.capabilities = builder.inputs.declare(builder.profile.capabilities);
    publish(&builder.extensions, &mut builder.profile.capabilities)?;
    builder.inputs.layers = builder.inbound_layers;
    let handlers = builder.notification_handlers;
    let (notifications, queue) = NotificationQueue::new(handlers, &builder.inputs.layers);
    let memory = ProbeMemory::current().with_file(builder.silence_file);
    let mode = match builder.mode {
        // spec: COMPAT-12
        ConnectMode::Auto if channel.is_pipe() && memory.skips_probe() => ConnectMode::Legacy,
        mode => mode,
    };
    let ConnectPlan {
        versions,
        verdict,
        negotiates,
    } = ConnectPlan::new(mode);
    let identity = channel.identity();
    let name = builder.server_name.as_deref().map(Cow::Borrowed);
    let omissions = Omissions::new(&name.unwrap_or_else(|| channel.peer()));
    let client = Client {
        inner: Arc::new(ClientInner {
            channel: Box::new(channel),
            profile: builder.profile,
            inputs: builder.inputs.for_new_client(),
            max_input_rounds: builder.max_input_rounds,
            timeouts: builder.timeouts,
            versions,
            state: RwLock::new(ConnectionState {
                version: verdict.version(),
                server: server_info(&verdict),
                log_level: builder.log_level,
                negotiation: Arc::new(Negotiation {
                    tried: Vec::new(),
                    verdict,
                }),
                session_number: 0,
            }),
            last_id: AtomicI64::new(0),
            call_ids: CallIds::default(),
            meta: builder.meta,
            closing: CloseSignal::default(),
            cache: builder.cache.unwrap_or_default(),
            identity: identity.unwrap_or_else(ServerIdentity::unique),
            principal: builder.principal.unwrap_or_else(unique_principal),
            events: Events::default(),
            omissions,
            tools: ToolIndex::new(builder.validator),
            probe_timeout: builder.probe_timeout,
            dispatcher: Mutex::default(),
            renewal: tokio::sync::Mutex::default(),
            resource_subscriptions: ResourceSubscriptions::default(),
            open_requests: Arc::default(),
            #[cfg(feature = "auth")]
            authorizer,
            layers: builder.layers,
            notifications,
            connection: OnceLock::new(),
            observed_session: Mutex::default(),
        }),
    };
    if let Some(queue) = queue {
        notification_task::spawn(&client, queue);
    }
    if negotiates {
        negotiate(&client, &memory).await?;
    } else {
        client.inner.channel.set_version(client.protocol_version());
    }
    let inner = &client.inner;
    // On a pipe, notifications of a call do not name it. A session has its dispatcher already.
    if inner.notifications.is_needed() && inner.channel.is_pipe() && inner.version().is_modern() {
        session::watch_notifications(&client);
    }
    Ok(client)
}

/// Adds the extension settings to the capabilities, and checks the extensions.
fn publish(
    extensions: &[Registration<ClientCapabilities>],
    capabilities: &mut ClientCapabilities,
) -> Result<(), Error> {
    let mut problems = Vec::new();
    for registration in extensions {
        let (id, settings) = registration.published();
        if capabilities.has_extension(&id) {
            let is_registered = |other: &&Registration<_>| other.id() == id;
            if extensions.iter().filter(is_registered).count() == 1 {
                problems.push(format!(
                    "the extension `{id}` is registered and declared by `capabilities`; remove one"
                ));
            }
        }
        capabilities.extensions.insert(id, settings);
    }
    problems.extend(find_problems(extensions, capabilities));
    if problems.is_empty() {
        Ok(())
    } else {
        Err(ErrorKind::Extensions(problems.join("; ")).into())
    }
}

/// Returns the server's description in an earlier verdict.
fn server_info(verdict: &Verdict) -> Option<Arc<ServerInfo>> {
    let Verdict::Modern { server, .. } = verdict else {
        return None;
    };
    let server = server.as_deref().cloned()?;
    Some(Arc::new(server.into()))
}

/// Returns a principal that no other client of this process has.
fn unique_principal() -> Box<str> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("n:{}", COUNT.fetch_add(1, Ordering::Relaxed)).into()
}

impl Client {
    /// Creates a builder with default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }
}

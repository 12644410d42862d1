//! Connections of the servers behind a gateway, and checks of their settings.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::ClientBuilder;
use mcp_client::group::Group;
use mcp_core::CallerKey;
use mcp_server::Broadcaster;
use mcp_types::is_tool_name;

use super::pinned::PinnedItems;
use crate::calls::parked::Parked;
use crate::calls::upstream::{Directory, Upstream};
use crate::calls::usage::Usage;
use crate::changes::Announcements;
use crate::error::GatewayError;
use crate::limits::limiter::UsedStates;
use crate::limits::quota::Quota;
use crate::sessions::broadcast::Broadcast;
use crate::sessions::pool::{ConnectShared, Sessions};
use crate::sessions::questions::Questions;
use crate::sessions::roots::{CallerRoots, RootsRequests};
use crate::settings::claims::check_claims;
use crate::settings::server::GatewayServer;

/// The parts that all servers share.
pub(crate) struct Setup {
    /// The gateway's settings as a client.
    pub(crate) client: ClientBuilder,
    pub(crate) group: Group,
    pub(crate) parked: Parked,
    pub(crate) used_states: UsedStates,
    pub(crate) announcements: Announcements,
    pub(crate) directory: Directory,
    /// The gateway's clients, for extension notifications.
    pub(crate) clients: Broadcaster,
    pub(crate) pins: Option<PinnedItems>,
    /// The maximum number of characters of a tool's name, unless the settings name the tool.
    pub(crate) max_tool_name: usize,
    /// The longest wait of the first lists for all servers. `None`: for those that start soon.
    pub(crate) first_list: Option<Duration>,
}

impl Setup {
    /// Returns the function that opens the session that calls share, and the server for routes.
    pub(crate) fn connect(&self, server: GatewayServer) -> (ConnectShared, Arc<Upstream>) {
        let broadcast = self.broadcast(&server);
        let roots = Arc::<RootsRequests>::default();
        let questions = Questions::new(broadcast.clone(), CallerRoots::Unknown, roots.clone());
        let questions = Arc::new(questions);
        let connect = self.connect_shared(&server, &questions);
        let sessions = Sessions::new(
            server.connect,
            self.client.clone().server_name(&server.name),
            server.settings.has_one_session,
            server.name.clone(),
            self.announcements.clone(),
            broadcast,
            roots,
        );
        let upstream = Arc::new(Upstream {
            server: server.name,
            group: self.group.clone(),
            questions,
            sessions,
            settings: server.settings,
            parked: self.parked.clone(),
            used_states: self.used_states.clone(),
            counters: Arc::default(),
            usage: Usage::new(),
            waiting: Quota::default(),
            clients: self.clients.clone(),
        });
        (connect, upstream)
    }

    /// Returns where the notifications of the shared session go. Without extensions, nowhere. Unless all callers share
    /// the session, it belongs to the anonymous callers.
    fn broadcast(&self, server: &GatewayServer) -> Option<Broadcast> {
        let extensions = server.settings.extensions.clone();
        let caller = (!server.settings.shares_sessions).then(CallerKey::default);
        (!extensions.is_empty()).then(|| Broadcast::new(extensions, self.clients.clone(), caller))
    }

    /// Returns the function that opens the shared session. With [`GatewayServer::one_session`], it declares every
    /// capability that a client of the gateway may have.
    fn connect_shared(&self, server: &GatewayServer, questions: &Arc<Questions>) -> ConnectShared {
        let client = self.client.clone().server_name(&server.name);
        let client = client.inbound_layer(questions.layer());
        let client = if server.settings.has_one_session {
            client.capabilities(Questions::capabilities())
        } else {
            client
        };
        // Needed to subscribe to tasks, and for notifications that belong to no call.
        let mut client = client.tasks();
        for id in server.settings.extensions.ids() {
            client = client.extension((id, ()));
        }
        let (connect, questions) = (server.connect.clone(), questions.clone());
        Arc::new(move || {
            let (connecting, questions) = (connect(client.clone()), questions.clone());
            Box::pin(async move {
                let client = connecting.await?;
                questions.open(!client.is_pipe());
                Ok(client)
            })
        })
    }
}

/// Checks prefixes, exact names, sessions and extensions.
///
/// # Errors
///
/// Returns a [`GatewayError`] for the first invalid or duplicate one.
pub(crate) fn check_settings(servers: &[GatewayServer]) -> Result<(), GatewayError> {
    let extensions = servers.iter();
    check_claims(extensions.map(|server| (&server.name, &*server.settings.extensions)))?;
    check_names(servers)
}

fn check_names(servers: &[GatewayServer]) -> Result<(), GatewayError> {
    let mut taken: HashMap<&str, (&Arc<str>, &str)> = HashMap::new();
    for server in servers {
        if server.settings.shares_sessions && server.settings.caller_tokens.is_some() {
            let server = server.name.clone();
            return Err(GatewayError::SharedSession { server });
        }
        let invalid = |name: &str| GatewayError::InvalidName {
            server: server.name.clone(),
            name: name.to_owned(),
        };
        if let Some(prefix) = &server.settings.prefix
            && !(prefix.is_empty() || is_tool_name(prefix))
        {
            return Err(invalid(prefix));
        }
        for (own, name) in server.settings.renamed() {
            if !is_tool_name(name) {
                return Err(invalid(name));
            }
            if let Some((first_server, first)) = taken.insert(name, (&server.name, own)) {
                return Err(GatewayError::NameTaken {
                    name: name.to_owned(),
                    first_server: first_server.clone(),
                    first: first.to_owned(),
                    second_server: server.name.clone(),
                    second: own.to_owned(),
                });
            }
        }
    }
    Ok(())
}

//! Notifications of both sides.

use crate::message::{ClientNotification, ServerNotification};
use mcp_types::{Cancelled, ElicitationComplete, LogMessage, ProgressUpdate, RequestId};
use proptest::option::of;
use proptest::prelude::*;

use super::basics::{Range, id, number, raw_object, text, token, uri, value};
use super::calls::{filter, level};

fn progress() -> BoxedStrategy<ProgressUpdate> {
    (number(), of(number()), of(text()))
        .prop_map(|(progress, total, message)| {
            let mut it = ProgressUpdate::new(progress);
            (it.total, it.message) = (total, message);
            it
        })
        .boxed()
}

fn cancelled(range: Range) -> BoxedStrategy<Cancelled> {
    let nobody = match range {
        Range::Shared => Just(false).boxed(),
        Range::All => any::<bool>().boxed(),
    };
    (id(), nobody, of(text()))
        .prop_map(|(id, nobody, reason)| {
            let mut it = Cancelled::from(id);
            it.reason = reason;
            if nobody {
                it.request_id = None;
            }
            it
        })
        .boxed()
}

/// A notification of a server, and the subscription that it may belong to.
pub(crate) fn server_note(range: Range) -> BoxedStrategy<(ServerNotification, Option<RequestId>)> {
    let note = prop_oneof![
        (token(), progress())
            .prop_map(|(token, progress)| ServerNotification::Progress { token, progress }),
        (level(), value(), of(text())).prop_map(|(level, data, logger)| {
            let mut message = LogMessage::new(level, data);
            message.logger = logger;
            ServerNotification::Log(message)
        }),
        cancelled(range).prop_map(ServerNotification::Cancelled),
        Just(ServerNotification::ToolsChanged),
        Just(ServerNotification::PromptsChanged),
        Just(ServerNotification::ResourcesChanged),
        uri().prop_map(|uri| ServerNotification::ResourceUpdated { uri }),
        filter().prop_map(ServerNotification::Acknowledged),
        text()
            .prop_map(|id| ServerNotification::ElicitationComplete(ElicitationComplete::from(id))),
    ];
    (note, of(id()), any::<bool>())
        .prop_map(|(note, subscription, same)| match note {
            // The notification that names the subscription itself.
            ServerNotification::Cancelled(mut it) if same && it.request_id.is_some() => {
                it.request_id.clone_from(&subscription);
                (ServerNotification::Cancelled(it), subscription)
            }
            note => (note, subscription),
        })
        .boxed()
}

/// A notification of a client.
pub(crate) fn client_note(range: Range) -> BoxedStrategy<ClientNotification> {
    prop_oneof![
        Just(ClientNotification::Initialized),
        Just(ClientNotification::RootsChanged),
        cancelled(range).prop_map(ClientNotification::Cancelled),
        (token(), progress())
            .prop_map(|(token, progress)| ClientNotification::Progress { token, progress }),
        of(raw_object()).prop_map(|params| ClientNotification::Other {
            method: "notifications/com.example/x".into(),
            params: params.filter(|params| params.as_str() != "{}"),
        }),
    ]
    .boxed()
}

//! What both sides tell.

use mcp_core::{ClientNote, ServerNote};
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
            let mut it = Cancelled::new(id);
            it.reason = reason;
            if nobody {
                it.request_id = None;
            }
            it
        })
        .boxed()
}

/// What a server tells, and the subscription that it may belong to.
pub(crate) fn server_note(range: Range) -> BoxedStrategy<(ServerNote, Option<RequestId>)> {
    let note = prop_oneof![
        (token(), progress())
            .prop_map(|(token, progress)| ServerNote::Progress { token, progress }),
        (level(), value(), of(text())).prop_map(|(level, data, logger)| {
            let mut message = LogMessage::new(level, data);
            message.logger = logger;
            ServerNote::Log(message)
        }),
        cancelled(range).prop_map(ServerNote::Cancelled),
        Just(ServerNote::ToolsChanged),
        Just(ServerNote::PromptsChanged),
        Just(ServerNote::ResourcesChanged),
        uri().prop_map(|uri| ServerNote::ResourceUpdated { uri }),
        filter().prop_map(ServerNote::Acknowledged),
        text().prop_map(|id| ServerNote::ElicitationComplete(ElicitationComplete::new(id))),
    ];
    (note, of(id()), any::<bool>())
        .prop_map(|(note, subscription, same)| match note {
            // The one note that names the subscription itself.
            ServerNote::Cancelled(mut it) if same && it.request_id.is_some() => {
                it.request_id.clone_from(&subscription);
                (ServerNote::Cancelled(it), subscription)
            }
            note => (note, subscription),
        })
        .boxed()
}

/// What a client tells.
pub(crate) fn client_note(range: Range) -> BoxedStrategy<ClientNote> {
    prop_oneof![
        Just(ClientNote::Initialized),
        Just(ClientNote::RootsChanged),
        cancelled(range).prop_map(ClientNote::Cancelled),
        (token(), progress())
            .prop_map(|(token, progress)| ClientNote::Progress { token, progress }),
        of(raw_object()).prop_map(|params| ClientNote::Other {
            method: "notifications/com.example/x".into(),
            params: params.filter(|it| it.as_str() != "{}"),
        }),
    ]
    .boxed()
}

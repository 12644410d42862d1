//! Opening: `initialize`, revisions, and limits of the client info.

use std::sync::Arc;

use mcp_types::ProtocolVersion::{V2024_11_05, V2025_03_26, V2025_11_25, V2026_07_28};
use mcp_types::{InitializeParams, RawObject};

use super::{initialize, server};
use crate::connection::ClientContext;
use crate::legacy::session::{Session, SessionLimits};
use crate::message::{Fault, Reply, ResultBody};
use crate::store::SessionRecord;

// spec: LIFE-02, LIFE-07
#[test]
fn session_has_the_requested_or_the_newest_revision() {
    for (requested, expected) in [
        ("2024-11-05", V2024_11_05),
        ("2025-03-26", V2025_03_26),
        ("2025-11-25", V2025_11_25),
        ("2026-07-28", V2025_11_25),
        ("never", V2025_11_25),
    ] {
        let (session, reply) = Session::open(
            None,
            &initialize(requested),
            &server(),
            None,
            SessionLimits::default(),
        )
        .unwrap();
        assert_eq!(session.version(), expected);
        let Reply::Complete {
            body: ResultBody::Initialize(result),
            ..
        } = reply
        else {
            panic!("{reply:?}")
        };
        assert_eq!(result.protocol_version, expected.as_str());
        assert_eq!(result.server_info.name, "server");
        assert!(result.capabilities.tools.is_some());
        assert_eq!(session.facts().client_info().unwrap().name, "client");
    }
}

#[test]
fn modern_server_refuses_initialize_with_its_revisions() {
    let mut server = server();
    Arc::make_mut(&mut server.profile).versions = vec![V2026_07_28];
    let params = initialize("2025-11-25");
    let fault = Session::open(None, &params, &server, None, SessionLimits::default()).unwrap_err();
    assert!(matches!(fault, Fault::UnsupportedVersion { .. }), "{fault}");
}

/// Returns the parameters of a client whose identity and capabilities have `bytes` bytes together.
fn initialize_with_bytes(bytes: usize) -> InitializeParams {
    let mut params = initialize("2025-11-25");
    let size = |params: &InitializeParams| {
        let info = serde_json::to_string(&params.client_info).unwrap();
        info.len() + serde_json::to_string(&params.capabilities).unwrap().len()
    };
    params.client_info.name.clear();
    params.client_info.name = "n".repeat(bytes - size(&params));
    assert_eq!(size(&params), bytes);
    params
}

#[test]
fn client_above_its_limits_is_refused() {
    let open = |params: &InitializeParams| {
        let opened = Session::open(None, params, &server(), None, SessionLimits::default());
        opened.map(|(session, _)| session.record())
    };
    let largest = open(&initialize_with_bytes(ClientContext::MAX_BYTES)).unwrap();
    let mut wide = initialize("2025-11-25");
    for index in 0..ClientContext::MAX_VALUES {
        let name = format!("x{index}");
        wide.capabilities.experimental.insert(name, true);
    }
    let mut long = initialize("2025-11-25");
    let text = "t".repeat(4 << 20);
    long.capabilities.experimental.insert("x", text);
    let above = initialize_with_bytes(ClientContext::MAX_BYTES + 1);
    for params in [&above, &wide, &long] {
        let fault = open(params).unwrap_err();
        assert!(matches!(fault, Fault::BadParams { .. }), "{fault}");
    }
    for (params, expected) in [(&above, "16385"), (&wide, "259")] {
        let fault = open(params).unwrap_err().to_string();
        assert!(fault.contains(expected), "{fault}");
    }

    // A record of a store has the same limits.
    let text = serde_json::to_string(&largest).unwrap();
    let restored: SessionRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(restored, largest);
    let mut record = largest;
    record.client_info = RawObject::from_value(&above.client_info).ok();
    let text = serde_json::to_string(&record).unwrap();
    let error = serde_json::from_str::<SessionRecord>(&text).unwrap_err();
    assert!(error.to_string().contains("16385"), "{error}");
    record.client_info = None;
    record.capabilities = wide.capabilities;
    let text = serde_json::to_string(&record).unwrap();
    assert!(serde_json::from_str::<SessionRecord>(&text).is_err());
}

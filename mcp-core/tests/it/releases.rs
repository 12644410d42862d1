//! The revisions of each release. A patch release never negotiates an older revision than the release
//! before it, with any peer.

use std::sync::Arc;
use std::time::Instant;

use mcp_core::legacy::{Session, SessionLimits};
use mcp_core::versioning::newest_common;
use mcp_core::{BoxFuture, Exchange, Fault, Reply, ResultBody, ServerProfile, Service};
use mcp_types::ProtocolVersion::{
    self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28,
};
use mcp_types::{ClientCapabilities, Implementation, InitializeParams};

/// A release and the revisions that it supports, newest first.
type Release = (&'static str, &'static [ProtocolVersion]);

/// All releases, oldest first. A new release gets a new row; rows of published releases never change.
const RELEASES: [Release; 1] = [(
    "0.1.0",
    &[
        V2026_07_28,
        V2025_11_25,
        V2025_06_18,
        V2025_03_26,
        V2024_11_05,
    ],
)];

/// A server that offers the revisions.
struct Server(Vec<ProtocolVersion>);

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        let info = Implementation::new("server", "1");
        let mut profile = ServerProfile::new(info);
        profile.versions.clone_from(&self.0);
        Arc::new(profile)
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        Box::pin(async { Fault::Internal("not called".into()).into() })
    }
}

/// The part of a version that a patch release keeps.
fn series(version: &str) -> &str {
    version.rsplit_once('.').unwrap().0
}

/// The revision of the session that a server opens for a client.
fn session(server: &[ProtocolVersion], requested: ProtocolVersion) -> Option<ProtocolVersion> {
    let info = Implementation::new("client", "1");
    let params = InitializeParams::new(requested, ClientCapabilities::default(), info);
    let server = Server(server.to_vec());
    let limits = SessionLimits::new(Instant::now, None);
    let opened = Session::open(None, &params, &server, None, limits);
    match opened.ok()?.1 {
        Reply::Complete {
            body: ResultBody::Initialize(result),
            ..
        } => Some(result.protocol_version.parse().unwrap()),
        other => panic!("{other:?}"),
    }
}

/// Every set of revisions that a peer can support.
fn peers() -> impl Iterator<Item = Vec<ProtocolVersion>> {
    let all = ProtocolVersion::ALL;
    (0..1_usize << all.len()).map(move |set| {
        let members = all.iter().enumerate();
        members
            .filter(|(at, _)| set & (1 << at) != 0)
            .map(|(_, version)| *version)
            .collect()
    })
}

/// Returns the peers with which `new` negotiates an older revision than `old`.
fn regressions(old: &[ProtocolVersion], new: &[ProtocolVersion]) -> Vec<Vec<ProtocolVersion>> {
    let negotiated = |ours: &[ProtocolVersion], peer: &[ProtocolVersion]| {
        let names: Vec<&str> = peer.iter().map(|version| version.as_str()).collect();
        // Without a common modern revision, the newest common one with sessions.
        let shared = peer.iter().filter(|version| ours.contains(version)).max();
        newest_common(&names, ours).or(shared.copied())
    };
    let is_older = |peer: &Vec<ProtocolVersion>| negotiated(new, peer) < negotiated(old, peer);
    peers().filter(is_older).collect()
}

#[test]
fn last_release_is_this_one_with_all_revisions() {
    let (version, revisions) = RELEASES[RELEASES.len() - 1];
    assert_eq!(
        version,
        env!("CARGO_PKG_VERSION"),
        "add a row for the release"
    );
    assert_eq!(revisions, ProtocolVersion::ALL);
}

#[test]
fn patch_release_never_negotiates_an_older_revision() {
    for (at, (new, revisions)) in RELEASES.iter().enumerate() {
        let before = RELEASES[..at].iter();
        for (old, before) in before.filter(|(old, _)| series(old) == series(new)) {
            assert!(regressions(before, revisions).is_empty(), "{old} to {new}");
            for requested in ProtocolVersion::ALL {
                let (then, now) = (session(before, requested), session(revisions, requested));
                assert!(now >= then, "{old} to {new}, a client of {requested}");
            }
        }
    }
}

#[test]
fn removed_revision_is_a_regression_and_an_added_one_is_not() {
    let old = [V2025_06_18, V2026_07_28];
    assert_eq!(
        regressions(&old, &ProtocolVersion::ALL),
        Vec::<Vec<_>>::new()
    );
    let removed = regressions(&old, &[V2025_06_18]);
    assert!(removed.contains(&vec![V2026_07_28, V2025_06_18]));
    assert!(!removed.contains(&vec![V2025_06_18]));
    assert_eq!(session(&old, V2026_07_28), Some(V2025_06_18));
}

//! Selection of the revision that two sides have in common.

use std::borrow::Cow;

use mcp_types::{ProtocolVersion, Request};

use crate::message::Fault;

/// Checks that the server offers the revision of a legacy request without a session.
///
/// # Errors
///
/// Returns [`Fault::UnsupportedVersion`] when the server does not offer the revision.
// spec: HTTP-SL-14, COMPAT-06
pub(crate) fn check_stateless(
    versions: &[ProtocolVersion],
    requested: ProtocolVersion,
) -> Result<(), Fault> {
    if versions.contains(&requested) {
        return Ok(());
    }
    Err(Fault::UnsupportedVersion {
        requested: requested.as_str().into(),
        supported: versions.iter().map(ToString::to_string).collect(),
    })
}

/// Returns the modern revision that a request names, if the server offers it.
///
/// # Errors
///
/// Returns [`Fault::UnsupportedVersion`] when the server does not offer the revision.
// spec: VER-02, VER-03
pub(crate) fn check_offered(
    versions: &[ProtocolVersion],
    requested: &str,
) -> Result<ProtocolVersion, Fault> {
    let known = requested.parse::<ProtocolVersion>().ok();
    known
        .filter(|version| version.is_modern() && versions.contains(version))
        .ok_or_else(|| Fault::UnsupportedVersion {
            requested: requested.into(),
            supported: versions.iter().map(ToString::to_string).collect(),
        })
}

/// Returns the newest modern revision that a server names and a client supports.
// spec: VER-04
pub fn newest_common(
    supported: &[impl AsRef<str>],
    ours: &[ProtocolVersion],
) -> Option<ProtocolVersion> {
    supported
        .iter()
        .filter_map(|name| name.as_ref().parse().ok())
        .filter(|version: &ProtocolVersion| version.is_modern() && ours.contains(version))
        .max()
}

/// Returns the revision of a new session: the requested one, if it is offered and has sessions, or
/// the newest offered one with sessions.
// spec: LIFE-07
pub(crate) fn session_version(
    versions: &[ProtocolVersion],
    requested: &str,
) -> Option<ProtocolVersion> {
    let mut sessions = versions.iter().filter(|version| !version.is_modern());
    let wanted = requested.parse::<ProtocolVersion>().ok();
    let newest = sessions.clone().max();
    sessions
        .find(|version| Some(**version) == wanted)
        .or(newest)
        .copied()
}

/// Returns the error of a server without sessions for a legacy request, such as `initialize`. The
/// error lists the server's modern revisions. `header` is the version in the HTTP header.
// spec: COMPAT-04, COMPAT-06, GAP-17
pub(crate) fn unsupported_legacy(
    request: &Request<'_>,
    header: Option<&str>,
    versions: &[ProtocolVersion],
) -> Fault {
    // The parameter of `initialize`. Other requests have the header only.
    let requested: Option<Cow<'_, str>> = request.params.optional("protocolVersion").ok().flatten();
    let modern = versions.iter().filter(|version| version.is_modern());
    Fault::UnsupportedVersion {
        requested: requested.as_deref().or(header).unwrap_or("none").into(),
        supported: modern.map(ToString::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::ProtocolVersion::{self, V2025_11_25, V2026_07_28};
    use mcp_types::{Message, codes};

    use super::{check_offered, newest_common, session_version, unsupported_legacy};
    use crate::message::Fault;

    // spec: VER-02
    #[test]
    fn check_offered_accepts_offered_modern_revisions() {
        let both = [V2026_07_28, V2025_11_25];
        assert_eq!(check_offered(&both, "2026-07-28"), Ok(V2026_07_28));
        for (versions, requested) in [
            (&both[..], "v999.0.0"),
            (&both, "2025-11-25"),
            (&[], "2026-07-28"),
        ] {
            let Err(Fault::UnsupportedVersion {
                requested: echoed,
                supported,
            }) = check_offered(versions, requested)
            else {
                panic!("{requested}")
            };
            assert_eq!(&*echoed, requested);
            assert_eq!(supported.len(), versions.len());
        }
    }

    #[test]
    fn unsupported_legacy_lists_the_modern_revisions() {
        for (params, named, requested) in [
            (r#"{"protocolVersion":"2025-11-25"}"#, None, "2025-11-25"),
            ("{}", Some("2025-06-18"), "2025-06-18"),
            ("{}", None, "none"),
        ] {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
            let Ok(Message::Request(request)) = Message::parse(text.as_bytes()) else {
                panic!()
            };
            let fault = unsupported_legacy(&request, named, &[V2026_07_28, V2025_11_25]);
            let error = fault.to_error(ProtocolVersion::LATEST);
            assert_eq!(error.code, codes::UNSUPPORTED_PROTOCOL_VERSION);
            let data = error.data.unwrap().get().to_owned();
            assert_eq!(
                data,
                format!(r#"{{"supported":["2026-07-28"],"requested":"{requested}"}}"#)
            );
        }
    }

    // spec: LIFE-07
    #[test]
    fn session_version_is_the_requested_or_the_newest() {
        use ProtocolVersion::{V2024_11_05, V2025_06_18};
        let all = ProtocolVersion::ALL;
        for (versions, requested, expected) in [
            (&all[..], "2025-06-18", Some(V2025_06_18)),
            (&all, "2024-11-05", Some(V2024_11_05)),
            (&all, "2026-07-28", Some(V2025_11_25)),
            (&all, "1.0", Some(V2025_11_25)),
            (&[V2024_11_05, V2025_06_18], "2025-11-25", Some(V2025_06_18)),
            (&[V2026_07_28], "2025-11-25", None),
            (&[], "2025-11-25", None),
        ] {
            assert_eq!(
                session_version(versions, requested),
                expected,
                "{requested}"
            );
        }
    }

    #[test]
    fn newest_common_ignores_legacy_and_unknown_revisions() {
        let all = ProtocolVersion::ALL;
        assert_eq!(
            newest_common(&["2025-11-25", "2026-07-28", "2030-01-01"], &all),
            Some(V2026_07_28)
        );
        assert_eq!(newest_common(&["2025-11-25"], &all), None);
        assert_eq!(newest_common(&["2026-07-28"], &[V2025_11_25]), None);
        assert_eq!(newest_common(&[] as &[&str], &all), None);
    }
}

//! Which revision two sides have in common.

use mcp_types::ProtocolVersion;

use crate::Fault;

/// The modern revision that a request names, when the server offers it.
///
/// # Errors
///
/// [`Fault::UnsupportedVersion`], with the text of the request and everything that is offered.
// spec: VER-02, VER-03
pub fn offered(versions: &[ProtocolVersion], requested: &str) -> Result<ProtocolVersion, Fault> {
    let known = requested.parse::<ProtocolVersion>().ok();
    known
        .filter(|version| version.is_modern() && versions.contains(version))
        .ok_or_else(|| Fault::UnsupportedVersion {
            requested: requested.into(),
            supported: versions.iter().map(ToString::to_string).collect(),
        })
}

/// The newest modern revision among those that a server names and a client speaks.
// spec: VER-04
pub fn mutual(
    supported: &[impl AsRef<str>],
    spoken: &[ProtocolVersion],
) -> Option<ProtocolVersion> {
    supported
        .iter()
        .filter_map(|name| name.as_ref().parse().ok())
        .filter(|version: &ProtocolVersion| version.is_modern() && spoken.contains(version))
        .max()
}

#[cfg(test)]
mod tests {
    use mcp_types::ProtocolVersion::{self, V2025_11_25, V2026_07_28};

    use super::{mutual, offered};
    use crate::Fault;

    #[test]
    fn only_modern_revisions_that_are_offered() {
        let both = [V2026_07_28, V2025_11_25];
        assert_eq!(offered(&both, "2026-07-28"), Ok(V2026_07_28));
        for (versions, requested) in [
            (&both[..], "v999.0.0"),
            (&both, "2025-11-25"),
            (&[], "2026-07-28"),
        ] {
            let Err(Fault::UnsupportedVersion {
                requested: echoed,
                supported,
            }) = offered(versions, requested)
            else {
                panic!("{requested}")
            };
            assert_eq!(&*echoed, requested);
            assert_eq!(supported.len(), versions.len());
        }
    }

    #[test]
    fn newest_in_common() {
        let all = ProtocolVersion::ALL;
        assert_eq!(
            mutual(&["2025-11-25", "2026-07-28", "2030-01-01"], &all),
            Some(V2026_07_28)
        );
        assert_eq!(mutual(&["2025-11-25"], &all), None);
        assert_eq!(mutual(&["2026-07-28"], &[V2025_11_25]), None);
        assert_eq!(mutual(&[] as &[&str], &all), None);
    }
}

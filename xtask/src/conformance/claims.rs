//! The scenarios that this project claims to pass, read from `claims.txt`, and the checks in them that are
//! still open. The command reports an open check that succeeds, so that it can be removed from its claim.

use std::fmt;

use crate::result::Result;

/// The revision of a scenario without a claim.
pub(super) const NEWEST: &str = "2026-07-28";

const TABLE: &str = include_str!("claims.txt");

/// The side of the protocol that is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    Server,
    Client,
}

impl fmt::Display for Leg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Server => "server",
            Self::Client => "client",
        })
    }
}

/// A scenario that has to pass.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) leg: Leg,
    pub(super) revision: String,
    pub(super) scenario: String,
    /// Minimum number of successful checks, so that a scenario without checks does not pass.
    pub(super) successes: usize,
    /// The scenario of an extension, which the suite runs at no revision by itself.
    pub(super) is_extension: bool,
    /// The checks that need not succeed yet: their ids, or their names if several have the same id.
    pub(super) open: &'static [&'static str],
}

/// 2026-07-28 has no such messages.
const HEADERS_OPEN: &[&str] = &[
    "ClientMcpMethodHeader_initialize",
    "ClientMcpMethodHeader_notifications_initialized",
];

/// Returns all claims.
///
/// # Errors
///
/// Returns an error if a line of the table cannot be read.
pub(super) fn all() -> Result<Vec<Claim>> {
    let mut lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let heading = lines.next().ok_or("the table of claims is empty")?;
    let revisions: Vec<&str> = heading.split_whitespace().skip(2).collect();
    let mut claims = Vec::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let (Some(side), Some(scenario)) = (words.next(), words.next()) else {
            return Err(format!("{line:?} is not a claim").into());
        };
        let leg = match side.trim_end_matches('+') {
            "server" => Leg::Server,
            "client" => Leg::Client,
            other => return Err(format!("{other:?} is not a side").into()),
        };
        for (revision, successes) in revisions.iter().zip(words).filter(|(_, word)| *word != "-") {
            claims.push(Claim {
                leg,
                revision: (*revision).to_owned(),
                scenario: scenario.to_owned(),
                successes: successes.parse()?,
                is_extension: side.ends_with('+'),
                open: match scenario {
                    "http-standard-headers" => HEADERS_OPEN,
                    _ => &[],
                },
            });
        }
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::all;

    #[test]
    fn claims_are_unique_and_require_successes() {
        let mut seen = HashSet::new();
        for claim in all().unwrap() {
            assert!(claim.successes > 0, "{}", claim.scenario);
            assert!(seen.insert((claim.leg.to_string(), claim.revision, claim.scenario)));
        }
        assert_eq!(seen.len(), 189);
    }
}

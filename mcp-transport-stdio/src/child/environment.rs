//! Which variables a server gets without being given them.

use std::ffi::{OsStr, OsString};

/// Without these hardly a program works, and none of them holds a secret.
#[cfg(not(windows))]
const SAFE: &[&str] = &[
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
    "USER",
];
/// Without these hardly a program works, and none of them holds a secret.
#[cfg(windows)]
const SAFE: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// The variables that every server gets. Functions that a shell has put among them are left out:
/// they are code.
// spec: STDIO-18
pub(super) fn safe(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    variables.filter(|(key, value)| is_safe(key) && !value.to_string_lossy().starts_with("()"))
}

fn is_safe(key: &OsStr) -> bool {
    let same = |safe: &&str| match cfg!(windows) {
        true => key.eq_ignore_ascii_case(safe),
        false => key == *safe,
    };
    SAFE.iter().any(same)
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn secrets_and_functions_stay_here() {
        let given = [
            ("PATH", "/bin"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("HOME", "() { evil; }"),
            ("PATHS", "y"),
        ];
        let given = given.map(|(key, value)| (key.into(), value.into()));
        let safe: Vec<_> = safe(given.into_iter()).collect();
        assert_eq!(safe, [("PATH".into(), "/bin".into())]);
    }
}

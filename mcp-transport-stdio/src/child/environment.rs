//! The environment variables that every server inherits.

use std::ffi::{OsStr, OsString};

/// Variables that most programs need and that contain no secrets.
#[cfg(not(windows))]
const INHERITED: &[&str] = &[
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
    "USER",
];
/// Variables that most programs need and that contain no secrets.
#[cfg(windows)]
const INHERITED: &[&str] = &[
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

/// Returns the variables that every server inherits. Exported shell functions (values that start
/// with `()`) are excluded because they are code.
// spec: STDIO-18
pub(super) fn inherited(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    variables.filter(|(key, value)| is_inherited(key) && !value.to_string_lossy().starts_with("()"))
}

fn is_inherited(key: &OsStr) -> bool {
    let is_same = |name: &&str| {
        if cfg!(windows) {
            key.eq_ignore_ascii_case(name)
        } else {
            key == *name
        }
    };
    INHERITED.iter().any(is_same)
}

#[cfg(test)]
mod tests {
    use super::inherited;

    #[test]
    fn inherited_excludes_secrets_and_functions() {
        let given = [
            ("PATH", "/bin"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("HOME", "() { evil; }"),
            ("PATHS", "y"),
        ];
        let given = given.map(|(key, value)| (key.into(), value.into()));
        let inherited: Vec<_> = inherited(given.into_iter()).collect();
        assert_eq!(inherited, [("PATH".into(), "/bin".into())]);
    }
}

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

/// Certificates and exceptions of a company network. Most programs read the variable of a proxy in both cases.
const NETWORK: &[&str] = &[
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "no_proxy",
];

/// Variables with the URL of a proxy, which may contain a password.
const PROXIES: &[&str] = &[
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
];

/// Returns the variables that every server inherits. Exported shell functions (values that start
/// with `()`) are excluded because they are code, and the URLs of [`withheld`] proxies because they contain a secret.
// spec: STDIO-18
pub(super) fn inherited(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    variables.filter(|(key, value)| {
        let is_listed = [INHERITED, NETWORK, PROXIES]
            .iter()
            .any(|names| is_one_of(key, names));
        is_listed && !value.to_string_lossy().starts_with("()") && !is_withheld(key, value)
    })
}

/// Returns the variables of proxies whose URL contains a user or a password.
pub(super) fn withheld(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = OsString> {
    variables.filter_map(|(key, value)| is_withheld(&key, &value).then_some(key))
}

fn is_withheld(key: &OsStr, value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let authority = value.split_once("://").map_or(&*value, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next();
    is_one_of(key, PROXIES) && authority.is_some_and(|authority| authority.contains('@'))
}

fn is_one_of(key: &OsStr, names: &[&str]) -> bool {
    names.iter().any(|name| {
        if cfg!(windows) {
            key.eq_ignore_ascii_case(name)
        } else {
            key == *name
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{inherited, withheld};

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
    #[test]
    fn proxies_and_certificates_are_inherited_without_passwords() {
        let given = [
            ("HTTPS_PROXY", "http://proxy.example:3128/a@b"),
            ("http_proxy", "proxy.example:3128"),
            ("https_proxy", "http://ada:secret@proxy.example:3128"),
            ("ALL_PROXY", "token@proxy.example"),
            ("NO_PROXY", "localhost,.corp.example"),
            ("SSL_CERT_FILE", "/etc/ssl/a@b.pem"),
            ("NODE_EXTRA_CA_CERTS", "/etc/ssl/corp.pem"),
        ];
        let given = || {
            let given = given.into_iter();
            given.map(|(key, value)| (key.into(), value.into()))
        };
        let inherited: Vec<_> = inherited(given()).map(|(key, _)| key).collect();
        let expected = [
            "HTTPS_PROXY",
            "http_proxy",
            "NO_PROXY",
            "SSL_CERT_FILE",
            "NODE_EXTRA_CA_CERTS",
        ];
        assert_eq!(inherited, expected);
        let withheld: Vec<_> = withheld(given()).collect();
        assert_eq!(withheld, ["https_proxy", "ALL_PROXY"]);
    }
}

//! Server entries in the settings of each host.

use mcp::types::truncate;
use serde_json::{Map, Value, json};

use super::Host;

/// A variable or a header is a secret if its name contains one of these words.
const SECRETS: [&str; 8] = [
    "auth",
    "cookie",
    "credential",
    "key",
    "password",
    "secret",
    "session",
    "token",
];

/// A way to reach a server: a program to start, or a URL. Values of variables and headers may refer to environment variables as `${NAME}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Launch {
    Program {
        command: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
    },
    Url {
        url: String,
        headers: Vec<(String, String)>,
    },
}

/// A server entry: its members in the order of the settings file.
pub(crate) type Entry = Vec<(&'static str, Value)>;

/// Returns an entry as one JSON object.
pub(crate) fn to_value(entry: &Entry) -> Value {
    let members = entry.iter();
    let members = members.map(|(name, value)| ((*name).to_owned(), value.clone()));
    Value::Object(members.collect())
}

/// Returns true if a variable or a header with this name usually contains a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|word| name.contains(word))
}

/// Returns the first name in the arguments whose value usually is a secret: `--api-key VALUE`, `--api-key=VALUE`, `API_KEY=VALUE`,
/// `Authorization: VALUE`, `?api_key=VALUE`. References to variables are not values.
pub(crate) fn secret_argument(args: &[String]) -> Option<&str> {
    let next = args.iter().skip(1).map(Some).chain([None]);
    args.iter().zip(next).find_map(|(arg, next)| {
        let mut names = named_values(arg);
        if let Some(name) = names.find_map(|(name, value)| is_plain_secret(name, value)) {
            return Some(name);
        }
        let name = arg.strip_prefix('-').filter(|name| !name.contains('='))?;
        let value = next.filter(|next| !next.starts_with('-'))?;
        is_plain_secret(name.trim_start_matches('-'), value)
    })
}

/// Finds each `NAME=VALUE` and `NAME: VALUE` in a text.
fn named_values(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(['=', ':'])
        .filter_map(move |(at, sign)| {
            let (before, after) = (&text[..at], &text[at + 1..]);
            let value = if sign == "=" {
                after
            } else {
                after.strip_prefix(' ')?
            };
            let start = before.trim_end_matches(is_name).len();
            Some((before[start..].trim_start_matches('-'), value))
        })
}

/// Returns the name if its value looks like a secret.
fn is_plain_secret<'a>(name: &'a str, value: &str) -> Option<&'a str> {
    /// Ends of names whose values say where a secret is, what kind it has, or something else.
    const HARMLESS: [&str; 12] = [
        "author", "dir", "env", "file", "folder", "id", "mode", "name", "path", "store", "type",
        "url",
    ];
    let lower = name.to_ascii_lowercase();
    let is_flag = matches!(value, "" | "true" | "false") || value.parse::<f64>().is_ok();
    let is_harmless =
        is_flag || value.contains("${") || HARMLESS.iter().any(|end| lower.ends_with(end));
    (is_secret(name) && !is_harmless).then_some(name)
}

impl Launch {
    /// Returns the start of a text in whose place a host could put a variable or a file: `$NAME`, `${…}`, `{env:…}`,
    /// `{file:…}`, on Windows also `%NAME%` for a program, which a host can start by its command line. No host has an escape for it.
    pub(crate) fn expanded(&self) -> Option<&str> {
        let (first, args, values) = match self {
            Self::Program { command, args, env } => (command, args.as_slice(), env),
            Self::Url { url, headers } => (url, &[][..], headers),
        };
        // Some hosts replace references in the whole file, and so in names.
        let values = values.iter().flat_map(|(name, value)| [name, value]);
        let mut texts = [first].into_iter().chain(args).chain(values);
        let is_percent = cfg!(windows) && matches!(self, Self::Program { .. });
        texts.find_map(|text| expanded(text, is_percent))
    }
}

/// `is_percent`: `%NAME%` is a variable.
fn expanded(text: &str, is_percent: bool) -> Option<&str> {
    let is_name = |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || "_{(".contains(c));
    let mut dollars = text.match_indices('$').map(|(at, _)| at);
    let dollar = dollars.find(|at| is_name(&text[at + 1..]));
    let braces = text.match_indices('{').map(|(at, _)| at);
    let mut braces = braces.filter(|at| {
        let rest = text[at + 1..].trim_start().to_ascii_lowercase();
        ["env:", "file:", "input:"]
            .iter()
            .any(|start| rest.starts_with(start))
    });
    let mut percents = text.match_indices('%').map(|(at, _)| at);
    let percent = percents.find(|at| {
        let name = text[at + 1..].split_once('%').map(|(name, _)| name);
        is_percent
            && name.is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace))
    });
    let at = [dollar, braces.next(), percent]
        .into_iter()
        .flatten()
        .min()?;
    Some(truncate(&text[at..], 40))
}

impl Host {
    /// Creates the server `name`'s entry.
    ///
    /// # Errors
    ///
    /// Returns a message if the path of this program is unknown.
    pub(crate) fn entry(self, name: &str, launch: &Launch) -> Result<Entry, String> {
        match (self, launch) {
            (Self::Codex, _) => Ok(self.codex(launch)),
            (Self::Goose, _) => Ok(self.goose(name, launch)),
            // Claude Desktop only starts programs: `mcp proxy` connects it to the URL.
            (Self::ClaudeDesktop, Launch::Url { url, headers }) => {
                let mut args = vec!["proxy".to_owned(), url.clone()];
                for (name, value) in headers {
                    args.push("--header".to_owned());
                    args.push(format!("{name}: {}", self.rendered(value)));
                }
                let program = std::env::current_exe().map_err(|error| error.to_string())?;
                Ok(vec![("command", json!(program)), ("args", json!(args))])
            }
            (_, Launch::Program { command, args, env }) => {
                let mut entry = self.typed(0);
                if self == Self::Opencode {
                    let words: Vec<_> = [command].into_iter().chain(args).collect();
                    entry.push(("command", json!(words)));
                    self.push_values(&mut entry, "environment", env);
                } else {
                    entry.push(("command", json!(command)));
                    entry.push(("args", json!(args)));
                    self.push_values(&mut entry, "env", env);
                }
                Ok(self.enabled(entry))
            }
            (_, Launch::Url { url, headers }) => {
                let mut entry = self.typed(1);
                entry.push((self.row().url, json!(url)));
                self.push_values(&mut entry, "headers", headers);
                Ok(self.enabled(entry))
            }
        }
    }

    /// Creates an entry with the member `type` of a program (0) or of a URL (1), or an empty one for hosts without it.
    fn typed(self, kind: usize) -> Entry {
        let mut entry = Entry::new();
        push(&mut entry, "type", self.row().types[kind]);
        entry
    }

    /// Adds what the host needs to offer the server's tools.
    fn enabled(self, mut entry: Entry) -> Entry {
        match self {
            Self::CopilotCli => entry.push(("tools", json!(["*"]))),
            Self::Opencode => entry.push(("enabled", json!(true))),
            _ => {}
        }
        entry
    }

    fn push_values(self, entry: &mut Entry, member: &'static str, values: &[(String, String)]) {
        let values = values.iter();
        let rendered = values.map(|(name, value)| (name.as_str(), self.rendered(value)));
        push(entry, member, rendered.collect::<Value>());
    }

    /// Adds the variables with values, and the names of those that the host passes on (`NAME=${NAME}`).
    fn push_env(self, entry: &mut Entry, members: [&'static str; 2], env: &[(String, String)]) {
        let is_passed = |(name, value): &(String, String)| whole_reference(value) == Some(name);
        let (passed, set): (Vec<_>, Vec<_>) = env.iter().cloned().partition(is_passed);
        self.push_values(entry, members[0], &set);
        let names = passed.into_iter().map(|(name, _)| name);
        push(entry, members[1], names.collect::<Value>());
    }

    /// Rewrites the references in a value to the host's syntax, or to placeholders that the user replaces.
    fn rendered(self, value: &str) -> String {
        let mut out = String::new();
        let mut rest = value;
        while let Some((before, variable, after)) = split_reference(rest) {
            out.push_str(before);
            match self.row().reference {
                "" => out.push_str(&placeholder(variable)),
                start => out.push_str(&format!("{start}{variable}}}")),
            }
            rest = after;
        }
        out + rest
    }

    fn codex(self, launch: &Launch) -> Entry {
        match launch {
            Launch::Program { command, args, env } => {
                let mut entry = vec![("command", json!(command)), ("args", json!(args))];
                self.push_env(&mut entry, ["env", "env_vars"], env);
                entry
            }
            Launch::Url { url, headers } => {
                let mut entry = vec![("url", json!(url))];
                let (mut set, mut named) = (Map::new(), Map::new());
                for (name, value) in headers {
                    let is_token = name.eq_ignore_ascii_case("authorization");
                    let token = value.strip_prefix("Bearer ").and_then(whole_reference);
                    if let Some(variable) = token.filter(|_| is_token) {
                        entry.push(("bearer_token_env_var", json!(variable)));
                    } else if let Some(variable) = whole_reference(value) {
                        named.insert(name.clone(), variable.into());
                    } else {
                        set.insert(name.clone(), self.rendered(value).into());
                    }
                }
                push(&mut entry, "http_headers", set);
                push(&mut entry, "env_http_headers", named);
                entry
            }
        }
    }

    fn goose(self, name: &str, launch: &Launch) -> Entry {
        let mut entry = vec![("enabled", json!(true)), ("name", json!(name))];
        match launch {
            Launch::Program { command, args, env } => {
                entry.push(("type", json!("stdio")));
                entry.push(("cmd", json!(command)));
                entry.push(("args", json!(args)));
                self.push_env(&mut entry, ["envs", "env_keys"], env);
            }
            Launch::Url { url, headers } => {
                entry.push(("type", json!("streamable_http")));
                entry.push(("uri", json!(url)));
                // Goose expands references to the variables that `env_keys` lists.
                let set = headers.iter().cloned();
                push(&mut entry, "headers", set.collect::<Value>());
                push(&mut entry, "env_keys", variables(launch));
            }
        }
        entry.push(("timeout", json!(300)));
        entry
    }
}

/// Adds a member, but for an empty text, list or object.
fn push(entry: &mut Entry, member: &'static str, value: impl Into<Value>) {
    let value = value.into();
    if ![json!(""), json!([]), json!({})].contains(&value) {
        entry.push((member, value));
    }
}

/// Returns the text in place of the value of a variable, for hosts that cannot refer to it.
pub(crate) fn placeholder(variable: &str) -> String {
    format!("<{variable}>")
}

/// Returns the names of the variables that the values refer to.
pub(crate) fn variables(launch: &Launch) -> Vec<String> {
    let (Launch::Program { env: values, .. }
    | Launch::Url {
        headers: values, ..
    }) = launch;
    let mut found = Vec::new();
    for (_, value) in values {
        let mut rest = value.as_str();
        while let Some((_, variable, after)) = split_reference(rest) {
            if !found.iter().any(|known| known == variable) {
                found.push(variable.to_owned());
            }
            rest = after;
        }
    }
    found
}

/// Splits at the first `${NAME}`.
fn split_reference(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (variable, after) = rest.split_once('}')?;
    Some((before, variable, after))
}

/// Returns NAME if the text is `${NAME}`.
fn whole_reference(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    (!name.contains('}')).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Host;
    use super::{Launch, expanded, is_secret, secret_argument, to_value};

    #[test]
    fn arguments_that_contain_a_secret_are_found() {
        for (words, expected) in [
            ("--api-key sk-123", Some("api-key")),
            ("-token sk-123", Some("token")),
            ("--all --token=abc", Some("token")),
            ("run --Password x", Some("Password")),
            ("run -e API_KEY=sk-123 image", Some("API_KEY")),
            ("API_KEY=sk-123", Some("API_KEY")),
            ("https://a.example/?b=1&api_key=sk-123", Some("api_key")),
            ("--token ${TOKEN} --header=Cookie=${A}", None),
            ("--token", None),
            ("--token --all", None),
            ("--token=", None),
            (
                "--key-file a.pem --key-file=a.pem b --token-env TOKEN",
                None,
            ),
            ("--max-tokens 4096 --session-timeout=2.5 --auth true", None),
            ("--author Ada -v /a/key:/key", None),
            ("--level debug -v", None),
            ("", None),
        ] {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            assert_eq!(secret_argument(&words), expected, "{words:?}");
        }
        for (word, expected) in [
            ("Authorization: Bearer sk-123", Some("Authorization")),
            ("--header=X-Api-Key: sk-123", Some("X-Api-Key")),
            ("Authorization: Bearer ${TOKEN}", None),
            ("--sort=key:desc", None),
        ] {
            assert_eq!(secret_argument(&[word.to_owned()]), expected, "{word}");
        }
    }

    #[test]
    fn texts_that_a_host_could_expand_are_found() {
        for (text, expected) in [
            ("http://a/?x=$KEY", Some("$KEY")),
            ("${KEY}", Some("${KEY}")),
            ("a ${env:KEY}", Some("${env:KEY}")),
            ("${file:~/.ssh/id_rsa}", Some("${file:~/.ssh/id_rsa}")),
            ("${input:key}", Some("${input:key}")),
            ("{env:KEY}", Some("{env:KEY}")),
            ("x{file:/etc/passwd} $A", Some("{file:/etc/passwd} $A")),
            ("{ ENV:KEY}", Some("{ ENV:KEY}")),
            ("$(id)", Some("$(id)")),
            ("$_A", Some("$_A")),
            ("costs 5$, or $5", None),
            ("{\"a\": {\"b\": 1}}", None),
            ("env:KEY", None),
            ("", None),
        ] {
            for is_percent in [false, true] {
                assert_eq!(expanded(text, is_percent), expected, "{text}");
            }
        }
        for (text, expected) in [
            ("a %KEY%", Some("%KEY%")),
            (
                "100% of %ProgramFiles(x86)%\\a",
                Some("%ProgramFiles(x86)%\\a"),
            ),
            ("%KEY:~0,4%", Some("%KEY:~0,4%")),
            ("100% or 50 %", None),
            ("%%", None),
        ] {
            assert_eq!(expanded(text, true), expected, "{text}");
            assert_eq!(expanded(text, false), None, "{text}");
        }
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = list
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        owned.collect()
    }

    fn entry(host: Host, launch: &Launch) -> Result<Value, String> {
        host.entry("shop", launch).map(|entry| to_value(&entry))
    }

    #[test]
    fn programs_are_written_as_each_host_reads_them() {
        let launch = Launch::Program {
            command: "/bin/shop".to_owned(),
            args: vec!["--fast".to_owned()],
            env: pairs(&[("SHOP_KEY", "${SHOP_KEY}"), ("LEVEL", "debug")]),
        };
        let env = |key: &str| json!({"SHOP_KEY": key, "LEVEL": "debug"});
        let plain =
            |key: &str| json!({"command": "/bin/shop", "args": ["--fast"], "env": env(key)});
        let typed = |kind: &str, key: &str| {
            let mut value = plain(key);
            value["type"] = kind.into();
            value
        };
        for (host, expected) in [
            (Host::ClaudeCode, typed("stdio", "${SHOP_KEY}")),
            (Host::Cursor, plain("${env:SHOP_KEY}")),
            (Host::Vscode, typed("stdio", "${env:SHOP_KEY}")),
            (Host::GeminiCli, plain("${SHOP_KEY}")),
            (
                Host::Opencode,
                json!({"type": "local", "command": ["/bin/shop", "--fast"], "environment": env("{env:SHOP_KEY}"), "enabled": true}),
            ),
            (
                Host::Codex,
                json!({"command": "/bin/shop", "args": ["--fast"], "env": {"LEVEL": "debug"}, "env_vars": ["SHOP_KEY"]}),
            ),
            (
                Host::Goose,
                json!({"enabled": true, "name": "shop", "type": "stdio", "cmd": "/bin/shop", "args": ["--fast"], "envs": {"LEVEL": "debug"}, "env_keys": ["SHOP_KEY"], "timeout": 300}),
            ),
        ] {
            assert_eq!(entry(host, &launch), Ok(expected), "{host:?}");
        }
        for host in [Host::ClaudeDesktop, Host::Cline, Host::Zed] {
            assert_eq!(entry(host, &launch), Ok(plain("<SHOP_KEY>")), "{host:?}");
        }
    }

    #[test]
    fn urls_are_written_as_each_host_reads_them() {
        let launch = Launch::Url {
            url: "https://shop.example/mcp".to_owned(),
            headers: pairs(&[("Authorization", "Bearer ${SHOP_TOKEN}")]),
        };
        let url = "https://shop.example/mcp";
        for (host, expected) in [
            (
                Host::ClaudeCode,
                json!({"type": "http", "url": url, "headers": {"Authorization": "Bearer ${SHOP_TOKEN}"}}),
            ),
            (
                Host::GeminiCli,
                json!({"httpUrl": url, "headers": {"Authorization": "Bearer ${SHOP_TOKEN}"}}),
            ),
            (
                Host::Windsurf,
                json!({"serverUrl": url, "headers": {"Authorization": "Bearer ${env:SHOP_TOKEN}"}}),
            ),
            (
                Host::CopilotCli,
                json!({"type": "http", "url": url, "headers": {"Authorization": "Bearer ${SHOP_TOKEN}"}, "tools": ["*"]}),
            ),
            (
                Host::Codex,
                json!({"url": url, "bearer_token_env_var": "SHOP_TOKEN"}),
            ),
        ] {
            assert_eq!(entry(host, &launch), Ok(expected), "{host:?}");
        }
        let open = Launch::Url {
            url: url.to_owned(),
            headers: Vec::new(),
        };
        let desktop = entry(Host::ClaudeDesktop, &open).unwrap();
        assert_eq!(desktop["args"], json!(["proxy", url]));
    }

    #[test]
    fn text_around_references_is_kept() {
        let launch = |value: &str| Launch::Url {
            url: "https://shop.example/mcp".to_owned(),
            headers: pairs(&[("Authorization", value)]),
        };
        let gemini = entry(Host::GeminiCli, &launch("${USER_ID}_${KEY}x")).unwrap();
        assert_eq!(gemini["headers"]["Authorization"], "${USER_ID}_${KEY}x");
        let codex = entry(Host::Codex, &launch("Bearer ${ID}:${KEY}")).unwrap();
        assert_eq!(codex["http_headers"]["Authorization"], "Bearer <ID>:<KEY>");
        let goose = entry(Host::Goose, &launch("Bearer ${ID}:${KEY}")).unwrap();
        assert_eq!(goose["headers"]["Authorization"], "Bearer ${ID}:${KEY}");
        assert_eq!(goose["env_keys"], json!(["ID", "KEY"]));
    }

    #[test]
    fn secret_names_are_recognized() {
        for name in [
            "API_KEY",
            "github_token",
            "Authorization",
            "X-Api-Key",
            "DB_PASSWORD",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["LEVEL", "X-Team", "RUST_LOG"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}

//! Configuration files in the three dialects.

use super::{
    ConfigError, EntryError, EntryOAuth, GroupConfig, PendingCommand, ServerSpec, Variables,
};

fn variables() -> Variables {
    Variables::new()
        .env("TOKEN", "hunter2")
        .set("userHome", "/home/ada")
        .set("workspaceFolder", "/src")
        .set("input:key", "k")
}

fn command(name: &str, args: &[&str], env: &[(&str, &str)]) -> ServerSpec {
    ServerSpec::Command {
        command: name.to_owned(),
        args: args.iter().map(ToString::to_string).collect(),
        env: env
            .iter()
            .map(|(a, b)| (a.to_string(), b.to_string()))
            .collect(),
        env_file: None,
        cwd: None,
    }
}

fn url(url: &str, headers: &[(&str, &str)]) -> ServerSpec {
    let headers = headers.iter();
    ServerSpec::http(url, headers.map(|(a, b)| (a.to_string(), b.to_string())))
}

fn specs(text: &str) -> Vec<(String, bool, Result<ServerSpec, EntryError>)> {
    let config = GroupConfig::parse(text, &variables()).unwrap();
    let servers = config.servers.into_iter();
    servers
        .map(|entry| (entry.name, entry.is_disabled, entry.spec))
        .collect()
}

#[test]
fn claude_file_is_parsed() {
    let text = r#"{"mcpServers": {
        "files": {"command": "npx", "args": ["-y", "files", "${HOME_DIR:-/tmp}"], "env": {"KEY": "${TOKEN}", "N": 3, "NONE": null}},
        "far": {"type": "http", "url": "https://${HOST:-example.com}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "off": {"command": "x", "disabled": true}
    }}"#;
    assert_eq!(
        specs(text),
        [
            (
                "files".to_owned(),
                false,
                Ok(command(
                    "npx",
                    &["-y", "files", "/tmp"],
                    &[("KEY", "hunter2"), ("N", "3")]
                ))
            ),
            (
                "far".to_owned(),
                false,
                Ok(url(
                    "https://example.com/mcp",
                    &[("Authorization", "Bearer hunter2")]
                ))
            ),
            ("off".to_owned(), true, Ok(command("x", &[], &[]))),
        ]
    );
}

#[test]
fn vs_code_file_is_parsed() {
    let text = r#"{
        // A user enters it once.
        "inputs": [
            {"type": "promptString", "id": "key", "description": "Key", "password": true},
            {"type": "promptString", "id": "region", "default": "eu"},
        ],
        "servers": {
            "a": {"type": "stdio", "command": "${workspaceFolder}/run", "args": ["${input:key}", "${input:region}"], "env": {"T": "${env:TOKEN}"}},
            "b": {"type": "sse", "url": "https://b.example/"}, /* old */
        },
    }"#;
    assert_eq!(
        specs(text),
        [
            (
                "a".to_owned(),
                false,
                Ok(command("/src/run", &["k", "eu"], &[("T", "hunter2")]))
            ),
            ("b".to_owned(), false, Ok(url("https://b.example/", &[]))),
        ]
    );
}

#[test]
fn cursor_file_is_parsed() {
    let text = r#"{"mcpServers": {
        "a": {"url": "https://a.example/${env:TOKEN}", "enabled": false},
        "b": {"command": "b", "envFile": "${userHome}/.env", "cwd": "${workspaceFolder}"}
    }}"#;
    let found = specs(text);
    assert!(found[0].1);
    assert_eq!(found[0].2, Ok(url("https://a.example/hunter2", &[])));
    let Ok(ServerSpec::Command { env_file, cwd, .. }) = &found[1].2 else {
        panic!()
    };
    assert_eq!(env_file.as_deref(), Some("/home/ada/.env"));
    assert_eq!(cwd.as_deref(), Some("/src"));
}

#[test]
fn invalid_entry_does_not_affect_others() {
    let text = r#"{"servers": {
        "none": {}, "odd": {"type": "carrier-pigeon"}, "no-url": {"type": "http", "command": "x"},
        "missing": {"command": "${nobody:knows}"}, "shape": {"command": 7}, "text": 7,
        "env": {"command": "x", "env": {"A": []}}, "": {"command": "x"}, "open": {"command": "a${b $ c"}
    }}"#;
    let found: Vec<_> = specs(text).into_iter().map(|(_, _, spec)| spec).collect();
    assert_eq!(found[0], Err(EntryError::NoTarget));
    assert_eq!(
        found[1],
        Err(EntryError::UnknownType("carrier-pigeon".to_owned()))
    );
    assert_eq!(found[2], Err(EntryError::NoTarget));
    assert_eq!(
        found[3],
        Err(EntryError::NoValue("nobody:knows".to_owned()))
    );
    for malformed in &found[4..8] {
        assert!(
            matches!(malformed, Err(EntryError::Malformed(_))),
            "{malformed:?}"
        );
    }
    assert_eq!(found[8], Ok(command("a${b $ c", &[], &[])));
    let parse = |text: &str| GroupConfig::parse(text, &variables());
    assert!(matches!(parse("{}"), Err(ConfigError::NoServers)));
    assert!(matches!(parse("[]"), Err(ConfigError::Json(_))));
}

#[test]
fn debug_omits_secrets() {
    let text = r#"{"servers": {
        "a": {"command": "x", "args": ["--token=${TOKEN}"], "env": {"K": "${TOKEN}"}},
        "b": {"url": "https://b/?key=${TOKEN}", "headers": {"X": "${TOKEN}"}},
        "c": {"command": "x --token=${TOKEN}"}
    }}"#;
    let config = GroupConfig::parse(text, &variables()).unwrap();
    let pending = PendingCommand {
        file: None,
        server: "c".into(),
        command: "x --token=hunter2".to_owned(),
        args: vec!["hunter2".to_owned()],
        env: vec![("T".to_owned(), "hunter2".to_owned())],
        cwd: None,
    };
    let shown = format!("{config:?} {:?} {pending:?}", variables());
    assert!(
        !shown.contains("hunter2") && shown.contains("\"K\""),
        "{shown}"
    );
}

#[test]
fn files_from_further_hosts_are_parsed() {
    for (text, expected) in [
        // Gemini CLI and Qwen Code.
        (
            r#"{"mcp": {"allowed": ["a"]}, "mcpServers": {
                "a": {"httpUrl": "https://a.example/mcp", "url": "https://a.example/sse", "headers": {"X": "1"}}
            }}"#,
            url("https://a.example/mcp", &[("X", "1")]),
        ),
        // opencode.
        (
            r#"{"mcp": {
                "timeout": 5,
                "a": {"type": "local", "command": ["npx", "-y", "a"], "environment": {"K": "1"}, "enabled": true}
            }}"#,
            command("npx", &["-y", "a"], &[("K", "1")]),
        ),
        (
            r#"{"mcp": {"a": {"type": "remote", "url": "https://a.example/"}}}"#,
            url("https://a.example/", &[]),
        ),
        (
            r#"{"mcp": {"servers": {"a": {"type": "local", "command": ["a"]}}}}"#,
            command("a", &[], &[]),
        ),
        // Zed.
        (
            r#"{"context_servers": {"a": {"source": "custom", "command": "a", "args": ["b"], "env": {}}}}"#,
            command("a", &["b"], &[]),
        ),
        (
            r#"{"context_servers": {"a": {"command": {"path": "a", "args": ["b"], "env": {"K": "1"}}}}}"#,
            command("a", &["b"], &[("K", "1")]),
        ),
        // Copilot CLI and Cline.
        (
            r#"{"mcpServers": {"a": {"type": "local", "command": "a", "args": [], "tools": ["*"]}}}"#,
            command("a", &[], &[]),
        ),
        (
            r#"{"mcpServers": {"a": {"type": "streamableHttp", "url": "https://a.example/", "disabled": false}}}"#,
            url("https://a.example/", &[]),
        ),
    ] {
        assert_eq!(
            specs(text),
            [("a".to_owned(), false, Ok(expected))],
            "{text}"
        );
    }
    let parse = |text: &str| GroupConfig::parse(text, &variables());
    for text in [
        r#"{"mcp": {"allowed": ["a"]}}"#,
        r#"{"mcp": true}"#,
        r#"{"theme": "One Dark"}"#,
    ] {
        assert!(matches!(parse(text), Err(ConfigError::NoServers)), "{text}");
    }
}

#[test]
fn variables_that_a_server_gets_are_named() {
    let text = r#"{"servers": {
        "a": {"command": "${userHome}/x", "args": ["${env:TOKEN}", "${TOKEN}", "$HOME"], "env": {"K": "${input:key}"},
              "note": "${OTHER}"},
        "b": {"url": "https://b/${env:TOKEN}", "headers": {"X": "a ${REGION:-eu} ${open"}},
        "c": {"command": "c", "env": []}
    }}"#;
    let config = GroupConfig::parse(text, &variables()).unwrap();
    let found: Vec<_> = config
        .servers
        .iter()
        .map(|entry| &*entry.variables)
        .collect();
    assert_eq!(found[0], ["userHome", "TOKEN", "input:key"]);
    assert_eq!(found[1], ["TOKEN", "REGION"]);
    assert!(found[2].is_empty());
}

#[test]
fn extensions_in_an_entry_are_parsed() {
    let text = r#"{"mcpServers": {"shop": {
        "command": "shop", "extensions": {"com.example/budget": ["budget/*", "budgets/list"]}
    }}}"#;
    let config = GroupConfig::parse(text, &variables()).unwrap();
    let extensions = &config.servers[0].extensions;
    assert_eq!(
        extensions["com.example/budget"],
        ["budget/*", "budgets/list"]
    );
    let text = r#"{"mcpServers": {"shop": {"command": "shop", "extensions": ["budget"]}}}"#;
    let config = GroupConfig::parse(text, &variables()).unwrap();
    assert!(matches!(
        config.servers[0].spec,
        Err(EntryError::Malformed(_))
    ));
}

#[test]
fn registration_in_an_entry_is_read_as_hosts_write_it() {
    let registration = |id: &str, secret: Option<&str>, scopes: &[&str]| EntryOAuth {
        client_id: Some(id.to_owned()),
        client_secret: secret.map(str::to_owned),
        scopes: scopes.iter().map(ToString::to_string).collect(),
        ..EntryOAuth::default()
    };
    let at = |uri: &str| EntryOAuth {
        redirect_uri: Some(uri.to_owned()),
        ..EntryOAuth::default()
    };
    let full = EntryOAuth {
        auth_method: Some("client_secret_post".to_owned()),
        issuer: Some("https://login.example".to_owned()),
        resource: Some("api://a".to_owned()),
        omit_resource: true,
        allow_missing_pkce: Some("https://login.example".to_owned()),
        account: Some("ada".to_owned()),
        ..at("http://localhost:7777/oauth/callback")
    };
    let ignored =
        |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
    for (member, expected, ignored) in [
        (
            r#""oauth": {"clientId": "a", "clientSecret": "${TOKEN}", "scopes": ["r", "w"]}"#,
            Some(registration("a", Some("hunter2"), &["r", "w"])),
            vec![],
        ),
        (
            r#""oauth": {"clientId": "a", "scopes": "r  w", "callbackHost": "h"}"#,
            Some(registration("a", None, &["r", "w"])),
            ignored(&["oauth.callbackHost"]),
        ),
        (
            r#""oauth": {"callbackPort": 7}"#,
            Some(at("http://localhost:7/callback")),
            vec![],
        ),
        (
            r#""oauth": {"redirectUri": "http://localhost:7777/oauth/callback", "issuer": "https://login.example",
                "resource": "api://a", "omitResource": true, "allowMissingPkce": "https://login.example",
                "account": "ada", "tokenEndpointAuthMethod": "client_secret_post"}"#,
            Some(full.clone()),
            vec![],
        ),
        (
            r#""oauth": {"redirect_uri": "http://localhost:7777/oauth/callback", "issuer": "https://login.example",
                "resource": "api://a", "omit_resource": true, "allow_missing_pkce": "https://login.example",
                "account": "ada", "token_endpoint_auth_method": "client_secret_post"}"#,
            Some(full),
            vec![],
        ),
        (
            r#""oauth": {"client_id": "a", "client_secret": "s", "scope": "r"}"#,
            Some(registration("a", Some("s"), &["r"])),
            vec![],
        ),
        (
            r#""auth": {"CLIENT_ID": "a", "CLIENT_SECRET": "s", "scopes": ["r"]}"#,
            Some(registration("a", Some("s"), &["r"])),
            vec![],
        ),
        (
            r#""oauth": {"enabled": false, "clientId": "a"}, "timeout": 3"#,
            None,
            ignored(&["timeout"]),
        ),
        (r#""oauth": false"#, None, vec![]),
        (r#""auth": "oauth""#, None, ignored(&["auth"])),
    ] {
        let text =
            format!(r#"{{"mcpServers": {{"a": {{"url": "https://a.example/", {member}}}}}}}"#);
        let entry = GroupConfig::parse(&text, &variables())
            .unwrap()
            .servers
            .remove(0);
        let Ok(ServerSpec::Url { oauth, .. }) = &entry.spec else {
            panic!("{member}: {:?}", entry.spec);
        };
        assert_eq!((oauth, &entry.ignored), (&expected, &ignored), "{member}");
        let has_variable = member.contains("${TOKEN}");
        assert_eq!(entry.variables.contains(&"TOKEN".to_owned()), has_variable);
        assert!(!format!("{entry:?}").contains("hunter2"));
    }
}

#[test]
fn members_for_the_other_server_kind_are_reported() {
    let text = r#"{"mcpServers": {
        "a": {"url": "https://a.example/", "env": {"A": "1"}, "cwd": "/", "disabled": true},
        "b": {"command": "b", "headers": {"A": "1"}, "oauth": {"clientId": "a"}, "trust": true},
        "c": {"command": "c", "headers": {}, "type": "stdio"}
    }}"#;
    let config = GroupConfig::parse(text, &variables()).unwrap();
    let ignored = config.servers.into_iter().map(|entry| entry.ignored);
    let expected = [
        vec!["env", "cwd"],
        vec!["trust", "headers", "oauth"],
        vec![],
    ];
    assert_eq!(ignored.collect::<Vec<_>>(), expected);
    let malformed =
        r#"{"mcpServers": {"a": {"url": "https://a.example/", "oauth": {"clientId": 7}}}}"#;
    let malformed = specs(malformed).remove(0).2;
    assert!(
        matches!(malformed, Err(EntryError::Malformed(_))),
        "{malformed:?}"
    );
}

#[test]
fn variants_for_an_entry_have_one_meaning() {
    let npx = command("npx", &["-y", "8080"], &[("K", "1")]);
    let far = url("https://a.example/", &[("X", "1")]);
    for (entry, expected) in [
        (
            r#"{"command": "npx", "args": ["-y", 8080], "env": {"K": 1}}"#,
            &npx,
        ),
        (
            r#"{"command": ["npx", "-y", 8080], "args": null, "environment": {"K": "1"}, "env": null}"#,
            &npx,
        ),
        (
            r#"{"type": "STDIO", "command": "npx", "args": ["-y", "8080"], "env": {"K": "1"}, "url": null, "headers": null}"#,
            &npx,
        ),
        (
            r#"{"transport": {"type": "stdio", "command": "npx", "args": ["-y", "8080"]}, "env": {"K": "1"}}"#,
            &npx,
        ),
        (
            r#"{"command": {"path": "npx", "args": ["-y", 8080], "env": {"K": "1"}}, "env": []}"#,
            &npx,
        ),
        (
            r#"{"type": "streamable_http", "url": "https://a.example/", "headers": {"X": 1}}"#,
            &far,
        ),
        (
            r#"{"type": "HTTP", "url": "https://a.example/", "headers": {"X": "1"}, "command": "", "cwd": ""}"#,
            &far,
        ),
        (
            r#"{"transport": "streamable-http", "url": "https://a.example/", "headers": {"X": "1"}}"#,
            &far,
        ),
        (
            r#"{"transport": {"type": "http", "url": "https://a.example/", "headers": {"X": "1"}}, "disabled": null}"#,
            &far,
        ),
        (
            r#"{"url": null, "serverUrl": "https://a.example/", "headers": {"X": "1"}, "type": null}"#,
            &far,
        ),
    ] {
        let text = format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#);
        let found = specs(&text).remove(0).2;
        assert_eq!(found.as_ref(), Ok(expected), "{entry}");
    }
}

#[test]
fn file_with_a_broken_part_is_still_read() {
    let input = |input: &str, value: &str| {
        let text = format!(
            r#"{{"inputs": {input}, "servers": {{"a": {{"command": "a"}}, "b": {{"command": "{value}"}}}}}}"#
        );
        let mut found = specs(&text);
        assert_eq!(found[0].2, Ok(command("a", &[], &[])), "{input}");
        found.remove(1).2
    };
    let port = r#"[{"id": "port", "default": 8080}]"#;
    assert_eq!(input(port, "${input:port}"), Ok(command("8080", &[], &[])));
    for broken in [
        "null",
        "7",
        "[7, null]",
        r#"[{"default": "x"}]"#,
        r#"[{"id": "port", "default": {}}]"#,
    ] {
        let reason = EntryError::NoValue("input:port".to_owned());
        assert_eq!(input(broken, "${input:port}"), Err(reason), "{broken}");
    }
    for (entry, reason) in [
        (
            r#"{"command": "a", "args": "-y"}"#,
            "`args` must be a list of strings",
        ),
        (
            r#"{"command": "a", "args": [{}]}"#,
            "`args` must be a list of strings",
        ),
        (
            r#"{"command": "a", "env": ["K=1"]}"#,
            "`env` must be an object",
        ),
        (r#"{"command": 7}"#, "`command` must be a string"),
        (
            r#"{"url": ["https://a.example/"]}"#,
            "`url` must be a string",
        ),
        ("7", "it must be an object with `command` or `url`"),
        ("null", "it must be an object with `command` or `url`"),
    ] {
        let text = format!(r#"{{"mcpServers": {{"bad": {entry}, "a": {{"command": "a"}}}}}}"#);
        let found = specs(&text);
        let expected = EntryError::Malformed(reason.to_owned());
        assert_eq!(found[0].2, Err(expected), "{entry}");
        assert_eq!(found[1].2, Ok(command("a", &[], &[])), "{entry}");
    }
    let parse =
        |text: &str| GroupConfig::parse(text, &variables()).map(|config| config.servers.len());
    assert_eq!(parse(r#"{"mcpServers": [], "inputs": []}"#).unwrap(), 0);
    let error = parse(r#"{"mcpServers": [{"name": "a"}]}"#)
        .unwrap_err()
        .to_string();
    assert!(error.contains("`mcpServers` must be an object"), "{error}");
}

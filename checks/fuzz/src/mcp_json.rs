//! `mcp.json`: files of strangers never panic, and comments do not change the servers.

use mcp_client::group::{ConfigError, GroupConfig, Variables};
use serde_json::Value;

use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "mcp_json",
    run,
    examples: &[
        br#"{"mcpServers":{"a":{"command":"x","args":["${HOME}","${A:-b}"],"env":{"K":"${env:A}"},"cwd":"/"}}}"#,
        br#"{"servers":{"a":{"type":"http","url":"https://a.example/mcp","headers":{"Authorization":"Bearer ${input:t}"}}},"inputs":[{"id":"t","default":"s"}]}"#,
        b"{ // comment\n \"mcpServers\": { \"a\": { /* no */ \"url\": \"http://x//y\", }, }, }",
        br#"{"mcpServers":{"a":{"command":"x","disabled":true,"type":"sse"},"b":5,"a ":{"serverUrl":""}}}"#,
    ],
    fragments: &[
        "{", "}", "[", "]", ",", ":", "\"mcpServers\":{", "\"servers\":{", "\"a\":{", "\"command\":",
        "\"args\":[", "\"env\":{", "\"envFile\":", "\"cwd\":", "\"url\":", "\"serverUrl\":", "\"type\":",
        "\"http\"", "\"headers\":{", "\"inputs\":[", "\"id\":", "\"default\":", "\"disabled\":", "\"x\"",
        "\"${A}\"", "\"${A:-${B}}\"", "\"${env:A}\"", "\"${input:t}\"", "\"${", "$", "}\"", "//", "/*", "*/",
        "\n", "\\", "\"", "\\\"", "true", "null", "1", "é", " ",
    ],
};

fn run(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let variables = Variables::new()
        .env("A", "${B}")
        .env("HOME", "/home/ada")
        .set("input:t", "secret-of-ada");
    let config = GroupConfig::parse(text, &variables);
    if let Ok(config) = &config {
        assert!(
            !format!("{config:?}").contains("secret-of-ada"),
            "Debug shows a secret"
        );
    }
    // A file that is plain JSON means the same with comments around it.
    if serde_json::from_str::<Value>(text).is_ok() {
        let commented = format!("/* \" */{text}// \"\n/**/");
        let again = GroupConfig::parse(&commented, &variables);
        assert_eq!(describe(config), describe(again));
    }
}

fn describe(config: Result<GroupConfig, ConfigError>) -> String {
    match config {
        Ok(config) => config
            .servers
            .iter()
            .map(|server| {
                format!(
                    "{:?} {} {:?}\n",
                    server.name, server.is_disabled, server.spec
                )
            })
            .collect(),
        // The position in a message differs.
        Err(ConfigError::Json(_)) => "no JSON".to_owned(),
        Err(error) => error.to_string(),
    }
}

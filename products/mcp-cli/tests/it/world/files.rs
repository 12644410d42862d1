//! The table of files: what programs and people write into files that list servers, and what the command makes of it.
//! A new row is one entry of [`FILES`]; `docs/world.md` is written from it.

/// A row of the table.
pub(super) struct File {
    /// The deviation.
    pub(super) name: &'static str,
    /// A public report. Empty: found by the tests.
    pub(super) source: &'static str,
    /// The file's name.
    pub(super) file: &'static str,
    pub(super) content: &'static str,
    /// The outcome: `mcp servers` lists each entry with its target or its reason. `FOLDER` stands for the file's folder.
    pub(super) servers: &'static str,
}

pub(super) const FILES: &[File] = &[
    File {
        name: "an entry without `command` and `url`",
        source: "https://github.com/PrefectHQ/fastmcp/issues/4711",
        file: "mcp.json",
        content: r#"{"mcpServers": {"a": {"command": "a"}, "bad": {"args": ["x"]}}}"#,
        servers: "a: command a; bad: the entry has neither `command` nor `url`",
    },
    File {
        name: "an entry that is text",
        source: "https://github.com/can1357/oh-my-pi/pull/7101",
        file: "mcp.json",
        content: r#"{"mcpServers": {"bad": "oops", "a": {"command": "a"}}}"#,
        servers: "bad: the entry is malformed: it must be an object with `command` or `url`; a: command a",
    },
    File {
        name: "`null` for members that are not used",
        source: "",
        file: "mcp.json",
        content: r#"{"mcpServers": {"a": {"type": null, "command": "a", "args": null, "env": null, "url": null, "headers": null, "disabled": null}}}"#,
        servers: "a: command a",
    },
    File {
        name: "empty text and `[]` for members that are not used",
        source: "",
        file: "mcp.json",
        content: r#"{"mcpServers": {"a": {"command": "", "url": "https://a.example/mcp", "env": [], "headers": []}}}"#,
        servers: "a: https://a.example/mcp",
    },
    File {
        name: "a number in `args`",
        source: "",
        file: "mcp.json",
        content: r#"{"mcpServers": {"a": {"command": "a", "args": ["--port", 8080]}}}"#,
        servers: "a: command a",
    },
    File {
        name: "`streamableHttp` as type",
        source: "https://github.com/GCWing/OpenBitFun/issues/3155",
        file: "mcp.json",
        content: r#"{"mcpServers": {"a": {"type": "streamableHttp", "url": "https://a.example/mcp"}}}"#,
        servers: "a: https://a.example/mcp",
    },
    File {
        name: "`transport` with `streamable_http`",
        source: "https://github.com/junjiem/dify-plugin-agent-mcp_sse/issues/81",
        file: "mcp.json",
        content: r#"{"mcpServers": {"a": {"transport": "streamable_http", "url": "https://a.example/mcp"}}}"#,
        servers: "a: https://a.example/mcp",
    },
    File {
        name: "`transportType`",
        source: "https://github.com/tbxark/mcp-proxy/issues/6",
        file: "mcp.json",
        content: r#"{"mcpServers": {"a": {"transportType": "streamable-http", "url": "https://a.example/mcp"}}}"#,
        servers: "a: https://a.example/mcp",
    },
    File {
        name: "`HTTP` as type",
        source: "",
        file: "mcp.json",
        content: r#"{"mcpServers": {"a": {"type": "HTTP", "url": "https://a.example/mcp"}}}"#,
        servers: "a: https://a.example/mcp",
    },
    File {
        name: "a nested `transport`",
        source: "",
        file: "mcp.json",
        content: r#"{"mcpServers": {"a": {"transport": {"type": "stdio", "command": "a"}}}}"#,
        servers: "a: command a",
    },
    File {
        name: "a type that nobody knows",
        source: "",
        file: "mcp.json",
        content: r#"{"mcpServers": {"bad": {"type": "pigeon", "url": "https://a.example"}, "a": {"command": "a"}}}"#,
        servers: "bad: the transport \"pigeon\" is unknown; use `stdio`, `http` or `sse`; a: command a",
    },
    File {
        name: "an input with a number as default",
        source: "",
        file: "mcp.json",
        content: r#"{"inputs": [{"id": "port", "default": 8080}, {"id": "key", "default": {}}], "servers": {"a": {"url": "http://127.0.0.1:${input:port}/mcp"}, "bad": {"command": "${input:key}"}}}"#,
        servers: "a: http://127.0.0.1:8080/mcp; bad: the variable `input:key` has no value",
    },
    File {
        name: "comments",
        source: "https://github.com/egoist/chatwise-releases/issues/910",
        file: "mcp.json",
        content: "{\"mcpServers\": {\"a\": {\"command\": \"a\", \"env\": {\"KEY\": \"\"} // optional: a key\n}}}",
        servers: "a: command a",
    },
    File {
        name: "a byte order mark",
        source: "",
        file: "mcp.json",
        content: "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}",
        servers: "a: command a",
    },
    File {
        name: "a program with a relative path",
        source: "https://github.com/can1357/oh-my-pi/issues/5330",
        file: "mcp.json",
        content: r#"{"mcpServers": {"a": {"command": "./bin/a"}, "b": {"command": "b"}}}"#,
        servers: "a: command FOLDER/bin/a; b: command b",
    },
    File {
        name: "a program with a relative path in an editor's folder",
        source: "",
        file: ".vscode/mcp.json",
        content: r#"{"servers": {"a": {"command": "./bin/a"}}}"#,
        servers: "a: command FOLDER/bin/a",
    },
    File {
        name: "`NO`, `on`, `012` and `1_000` in settings of Goose",
        source: "",
        file: "config.yaml",
        content: "extensions:\n  a:\n    cmd: on\n    args: [NO, 012, 1_000]\n  b:\n    cmd: 012\n",
        servers: "a: command on; b: command 012",
    },
];

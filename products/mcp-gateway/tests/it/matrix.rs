//! Each setting that restricts calls, in each mode of a gateway and of its endpoint: a call is refused or changed as in the
//! usual mode.

use std::path::Path;
use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt as _, Full};
use mcp::Sessions;
use mcp::core::{Call, ClientContext, Fault, Gate, Principal};
use mcp::gateway::{CallLimits, Gateway, GatewayServer, ToolMode, ToolOptions};
use mcp::group::Naming;
use mcp::http::StreamableHttp;
use mcp::prelude::*;
use mcp::toolset::PinFile;
use serde_json::{Value, json};
use tokio::time::timeout;
use tower::ServiceExt as _;

use crate::kit::{meta, server_of};

/// Declares an enum with the list of its variants: a variant without its `match` arms does not compile.
macro_rules! rows {
    ($name:ident: $($variant:ident),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq)]
        enum $name { $($variant),* }
        impl $name { const ALL: &[Self] = &[$(Self::$variant),*]; }
    };
}

rows!(Setting: Allow, Deny, Hide, VisibleServer, VisibleTool, HiddenArgument, ServerRate, ToolRate, ResultSize, Pins, Scopes, Gate);

rows!(Mode: Usual, Search, PlainNames, NoPrefix, Renamed, OneSession, SharedSessions, Lazy, StoredLists, Idle, Checked, Session, Stateless);

impl Mode {
    /// The name of the tool `wipe` of the server `disk`.
    fn tool(self) -> &'static str {
        match self {
            Self::PlainNames | Self::NoPrefix => "wipe",
            Self::Renamed => "erase",
            _ => "disk__wipe",
        }
    }

    fn has_file(self) -> bool {
        matches!(self, Self::Lazy | Self::StoredLists)
    }

    fn set_server(self, server: GatewayServer, file: &Path) -> GatewayServer {
        match self {
            Self::NoPrefix => server.prefix(""),
            Self::OneSession => server.one_session(),
            Self::SharedSessions => server.share_sessions(),
            Self::Lazy => server.store_lists(file).lazy(),
            Self::StoredLists => server.store_lists(file),
            Self::Idle => server.idle_timeout(Duration::from_secs(1)),
            Self::Checked => server.health_check(Duration::from_secs(1)),
            Self::Usual
            | Self::Search
            | Self::PlainNames
            | Self::Renamed
            | Self::Session
            | Self::Stateless => server,
        }
    }

    fn set_gateway(self, gateway: Gateway) -> Gateway {
        match self {
            Self::Search => gateway.tool_mode(ToolMode::Search),
            Self::PlainNames => gateway.naming(Naming::PlainUnlessTaken),
            _ => gateway,
        }
    }

    /// Returns the name and the arguments of the call.
    fn call(self) -> (&'static str, Value) {
        let arguments = json!({"force": false});
        if self == Self::Search {
            let inner = json!({"name": self.tool(), "arguments": arguments});
            return ("call_tool", inner);
        }
        (self.tool(), arguments)
    }
}

impl Setting {
    fn set_server(self, server: GatewayServer) -> GatewayServer {
        let once = CallLimits::new().rate(1, Duration::from_secs(600));
        match self {
            Self::Allow => server.allow_tools(["other"]),
            Self::Deny => server.deny_tools(["wipe"]),
            Self::Hide => server.hide_tools(|tool| tool == "wipe"),
            Self::VisibleServer => server.visible_to(|_| false),
            Self::ServerRate => server.limits(once),
            Self::ResultSize => server.limits(CallLimits::new().max_result_bytes(10)),
            Self::VisibleTool
            | Self::HiddenArgument
            | Self::ToolRate
            | Self::Pins
            | Self::Scopes
            | Self::Gate => server,
        }
    }

    fn set_tool(self, tool: ToolOptions) -> ToolOptions {
        match self {
            Self::VisibleTool => tool.visible_to(|_| false),
            Self::HiddenArgument => tool.hidden_argument("force", true),
            Self::ToolRate => tool.limits(CallLimits::new().rate(1, Duration::from_secs(600))),
            _ => tool,
        }
    }

    /// A part of the refusal.
    fn refusals(self) -> &'static [&'static str] {
        match self {
            Self::Allow | Self::Deny | Self::Hide | Self::VisibleServer | Self::VisibleTool => {
                &["unknown tool", "no tool is named"]
            }
            Self::HiddenArgument => &["force"],
            Self::ServerRate | Self::ToolRate => &["too many calls"],
            Self::ResultSize => &["larger", "bytes"],
            Self::Pins => &["is held"],
            Self::Scopes => &["admin"],
            Self::Gate => &["the gate is closed"],
        }
    }
}

/// Refuses the calls of one tool.
struct Without(&'static str);

impl Gate for Without {
    fn admit(&self, call: &Call, _: &ClientContext, _: Option<&Principal>) -> Result<(), Fault> {
        match call {
            Call::CallTool(params) if params.name == self.0 => {
                Err(Fault::Refused("the gate is closed".into()))
            }
            _ => Ok(()),
        }
    }
}

async fn open(mode: Mode, setting: Option<Setting>, folder: &Path) -> StreamableHttp {
    let schema = json!({"type": "object", "properties": {"force": {"type": "boolean"}}});
    let schema: mcp::types::JsonObject = serde_json::from_value(schema).unwrap();
    let wipe = Tool::new("wipe").description("Wipes.").input_schema(schema);
    let disk = Server::new("disk", "1.0.0").tool(wipe.handler(|| "wiped").forwarded());
    let mut options = ToolOptions::new();
    if mode == Mode::Renamed {
        options = options.rename("erase");
    }
    if let Some(setting) = setting {
        options = setting.set_tool(options);
    }
    let path = if mode == Mode::Lazy {
        folder.join("lists.json")
    } else {
        folder.to_owned()
    };
    let mut server = mode.set_server(server_of("disk", disk).tool("wipe", options), &path);
    if let Some(setting) = setting {
        server = setting.set_server(server);
    }
    let file = server.lists_file().map(ToOwned::to_owned);
    let mut gateway = mode.set_gateway(Gateway::new("gateway", "1.0.0").server(server));
    if setting == Some(Setting::Pins) {
        let pins = PinFile::open(folder.join("mcp.lock")).unwrap();
        pins.check("disk", &[Tool::new("wipe").description("Another one.")]);
        gateway = gateway.pin(pins);
    }
    let mut server = gateway.connect().await.unwrap().server;
    if let Some(file) = file {
        let written = async {
            while !file.is_file() {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(20), written).await.unwrap();
    }
    if setting == Some(Setting::Scopes) {
        server = server.tool_scopes(|_| ["admin"]);
    }
    let mut endpoint = StreamableHttp::new(server);
    if mode == Mode::Stateless {
        endpoint = endpoint.sessions(Sessions::stateless());
    }
    if setting == Some(Setting::Gate) {
        return endpoint.gate(Without(mode.tool()));
    }
    endpoint
}

/// Sends a message. Returns the session and the response.
async fn send(
    endpoint: &StreamableHttp,
    version: &str,
    session: Option<&str>,
    body: &Value,
) -> (Option<String>, Value) {
    let mut request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", version);
    if version == "2026-07-28" {
        request = request
            .header("mcp-method", "tools/call")
            .header("mcp-name", body["params"]["name"].as_str().unwrap());
    }
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let request = request
        .body(Full::<bytes::Bytes>::from(body.to_string()))
        .unwrap();
    let response = endpoint.clone().oneshot(request).await.unwrap();
    let session = response.headers().get("mcp-session-id");
    let session = session.map(|session| session.to_str().unwrap().to_owned());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&body);
    let data = text.lines().find_map(|line| line.strip_prefix("data: {"));
    let data = data.map_or_else(|| text.to_string(), |data| format!("{{{data}"));
    (session, serde_json::from_str(&data).unwrap_or_default())
}

/// Calls the tool, and returns the response as text.
async fn call(endpoint: &StreamableHttp, mode: Mode) -> String {
    let (name, arguments) = mode.call();
    let mut body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    let is_legacy = matches!(mode, Mode::Session | Mode::Stateless);
    if !is_legacy {
        body["params"]["_meta"] = meta();
        return send(endpoint, "2026-07-28", None, &body)
            .await
            .1
            .to_string();
    }
    let version = "2025-06-18";
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1.0.0"},
    }});
    let (session, _) = send(endpoint, version, None, &initialize).await;
    assert_eq!(session.is_some(), mode == Mode::Session);
    let response = send(endpoint, version, session.as_deref(), &body).await;
    response.1.to_string()
}

#[tokio::test]
async fn each_setting_has_its_effect_in_each_mode() {
    let all = std::env::temp_dir().join(format!("mcp-matrix-{}", std::process::id()));
    for &mode in Mode::ALL {
        let settings = Setting::ALL.iter().copied().map(Some);
        for setting in settings.chain([None]) {
            let folder = all.join(format!("{mode:?}-{setting:?}").replace(['(', ')'], "-"));
            std::fs::create_dir_all(&folder).unwrap();
            let mut endpoint = open(mode, setting, &folder).await;
            if mode.has_file() {
                // The next one has the lists of the file.
                endpoint = open(mode, setting, &folder).await;
            }
            let mut told = call(&endpoint, mode).await;
            if matches!(setting, Some(Setting::ServerRate | Setting::ToolRate)) {
                assert!(told.contains("wiped"), "{mode:?} × {setting:?}: {told}");
                told = call(&endpoint, mode).await;
            }
            let context = format!("{mode:?} × {setting:?}: {told}");
            let Some(setting) = setting else {
                assert!(told.contains("wiped"), "{context}");
                continue;
            };
            assert!(!told.contains("wiped"), "{context}");
            let mut refusals = setting.refusals().iter();
            assert!(refusals.any(|refusal| told.contains(refusal)), "{context}");
        }
    }
    std::fs::remove_dir_all(&all).unwrap();
}

/// A new method of a gateway is a row of the table, or stands here as one that is not.
#[test]
fn each_method_is_a_setting_a_mode_or_neither() {
    let sources = [
        include_str!("../../src/gateway.rs"),
        include_str!("../../src/settings/server.rs"),
        include_str!("../../src/settings/tool.rs"),
        include_str!("../../src/limits/limiter.rs"),
    ];
    let settings = [
        "allow_tools",
        "deny_tools",
        "hide_tools",
        "hidden_argument",
        "limits",
        "max_result_bytes",
        "pin",
        "rate",
        "visible_to",
    ];
    let modes = [
        "health_check",
        "idle_timeout",
        "lazy",
        "naming",
        "one_session",
        "prefix",
        "rename",
        "share_sessions",
        "store_lists",
        "tool",
        "tool_mode",
    ];
    // Names, texts and times; `exchange`, `search` and `settings` test credentials, limits of searches and extensions.
    let neither = [
        "always_list",
        "concurrency",
        "connection_id",
        "description",
        "extension",
        "first_list_limit",
        "forward_client_name",
        "forward_identity",
        "from_spec",
        "lists_file",
        "map_servers",
        "max_tool_name",
        "name",
        "new",
        "ranker",
        "search_limits",
        "server",
        "start_limit",
        "timeout",
        "token_exchange",
        "used_states",
    ];
    let lines = sources.into_iter().flat_map(str::lines);
    let methods = lines.filter_map(|line| line.trim_start().strip_prefix("pub fn "));
    for method in methods {
        let name = method.split(['(', '<']).next().unwrap();
        let lists = [&settings[..], &modes, &neither];
        let count = lists.iter().filter(|list| list.contains(&name)).count();
        assert_eq!(count, 1, "{name}");
    }
}

//! Apps of servers, and tools that are linked to them.

use mcp::apps::{
    App, AppDocument, Apps, Csp, MIME_TYPE, ToolAccess, ToolUi, Visibility, model_tools,
};
use mcp::extension::Declared;
use mcp::prelude::*;
use mcp_testing::Pair;
use serde_json::json;

const HTML: &str = "<!doctype html><title>Chart</title>";

struct Charts;

#[mcp::server(name = "charts", version = "1.0.0")]
impl Charts {
    /// A chart.
    #[tool(app = "ui://chart")]
    fn chart(host: Option<Declared<Apps>>) -> &'static str {
        match host {
            Some(Declared(settings)) if settings.shows_apps() => "see the chart",
            _ => "1, 2, 3",
        }
    }

    /// New data.
    #[tool(app = "ui://chart", app_only)]
    fn refresh() -> &'static str {
        "4"
    }
}

fn server() -> Server {
    let app = App::new("ui://chart", HTML)
        .csp(Csp::new().connect("https://api.example.com"))
        .domain("chart-example.host.example");
    Server::of(Charts).extension(Apps::new().app(app))
}

#[tokio::test]
async fn tool_from_macro_is_linked_to_its_app() {
    let client = Client::connect(mcp::InProcess(server())).await.unwrap();
    let tools = client.list_tools().await.unwrap();
    let chart = tools.iter().find(|tool| tool.name == "chart").unwrap();
    assert_eq!(
        ToolUi::of(chart).unwrap().resource_uri.as_deref(),
        Some("ui://chart")
    );
    let names: Vec<_> = model_tools(tools)
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["chart"]);
}

#[tokio::test]
async fn app_has_metadata_in_list_and_contents() {
    let client = Client::connect(mcp::InProcess(server())).await.unwrap();
    let listed = client.list_resources().await.unwrap();
    assert_eq!(listed[0].mime_type.as_deref(), Some(MIME_TYPE));
    let meta = serde_json::to_value(&listed[0]).unwrap()["_meta"]["ui"].clone();
    assert_eq!(meta["domain"], "chart-example.host.example");
    let read = client.read_resource("ui://chart").await.unwrap();
    for listed in [None, Some(&listed[0])] {
        let document = AppDocument::new("ui://chart", &read, listed).unwrap();
        assert_eq!(document.html(), HTML);
        assert!(
            document
                .csp_header()
                .contains("connect-src https://api.example.com")
        );
    }
    let bare = mcp::types::ReadResourceResult::from(vec![
        ResourceContents::text("ui://chart", HTML).mime_type(MIME_TYPE),
    ]);
    let document = AppDocument::new("ui://chart", &bare, Some(&listed[0])).unwrap();
    assert!(
        document
            .csp_header()
            .contains("connect-src https://api.example.com")
    );
}

#[tokio::test]
async fn tool_sees_if_the_host_displays_apps_in_both_eras() {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let plain = Pair::http(server())
            .revision(version)
            .connect()
            .await
            .unwrap();
        assert_eq!(
            plain.client.call("chart", ()).await.unwrap().text(),
            "1, 2, 3"
        );
        let host = Client::builder().extension(Apps::new());
        let host = Pair::http(server())
            .client(host)
            .revision(version)
            .connect()
            .await
            .unwrap();
        assert_eq!(
            host.client.call("chart", ()).await.unwrap().text(),
            "see the chart"
        );
    }
}

// spec: APP-05
#[tokio::test]
async fn unlisted_app_is_found_by_its_tool_only() {
    let chart = App::new("ui://chart", HTML).unlisted();
    let server = Server::of(Charts)
        .resource(Resource::new("data://1").read(|| "some data"))
        .extension(Apps::new().app(chart));
    server.check().unwrap();
    let client = Client::connect(mcp::InProcess(server)).await.unwrap();
    let listed = client.list_resources().await.unwrap();
    let uris: Vec<_> = listed.iter().map(|resource| &*resource.uri).collect();
    assert_eq!(uris, ["data://1"]);
    let read = client.read_resource("ui://chart").await.unwrap();
    let document = AppDocument::new("ui://chart", &read, None).unwrap();
    assert_eq!(document.html(), HTML);
}

#[test]
fn tool_without_its_app_is_a_setup_error() {
    // spec: APP-05
    let server =
        Server::new("charts", "1.0.0").tool(Tool::new("chart").app("ui://x").handler(|| ""));
    let error = server.check().unwrap_err().to_string();
    assert!(
        error.contains("linked to the app `ui://x`, which is missing"),
        "{error}"
    );
}

#[test]
fn app_with_refused_policy_or_uri_is_a_setup_error() {
    // spec: APP-02
    let check = |app| {
        let server = Server::new("charts", "1.0.0").extension(Apps::new().app(app));
        server.check().unwrap_err().to_string()
    };
    let error = check(App::new("ui://x", HTML).csp(Csp::new().load("https://a; b")));
    assert!(error.contains("csp.resourceDomains"), "{error}");
    let error = check(App::new("https://x", HTML));
    assert!(error.contains("begins with `ui://`"), "{error}");
}

#[test]
fn malformed_metadata_hides_a_tool_from_all() {
    // spec: APP-08
    let access = |ui| ToolAccess::of(&Tool::new("x").meta("ui", ui));
    let nobody = access(json!({"visibility": "app"}));
    assert!(!nobody.model && !nobody.app);
    let unknown = access(json!({"visibility": ["admin"]}));
    assert!(!unknown.model && !unknown.app);
    let app = ToolAccess::of(&Tool::new("x").ui(&ToolUi::default().visible_to(Visibility::App)));
    assert!(!app.model && app.app);
    let all = ToolAccess::of(&Tool::new("x"));
    assert!(all.model && all.app);
    let for_views = Tool::new("y").ui(&ToolUi::default().visible_to(Visibility::App));
    let for_model = model_tools([Tool::new("x"), for_views]);
    assert_eq!(for_model, [Tool::new("x")]);
}

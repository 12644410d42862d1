//! `mcp doctor` against servers with one defect each.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use mcp::prelude::*;
use mcp::{IntoServer as _, StreamableHttp};
use serde_json::{Value, json};

use crate::kit::{Run, example, folder, http_shop, mcp, mcp_in, on_thread, stdio_shop};
use crate::login::protected_shop;
use crate::shop::Shop;

/// Returns a step of the JSON document.
fn step(run: &Run, name: &str) -> Value {
    let document = run.json();
    let mut steps = document["steps"].as_array().unwrap().iter();
    let found = steps.find(|step| step["step"] == name);
    found.unwrap_or_else(|| panic!("{name}: {run:?}")).clone()
}

/// Asserts that `name` is the failed step, with a cure and an exit code.
fn assert_failed(target: &[&str], name: &str, code: i32, expected: &str) -> Run {
    let run = mcp(&[&["doctor", "--json"], target].concat());
    assert_eq!(run.code, code, "{run:?}");
    assert_eq!(run.json()["healthy"], false);
    let failed = step(&run, name);
    assert_eq!(failed["state"], "failed", "{run:?}");
    assert!(failed["cure"].is_string(), "{run:?}");
    assert!(failed.to_string().contains(expected), "{expected}: {run:?}");
    assert_eq!(run.json_error()["code"], code);
    let page = mcp(&[&["doctor"], target].concat());
    assert_eq!(page.code, code, "{page:?}");
    assert!(page.out.contains("cure: "), "{page:?}");
    run
}

#[test]
fn healthy_server_over_http_passes_every_step() {
    let url = http_shop();
    for protocol in ["auto", "legacy", "2026-07-28"] {
        let run = mcp(&["doctor", &url, "--json", "--protocol", protocol]);
        assert_eq!((run.code, &*run.err), (0, ""), "{run:?}");
        assert_eq!(run.json()["healthy"], true);
        for name in [
            "resolve",
            "connect",
            "http",
            "login",
            "negotiation",
            "tools",
            "latency",
            "headers",
            "clock",
        ] {
            assert_ne!(step(&run, name)["state"], "failed", "{run:?}");
        }
        assert_eq!(
            step(&run, "latency")["data"]["milliseconds"]
                .as_array()
                .unwrap()
                .len(),
            5
        );
    }
    let page = mcp(&["doctor", &url]);
    assert!(page.out.contains("ok       negotiation"), "{page:?}");
    assert!(page.out.contains("server/discover"), "{page:?}");
}

#[test]
fn each_lint_kind_is_one_line() {
    let origin = on_thread(|listener| async {
        let tools = ["a.one", "a.two", "a.three"].map(|name| Tool::new(name).handler(|| "done"));
        let server = tools
            .into_iter()
            .fold(Server::new("dotted", "1.0.0"), Server::tool);
        drop(mcp::serve_http(server, listener).await);
    });
    let url = format!("{origin}/mcp");
    let page = mcp(&["doctor", &url]);
    let lines: Vec<_> = page
        .out
        .lines()
        .filter(|line| line.contains("drop a tool whose name has a `.`"))
        .collect();
    assert!(
        lines.len() == 1 && lines[0].contains("the tool `a.one`, name, and 2 more tools: "),
        "{page:?}"
    );
    // Programs get the lints of each tool.
    let run = mcp(&["doctor", &url, "--json"]);
    let lints = step(&run, "tools")["data"]["lints"].clone();
    assert_eq!(lints.as_array().unwrap().len(), 3, "{run:?}");
}

#[test]
fn healthy_program_passes_every_step() {
    let run = mcp(&["doctor", "--json", "--", &stdio_shop()]);
    assert_eq!(run.code, 0, "{run:?}");
    for name in ["start", "negotiation", "tools", "latency"] {
        assert_ne!(step(&run, name)["state"], "failed", "{run:?}");
    }
}

// spec: TOOL-16
#[test]
fn schemas_are_judged_as_clients_at_each_revision_see_them() {
    let lock = folder("doctor-revisions").join("lock");
    let doctor = |defect: &str, flags: &[&str]| {
        let program = example("faulty");
        let words = ["--", &program, defect, lock.to_str().unwrap()];
        let run = mcp(&[&["doctor", "--json"], flags, &words].concat());
        assert_eq!(run.code, 0, "{run:?}");
        run
    };
    let run = doctor("old-array", &[]);
    let (tools, others) = (step(&run, "tools"), step(&run, "revisions"));
    assert_eq!(
        (&tools["state"], &others["state"]),
        (&json!("ok"), &json!("warning"))
    );
    let detail = others["detail"].as_str().unwrap();
    assert!(
        detail.contains("clients of 2025-06-18 refuse the whole list"),
        "{detail}"
    );
    assert_eq!(step(&doctor("old-none", &[]), "revisions")["state"], "ok");
    // The connected revision, which is also the only one that a given revision leaves.
    let run = doctor("array", &["--protocol", "2025-11-25"]);
    assert_eq!(step(&run, "tools")["state"], "warning");
    assert!(!run.out.contains("\"revisions\""), "{run:?}");
}

#[test]
fn refused_port_fails_the_connection() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let run = assert_failed(&[&url], "connect", 4, "start the server");
    assert_eq!(step(&run, "resolve")["state"], "ok");
}

#[test]
fn unknown_host_fails_the_resolution() {
    // RFC 6761: the name never exists.
    let run = mcp(&["doctor", "--json", "https://nowhere.invalid/mcp"]);
    assert_eq!(run.code, 4, "{run:?}");
    assert_eq!(run.json()["healthy"], false, "{run:?}");
}

#[test]
fn server_without_tls_fails_the_tls_step() {
    let url = http_shop().replace("http:", "https:");
    assert_failed(&[&url], "tls", 4, "check the certificate");
}

#[test]
fn other_http_server_fails_the_status() {
    let origin = on_thread(|listener| async {
        let page = || async { axum::response::Html("<h1>A shop</h1>") };
        let app = Router::new().route("/", axum::routing::any(page));
        drop(axum::serve(listener, app).await);
    });
    assert_failed(&[&origin], "http", 4, "no MCP server");
}

#[test]
fn wrong_path_fails_the_status() {
    let url = format!("{}2", http_shop());
    assert_failed(&[&url], "http", 4, "check the path of the URL");
}

#[test]
fn server_that_demands_a_login_shows_each_step() {
    let (url, _) = protected_shop();
    let folder = folder("doctor-login");
    let run = mcp_in(&folder, &["doctor", &url, "--json"], "");
    assert_eq!(run.code, 3, "{run:?}");
    let login = step(&run, "login");
    assert_eq!(login["state"], "failed");
    let detail = login["detail"].as_str().unwrap();
    for expected in ["401", "authorization server http://127.0.0.1"] {
        assert!(detail.contains(expected), "{expected}: {run:?}");
    }
    assert!(login["cure"].as_str().unwrap().contains("mcp login"));
    let given = [
        "doctor",
        &url,
        "--json",
        "-H",
        "Authorization: Bearer s3cret",
    ];
    let run = mcp_in(&folder, &given, "");
    assert_eq!(run.code, 3, "{run:?}");
    assert!(
        step(&run, "login")["cure"]
            .as_str()
            .unwrap()
            .contains("replace the token")
    );
    assert!(
        !run.out.contains("s3cret") && !run.err.contains("s3cret"),
        "{run:?}"
    );
}

#[test]
fn program_that_dies_fails_the_start() {
    let run = assert_failed(
        &["--", "sh", "-c", "echo no database >&2; exit 3"],
        "start",
        4,
        "",
    );
    assert!(
        step(&run, "start")["detail"]
            .as_str()
            .unwrap()
            .contains("no database"),
        "{run:?}"
    );
    assert_failed(
        &["--", "no-such-program-here"],
        "start",
        4,
        "no-such-program-here",
    );
}

#[test]
fn proxy_that_removes_headers_is_named() {
    async fn strip(mut request: Request, next: Next) -> Response {
        request.headers_mut().remove("mcp-method");
        let mut response = next.run(request).await;
        response
            .headers_mut()
            .insert("via", "1.1 cache".parse().unwrap());
        response
    }
    let origin = on_thread(|listener| async {
        let endpoint = StreamableHttp::new(Shop.into_server());
        let app = Router::new()
            .route_service("/mcp", endpoint)
            .layer(from_fn(strip));
        drop(axum::serve(listener, app).await);
    });
    let url = format!("{origin}/mcp");
    let run = mcp(&["doctor", &url, "--json", "--protocol", "2026-07-28"]);
    assert_eq!(run.code, 5, "{run:?}");
    let cure = step(&run, "negotiation")["cure"].to_string();
    assert!(cure.contains("Mcp-Method"), "{run:?}");
    assert!(
        step(&run, "headers")["detail"]
            .to_string()
            .contains("1.1 cache"),
        "{run:?}"
    );
}

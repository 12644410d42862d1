//! `mcp login`, `mcp logout` and `mcp whoami` against an authorization server.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use mcp::prelude::*;
use mcp::{IntoServer as _, StreamableHttp};
use serde_json::{Value, json};

use crate::kit::{folder, http_shop, mcp_in, on_thread};
use crate::shop::Shop;

/// The valid tokens of the authorization server.
#[derive(Clone, Default)]
pub(crate) struct Tokens(Arc<Mutex<HashSet<String>>>);

impl Tokens {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }
}

/// Starts a protected server, and its authorization server at the same origin. Every login page
/// agrees at once.
pub(crate) fn protected_shop() -> (String, Tokens) {
    shop_with_page(|base| format!("{base}/authorize"))
}

/// Starts a protected server whose login page is at another address.
fn shop_with_page(page: impl FnOnce(&str) -> String + Send + 'static) -> (String, Tokens) {
    let tokens = Tokens::default();
    let shared = tokens.clone();
    let base = on_thread(|listener| async move {
        let base = format!("http://{}", listener.local_addr().unwrap());
        let app = app(&base, &page(&base), shared);
        drop(axum::serve(listener, app).await);
    });
    (format!("{base}/mcp"), tokens)
}

fn app(base: &str, page: &str, tokens: Tokens) -> Router {
    let resource = json!({ "resource": format!("{base}/mcp"), "authorization_servers": [base] });
    let issuer = json!({
        "issuer": base,
        "authorization_endpoint": page,
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "revocation_endpoint": format!("{base}/revoke"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    });
    let protected = Router::new()
        .route_service("/mcp", StreamableHttp::new(Shop.into_server()))
        .layer(from_fn_with_state(tokens.clone(), check));
    Router::new()
        .route("/token", post(token))
        .route("/revoke", post(revoke))
        .with_state(tokens)
        .route("/authorize", get(authorize))
        .route("/register", post(register))
        .route(
            "/.well-known/oauth-protected-resource/mcp",
            get(move || async move { respond(&resource) }),
        )
        .route(
            "/.well-known/oauth-authorization-server",
            get(move || async move { respond(&issuer) }),
        )
        .merge(protected)
}

async fn register(body: String) -> Response {
    let mut client: Value = serde_json::from_str(&body).unwrap();
    client["client_id"] = json!("client");
    (StatusCode::CREATED, respond(&client)).into_response()
}

async fn authorize(Query(query): Query<HashMap<String, String>>) -> Redirect {
    let (uri, state) = (&query["redirect_uri"], &query["state"]);
    Redirect::to(&format!("{uri}?code=secret-code&state={state}"))
}

async fn token(State(tokens): State<Tokens>) -> Response {
    let token = "secret-token".to_owned();
    tokens.0.lock().unwrap().insert(token.clone());
    respond(&json!({ "access_token": token, "token_type": "Bearer", "expires_in": 3600 }))
}

async fn revoke(State(tokens): State<Tokens>, form: String) {
    tokens
        .0
        .lock()
        .unwrap()
        .retain(|token| !form.contains(token));
}

async fn check(State(tokens): State<Tokens>, request: Request, next: Next) -> Response {
    let header = request.headers().get(AUTHORIZATION);
    let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let is_valid = token.is_some_and(|token| tokens.0.lock().unwrap().contains(token));
    if is_valid {
        next.run(request).await
    } else {
        StatusCode::UNAUTHORIZED.into_response()
    }
}

fn respond(body: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// Gets a page of this machine, as a browser does.
fn visit(url: &str) -> String {
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// Runs `mcp login` and visits the login page that it prints. Returns everything that it printed.
fn log_in(home: &Path, url: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.args(["login", url, "--no-browser"]);
    log_in_with(command, home)
}

/// The folder of stored lists in a home folder.
const LISTS: &str = ".cache/mcp/lists";

/// Runs a command that logs in, and visits the login page that it prints. Returns everything that it printed.
pub(crate) fn log_in_with(mut command: Command, home: &Path) -> String {
    let mut child = command
        .env("HOME", home)
        .env_remove("XDG_DATA_HOME")
        .env_remove("MCP_CREDENTIALS")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed = String::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let page = loop {
        let start = printed.len();
        assert!(lines.read_line(&mut printed).unwrap() > 0, "{printed}");
        if let Some(page) = printed[start..].strip_prefix("Log in at ") {
            break page.trim().to_owned();
        }
    };
    // A gateway that runs may store the lists of the former account while the user logs in.
    let lists = home.join(LISTS).join("gateway");
    std::fs::create_dir_all(lists).unwrap();
    let response = visit(&page);
    let location = response
        .lines()
        .find_map(|line| line.strip_prefix("location: "));
    let answer = visit(location.unwrap());
    assert!(answer.contains(" 200 "), "{answer}");
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    let mut out = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
    printed + &rest + &out
}

#[test]
fn stored_token_is_used_until_the_logout() {
    let (url, tokens) = protected_shop();
    let folder = folder("login");
    let run = |words: &[&str]| mcp_in(&folder, words, "");

    let before = run(&["list", &url]);
    assert_eq!(before.code, 3, "{before:?}");
    assert!(before.err.contains("mcp login"), "{before:?}");

    let lists = folder.join("home").join(LISTS);
    let store_lists = || std::fs::create_dir_all(lists.join("gateway")).unwrap();
    store_lists();
    let printed = log_in(&folder.join("home"), &url);
    assert!(printed.contains("logged in at"), "{printed}");
    if cfg!(target_os = "linux") {
        assert!(!lists.exists(), "those of another account");
    }
    // The parties are named before the page opens.
    let origin = url.trim_end_matches("/mcp");
    let host = origin.trim_start_matches("http://");
    let parties =
        format!("logging in to {url}\n  authorization server: {origin}\n  login page at: {host}\n");
    let (before, _) = printed.split_once("Log in at ").unwrap();
    assert!(before.contains(&parties), "{printed}");
    assert!(!printed.contains("secret"), "{printed}");

    let listed = run(&["list", &url, "--json"]);
    assert_eq!(listed.json()["tools"][0]["name"], "add", "{listed:?}");
    let who = run(&["whoami", &url, "--json"]);
    assert_eq!(who.json()["loggedIn"], true, "{who:?}");
    assert!(!who.out.contains("secret"), "{who:?}");

    let out = run(&["logout", &url]);
    assert_eq!(out.code, 0, "{out:?}");
    assert!(tokens.0.lock().unwrap().is_empty());
    assert_eq!(run(&["list", &url]).code, 3);
    store_lists();
    assert_eq!(run(&["logout", &url]).code, 0);
    if cfg!(target_os = "linux") {
        assert!(!lists.exists());
    }
}

#[test]
fn login_uses_registration_from_the_configuration_file() {
    let (url, _tokens) = protected_shop();
    let folder = folder("registration");
    let oauth = json!({"clientId": "my-agent", "scopes": ["notes"]});
    let file = folder.join("servers.json");
    let content = json!({"mcpServers": {"shop": {"url": url, "oauth": oauth}}});
    std::fs::write(&file, content.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.args(["login", "shop", "--no-browser", "--config"]);
    command.arg(&file);
    let printed = log_in_with(command, &folder.join("home"));
    assert!(printed.contains("client_id=my-agent"), "{printed}");
    assert!(printed.contains("scope=notes"), "{printed}");
}

/// A browser that ends at once, and shows nothing.
#[cfg(target_os = "linux")]
fn broken_browser(folder: &Path) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let browser = folder.join("browser");
    std::fs::write(&browser, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o700)).unwrap();
    browser
}

#[cfg(target_os = "linux")]
#[test]
fn login_address_is_printed_beside_the_browser() {
    let (url, _) = protected_shop();
    let folder = folder("login_browser");
    let browser = broken_browser(&folder);
    let mut login = Command::new(env!("CARGO_BIN_EXE_mcp"));
    login.args(["login", &url]).env("BROWSER", &browser);
    let printed = log_in_with(login, &folder.join("home"));
    assert!(printed.contains("logged in at"), "{printed}");
}

#[cfg(target_os = "linux")]
#[test]
fn proxy_prints_the_login_address_beside_the_browser() {
    let (url, _) = protected_shop();
    let folder = folder("login_proxy_browser");
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_mcp"))
        .args(["proxy", &url])
        .env("BROWSER", broken_browser(&folder))
        .env("HOME", folder.join("home"))
        .env_remove("XDG_DATA_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"},
    }});
    writeln!(proxy.stdin.as_mut().unwrap(), "{request}").unwrap();
    let lines = BufReader::new(proxy.stderr.take().unwrap()).lines();
    let printed = lines
        .map_while(Result::ok)
        .find(|line| line.starts_with("Log in at http://127.0.0.1:"));
    proxy.kill().unwrap();
    proxy.wait().unwrap();
    assert!(printed.is_some());
}

#[test]
fn login_at_an_open_server_says_that_it_demands_none() {
    let url = http_shop();
    let folder = folder("login_open");
    let run = mcp_in(&folder, &["login", &url, "--no-browser"], "");
    assert_eq!((run.code, &*run.err), (0, ""), "{run:?}");
    assert!(run.out.contains("this server demands no login"), "{run:?}");
    let run = mcp_in(&folder, &["login", &url, "--no-browser", "--json"], "");
    assert_eq!(run.json()["demandsLogin"], false, "{run:?}");
}

#[test]
fn missing_scope_has_its_own_cure() {
    let origin = on_thread(|listener| async {
        let challenge = r#"Bearer error="insufficient_scope", scope="write""#;
        let refuse =
            move || async move { (StatusCode::FORBIDDEN, [(WWW_AUTHENTICATE, challenge)]) };
        let app = Router::new().route("/mcp", post(refuse));
        drop(axum::serve(listener, app).await);
    });
    let url = &*format!("{origin}/mcp");
    let token = "Authorization: Bearer s3cret";
    for command in ["list", "doctor"] {
        let run = mcp_in(
            &folder("login_missing_scope"),
            &[command, url, "-H", token],
            "",
        );
        assert_eq!(run.code, 3, "{run:?}");
        let printed = run.out + &run.err;
        assert!(printed.contains("`mcp login --scope SCOPE`"), "{printed}");
    }
}

#[test]
fn further_scope_is_asked_for_although_a_token_is_stored() {
    let (url, tokens) = protected_shop();
    let home = folder("login_scope").join("home");
    let log_in = |scope: &str| {
        let mut login = Command::new(env!("CARGO_BIN_EXE_mcp"));
        login.args(["login", &url, "--no-browser", "--scope", scope]);
        log_in_with(login, &home)
    };
    let printed = log_in("read");
    assert!(printed.contains("scopes: read"), "{printed}");
    let printed = log_in("write");
    assert!(printed.contains("scopes: write"), "{printed}");
    assert_eq!(tokens.0.lock().unwrap().len(), 1);
}

#[test]
fn login_page_at_another_site_opens_only_after_an_answer() {
    let (url, tokens) = shop_with_page(|_| "https://login.bank.example/authorize".to_owned());
    let folder = folder("login_foreign");
    let origin = url.trim_end_matches("/mcp");
    // The issuer of a file is the answer of the file's author.
    let entry = json!({"url": url, "oauth": {"issuer": origin}});
    let file = folder.join("servers.json");
    std::fs::write(&file, json!({"mcpServers": {"shop": entry}}).to_string()).unwrap();
    for server in [&[&*url][..], &["shop", "--config", file.to_str().unwrap()]] {
        let out = mcp_in(&folder, &[&["login", "--no-browser"], server].concat(), "");
        assert_eq!(out.code, 3, "{out:?}");
        for expected in [
            &format!("authorization server: {origin}"),
            "login page at: login.bank.example",
            "Run `mcp login` in a terminal to confirm it.",
            "was not confirmed",
        ] {
            assert!(out.err.contains(expected), "{expected}: {out:?}");
        }
        assert!(!out.err.contains("Log in at"), "{out:?}");
    }
    assert!(tokens.0.lock().unwrap().is_empty());
}

#[test]
fn proxy_uses_the_stored_token() {
    let (url, _) = protected_shop();
    let folder = folder("login_proxy");
    log_in(&folder.join("home"), &url);
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_mcp"));
    proxy.args(["proxy", &url]).env("HOME", folder.join("home"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = Client::connect(proxy).await.unwrap();
        let sum = client.call("add", json!({ "a": 1, "b": 2 })).await.unwrap();
        assert_eq!(sum.text(), "3");
        client.close().await.unwrap();
    });
}

#[test]
fn unknown_credential_store_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_mcp"))
        .args(["list", "http://127.0.0.1:1/mcp"])
        .env("MCP_CREDENTIALS", "clipboard")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("`file` or `keychain`"), "{text}");
}

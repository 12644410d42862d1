//! `Serve` and the layers around an endpoint.

use axum::http::{HeaderValue, Method, Request};
use mcp::http::headers::cors;
use mcp::http::{Serve, ServeError};
use mcp::prelude::*;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tower::ServiceExt as _;
use tower_http::cors::CorsLayer;

fn server() -> Server {
    Server::new("clock", "1.0.0").tool(Tool::new("now").handler(|| "half past"))
}

#[tokio::test]
async fn serve_runs_with_its_settings_until_the_shutdown() {
    for (host, is_served) in [("127.0.0.1", true), ("clock.example", false)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/tools", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let endpoint = StreamableHttp::new(server()).body_limit(1 << 20);
        let serve = Serve::service(endpoint)
            .allowed_hosts([host])
            .path("/tools")
            .shutdown_on(async move { drop(stopped.await) });
        let serving = tokio::spawn(serve.run(listener));
        match Client::connect(&*url).await {
            Ok(client) => {
                assert!(is_served);
                assert_eq!(client.call("now", ()).await.unwrap().text(), "half past");
            }
            Err(error) => {
                assert!(!is_served && error.to_string().contains("is not served here"));
            }
        }
        stop.send(()).unwrap();
        serving.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn serve_errors_name_the_address() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (address, expected) in [
        (&*address, format!("cannot serve at {address}: ")),
        ("8000", "did you mean \"127.0.0.1:8000\"?".to_owned()),
        ("0.0.0.0:0", "allowed_hosts".to_owned()),
    ] {
        let error = mcp::serve_http(server(), address).await.unwrap_err();
        assert!(error.to_string().contains(&expected), "{error}");
    }
    let mistaken = || server().tool(Tool::new("now").handler(|| "again"));
    let error = mcp::serve_http(mistaken(), "127.0.0.1:0")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("now"), "{error}");
    let error = Serve::new(mistaken()).run("127.0.0.1:0").await;
    let Err(ServeError::Server(mistakes)) = error else {
        panic!("{error:?}");
    };
    assert!(mistakes.is::<mcp::SetupError>(), "{mistakes}");
    let (reader, writer) = tokio::io::split(tokio::io::duplex(64).0);
    let error = mcp::StdioServer::new(mistaken())
        .run_over(reader, writer)
        .await;
    let error = error.unwrap_err();
    assert!(error.to_string().contains("now"), "{error}");
}

#[tokio::test]
async fn scopes_without_tokens_are_an_error_at_start() {
    let scoped = |scope: &'static str| {
        let delete = Tool::new("delete").handler(|| "deleted");
        Server::new("files", "1.0.0").tool(delete.scopes([scope]))
    };
    let error = mcp::serve_http(scoped("files:write"), "127.0.0.1:0").await;
    let error = error.unwrap_err().to_string();
    for part in ["\"delete\"", "files:write", "authorize"] {
        assert!(error.contains(part), "{error}");
    }
    let reading = Resource::new("a://b")
        .read(|| "text")
        .scopes_for(|_| ["read"]);
    let server = Server::new("files", "1.0.0").resource(reading);
    let error = mcp::serve_http(server, "127.0.0.1:0").await.unwrap_err();
    assert!(error.to_string().contains("\"a://b\""), "{error}");
    // With tokens, the same server starts.
    let tokens = mcp::auth::StaticTokens::new().token("s3cret", "ada", ["files:write"]);
    let auth = mcp::auth::ResourceServer::new("http://localhost:8000/mcp").static_tokens(tokens);
    Serve::new(scoped("files:write"))
        .authorize(auth)
        .shutdown_on(std::future::ready(()))
        .run("127.0.0.1:0")
        .await
        .unwrap();
}

/// The hosts and the path that a program sets hold before and after `authorize`, whose public URL has others.
#[tokio::test]
async fn hosts_and_path_hold_before_and_after_authorization() {
    type Set = fn(Serve) -> Serve;
    let authorize: Set = |serve| {
        let tokens = mcp::auth::StaticTokens::new().allow_public();
        let tokens = tokens.token("s3cret", "ada", ["a"]);
        let auth = mcp::auth::ResourceServer::new("https://public.example/tools");
        serve.authorize(auth.static_tokens(tokens))
    };
    let hosts: Set = |serve| serve.allowed_hosts(["internal.example"]);
    let path: Set = |serve| serve.path("/inner");
    let public = ("public.example", "/tools");
    let own = ("internal.example", "/inner");
    for (order, served) in [
        (&[authorize][..], public),
        (&[hosts, path, authorize], own),
        (&[authorize, hosts, path], own),
        (&[path, authorize, hosts], own),
        (&[hosts, authorize, path], own),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let serve = order
            .iter()
            .fold(Serve::new(server()), |serve, set| set(serve));
        let serve = serve.shutdown_on(async move { drop(stopped.await) });
        let serving = tokio::spawn(serve.run(listener));
        for host in ["public.example", "internal.example"] {
            for path in ["/tools", "/inner"] {
                let status = status_of(address, host, path).await;
                let expected = match (served.0 == host, served.1 == path) {
                    (_, false) => 404,
                    (true, true) => 200,
                    (false, true) => 403,
                };
                assert_eq!(status, expected, "{host} {path} {served:?}");
            }
        }
        stop.send(()).unwrap();
        serving.await.unwrap().unwrap();
    }
}

/// Sends `server/discover` with a token, and returns the status of the response.
async fn status_of(address: std::net::SocketAddr, host: &str, path: &str) -> u16 {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let body = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer s3cret\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n\
         Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Sends a browser's preflight request and returns a response header.
async fn preflight(app: axum::Router, headers: &str, answer: &str) -> String {
    let request = Request::builder()
        .method(Method::OPTIONS)
        .uri("/mcp")
        .header("host", "localhost")
        .header("origin", "https://app.example.com")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", headers)
        .body(axum::body::Body::empty())
        .unwrap();
    let response = app.oneshot(request).await.unwrap();
    let value = response.headers().get(answer).map(HeaderValue::to_str);
    value.map(Result::unwrap).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn cors_lists_permit_requests_from_a_web_page() {
    let page = "https://app.example.com";
    let mut headers = cors::request_headers();
    headers.extend(cors::param_header("City"));
    let layer = CorsLayer::new()
        .allow_origin(HeaderValue::from_static(page))
        .allow_methods(cors::methods())
        .allow_headers(headers)
        .expose_headers(cors::exposed_headers());
    let endpoint = StreamableHttp::new(server()).allowed_origins([page]);
    let app = axum::Router::new()
        .route_service("/mcp", endpoint)
        .layer(layer);
    let sent = "authorization,content-type,last-event-id,mcp-method,mcp-name,mcp-param-city,\
                mcp-protocol-version,mcp-session-id";
    let allowed = preflight(app.clone(), sent, "access-control-allow-headers").await;
    for name in sent.split(',') {
        assert!(
            allowed.split(',').any(|allowed| allowed == name),
            "{name}: {allowed}"
        );
    }
    let methods = preflight(app.clone(), sent, "access-control-allow-methods").await;
    assert_eq!(methods, "GET,POST,DELETE");
    let origin = preflight(app, sent, "access-control-allow-origin").await;
    assert_eq!(origin, page);
}

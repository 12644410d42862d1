//! Calls of the client of the SDK without a socket: with a fixed token, and with authorization.

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::task::{Context, Poll};
use std::thread;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response};
use mcp::HttpChannel;
use mcp::auth::{Authorizer, OAuth};
use mcp::http::server::Body;
use mcp::prelude::*;
use serde_json::json;
use tower_service::Service;

use crate::Failure;

const MESSAGE: &str = "the quick brown fox";
/// Both clients send a token of the same length.
const TOKEN: &str = "mF_9.B5f-4.1JqM-mF_9.B5f-4.1JqM-mF_9.B5f-4.1JqM";

/// Makes calls with the same header in each request. It logs in first, too: allocations are faster
/// in a process that has allocated little before.
///
/// # Errors
///
/// Returns the error of the login, or of the first call that fails.
pub async fn with_fixed_token(count: usize) -> Result<(), Failure> {
    let (url, _authorizer) = log_in().await?;
    let channel = HttpChannel::with_service(&url, endpoint())?;
    let builder = Client::builder().bearer_token(TOKEN);
    call(&builder.connect(channel).await?, count).await
}

/// Makes calls with a token that an authorization server has issued. The login is before the first
/// call.
///
/// # Errors
///
/// Returns the error of the login, or of the first call that fails.
pub async fn with_authorizer(count: usize) -> Result<(), Failure> {
    let (url, authorizer) = log_in().await?;
    let channel = HttpChannel::with_service(&url, authorizer.service(endpoint()))?;
    call(&Client::connect(channel).await?, count).await
}

/// Obtains a token. Returns the URL of the MCP server, too.
async fn log_in() -> Result<(String, Authorizer), Failure> {
    let base = start_authorization_server()?;
    let url = format!("{base}{}", crate::PATH);
    let authorizer = OAuth::client_credentials("bench", "secret").authorizer(&url)?;
    authorizer.login().await?;
    Ok((url, authorizer))
}

async fn call(client: &Client, count: usize) -> Result<(), Failure> {
    let arguments = json!({"message": MESSAGE});
    for _ in 0..count {
        let answer = client.call("echo", &arguments).await?;
        if answer.text() != MESSAGE {
            return Err(answer.text().into());
        }
    }
    Ok(())
}

/// The endpoint of the measured server, with the request bodies of a client.
#[derive(Clone)]
struct Endpoint(StreamableHttp);

fn endpoint() -> Endpoint {
    Endpoint(StreamableHttp::new(crate::server(0)))
}

impl Service<Request<Bytes>> for Endpoint {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = <StreamableHttp as Service<Request<Full<Bytes>>>>::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request<Full<Bytes>>>::poll_ready(&mut self.0, context)
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        self.0.call(request.map(Full::new))
    }
}

/// Starts an authorization server that issues [`TOKEN`] to everyone. Returns its URL.
fn start_authorization_server() -> Result<String, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let base = format!("http://{}", listener.local_addr()?);
    let issuer = base.clone();
    // The thread ends with the program. A client whose connection breaks fails.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = respond(stream, &issuer);
        }
    });
    Ok(base)
}

fn respond(mut stream: TcpStream, base: &str) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let body = match first.split(' ').nth(1).unwrap_or_default() {
        "/.well-known/oauth-protected-resource/mcp" => json!({
            "resource": format!("{base}{}", crate::PATH),
            "authorization_servers": [base],
        }),
        "/.well-known/oauth-authorization-server" => json!({
            "issuer": base,
            "token_endpoint": format!("{base}/token"),
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }),
        "/token" => json!({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 86_400}),
        _ => {
            return stream.write_all(
                b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            );
        }
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

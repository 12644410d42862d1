//! A proxy that sends each request to the next node.

use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use mcp::HttpClient;
use mcp::core::ChannelError;
use tokio::net::TcpListener;
use tower::ServiceExt as _;

/// A proxy without stickiness. A request that no node has received, because a connection was refused, is
/// sent to the next node; another failure is answered with 502.
#[derive(Debug)]
pub struct Proxy {
    http: HttpClient,
    nodes: Mutex<Vec<String>>,
    requests: AtomicUsize,
    opened: AtomicUsize,
}

impl Proxy {
    /// Starts a proxy on a free loopback port. Returns it with the URL of its endpoint. With
    /// `keep_alive` it uses its connections to the nodes again.
    ///
    /// # Errors
    ///
    /// Returns an error if the port cannot be bound.
    pub async fn start(nodes: Vec<String>, keep_alive: bool) -> io::Result<(Arc<Self>, String)> {
        let idle = if keep_alive { usize::MAX } else { 0 };
        let http = HttpClient::builder().max_idle_per_host(idle).build();
        let proxy = Arc::new(Self {
            http: http.map_err(io::Error::other)?,
            nodes: Mutex::new(nodes),
            requests: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let app = Router::new().fallback(forward).with_state(proxy.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok((proxy, url))
    }

    /// Sets the nodes that receive requests from now on.
    pub fn set_nodes(&self, nodes: Vec<String>) {
        *self.nodes.lock().unwrap_or_else(PoisonError::into_inner) = nodes;
    }

    /// Returns the number of sessions that clients have opened.
    pub fn opened_sessions(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }

    /// Sends a GET to a node. Returns its status, or 502 without an answer.
    pub async fn status(&self, node: &str, path: &str) -> StatusCode {
        let request = http::Request::get(format!("http://{node}{path}")).body(Bytes::new());
        let Ok(request) = request else {
            return StatusCode::BAD_GATEWAY;
        };
        let response = self.http.clone().oneshot(request).await;
        response.map_or(StatusCode::BAD_GATEWAY, |response| response.status())
    }

    /// Returns the nodes, in the order in which they are tried for the next request.
    fn next(&self) -> Vec<String> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut nodes = nodes.clone();
        let first = number % nodes.len().max(1);
        nodes.rotate_left(first);
        nodes
    }
}

async fn forward(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let body = body.to_bytes();
    if body
        .windows(21)
        .any(|part| part == br#""method":"initialize""#)
    {
        proxy.opened.fetch_add(1, Ordering::Relaxed);
    }
    let path = head.uri.path().to_owned();
    head.headers.remove(http::header::HOST);
    head.headers.remove(http::header::CONTENT_LENGTH);
    for node in proxy.next() {
        let Ok(uri) = format!("http://{node}{path}").parse() else {
            continue;
        };
        head.uri = uri;
        let request = http::Request::from_parts(head.clone(), body.clone());
        match proxy.http.clone().oneshot(request).await {
            Ok(response) => return response.map(Body::new).into_response(),
            Err(ChannelError::Connect { .. }) => {}
            Err(_) => break,
        }
    }
    StatusCode::BAD_GATEWAY.into_response()
}

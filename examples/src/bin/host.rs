//! A host with an HTTP client, a credential storage and remote processes of its own:
//! `cargo run -p examples --bin host URL FILE [COMMAND…]`.
//!
//! FILE has the tokens that this host has always stored, in its own form. URL is a server that may demand
//! them, COMMAND starts a server in a remote process. The host lists the tools of both.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program"
)]

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use mcp::auth::{
    AuthError, CredentialStore, LoginSupport, LoopbackRedirect, MemoryStore, OAuth, Secret,
    StoreKey, StoreLock, StoredCredentials,
};
use mcp::prelude::*;
use mcp::stdio::{MessageTransport, PipeChannel};
use mcp::{HttpChannel, Over};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::{Mutex, mpsc};
use tower::Service;

/// The HTTP client of this host: every request names the host. A real one also has its proxy, its
/// certificates and its log.
#[derive(Clone)]
struct HostHttp(HyperClient<HttpConnector, Full<Bytes>>);

impl HostHttp {
    fn new() -> Self {
        Self(HyperClient::builder(TokioExecutor::new()).build_http())
    }
}

impl Service<Request<Bytes>> for HostHttp {
    type Response = Response<hyper::body::Incoming>;
    type Error = hyper_util::client::legacy::Error;
    type Future = hyper_util::client::legacy::ResponseFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Service::<Request<Full<Bytes>>>::poll_ready(&mut self.0, cx)
    }

    fn call(&mut self, mut request: Request<Bytes>) -> Self::Future {
        let agent = HeaderValue::from_static("example-host/1.0");
        request
            .headers_mut()
            .insert(http::header::USER_AGENT, agent);
        self.0.call(request.map(Full::new))
    }
}

/// The tokens of one server, as this host stores them.
#[derive(Serialize, Deserialize)]
struct Row {
    issuer: String,
    client_id: String,
    access_token: String,
    refresh_token: Option<String>,
    /// Seconds since 1970.
    expires_at: Option<u64>,
}

/// The storage of this host: one file with a row for each server. Registrations of this client and locks are
/// kept in memory, because no other process uses the file.
struct Storage {
    file: PathBuf,
    others: MemoryStore,
}

impl Storage {
    fn rows(&self) -> Result<BTreeMap<String, Row>, AuthError> {
        match std::fs::read(&self.file) {
            Ok(text) => serde_json::from_slice(&text).map_err(failed),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(failed(error)),
        }
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Row>)) -> Result<(), AuthError> {
        let mut rows = self.rows()?;
        change(&mut rows);
        let text = serde_json::to_vec_pretty(&rows).map_err(failed)?;
        std::fs::write(&self.file, text).map_err(failed)
    }
}

fn failed(error: impl ToString) -> AuthError {
    AuthError::Store(error.to_string())
}

#[async_trait]
impl CredentialStore for Storage {
    async fn load(&self, key: &StoreKey) -> Result<Option<Secret>, AuthError> {
        let Some(server) = key.server() else {
            return self.others.load(key).await;
        };
        let Some(row) = self.rows()?.remove(server) else {
            return Ok(None);
        };
        let mut credentials = StoredCredentials::new(row.issuer, row.client_id, row.access_token);
        credentials.refresh_token = row.refresh_token.map(Secret::new);
        credentials.expires_at = row.expires_at;
        Secret::try_from(&credentials).map(Some)
    }

    async fn save(&self, key: &StoreKey, record: &Secret) -> Result<(), AuthError> {
        let Some(server) = key.server() else {
            return self.others.save(key, record).await;
        };
        let credentials = StoredCredentials::try_from(record)?;
        let text = |secret: &Secret| secret.expose().to_owned();
        let row = Row {
            issuer: credentials.issuer,
            client_id: credentials.client_id,
            access_token: text(&credentials.access_token),
            refresh_token: credentials.refresh_token.as_ref().map(text),
            expires_at: credentials.expires_at,
        };
        self.change(|rows| drop(rows.insert(server.to_owned(), row)))
    }

    async fn remove(&self, key: &StoreKey) -> Result<(), AuthError> {
        match key.server() {
            Some(server) => self.change(|rows| drop(rows.remove(server))),
            None => self.others.remove(key).await,
        }
    }

    async fn lock(&self, key: &StoreKey, timeout: Duration) -> Result<StoreLock, AuthError> {
        self.others.lock(key, timeout).await
    }
}

/// Lists the tools of a server over HTTP, which may demand a login.
async fn list_remote(url: &str, file: PathBuf) -> mcp::Result<()> {
    let http = HostHttp::new();
    let storage = Storage {
        file,
        others: MemoryStore::new(),
    };
    let page = LoopbackRedirect::new().open_with(|page: String| async move {
        println!("log in at {page}");
        Ok(())
    });
    let oauth = OAuth::interactive("Example Host")
        .store(storage)
        .redirect(page)
        .http_client(http.clone());
    match oauth.probe(url).await? {
        LoginSupport::Login { issuer, .. } => println!("{url}: logins at {issuer}"),
        LoginSupport::TokenOnly => println!("{url}: needs a token from elsewhere"),
        _ => println!("{url}: no login"),
    }
    let channel = HttpChannel::with_service(url, http)?;
    let connected = Client::builder().oauth(oauth).connect(channel).await;
    if let Err(error) = &connected
        && let Some(AuthError::TokenRefused { challenge, .. }) = error.authorization()
    {
        eprintln!("the stored token is refused: {challenge:?}");
    }
    list(&connected?).await
}

/// Prints the tools of a server.
async fn list(client: &Client) -> mcp::Result<()> {
    for tool in client.list_tools().await? {
        println!("tool {}", tool.name);
    }
    Ok(client.close().await?)
}

/// A process on another machine. The executor of this host carries whole messages over a connection of its
/// own; here it is a task that runs the command on this machine.
struct RemoteProcess {
    /// `None` after the end of the connection.
    input: Mutex<Option<mpsc::Sender<Bytes>>>,
    output: Mutex<mpsc::Receiver<Bytes>>,
}

impl RemoteProcess {
    fn start(command: &[String]) -> io::Result<Self> {
        let [program, arguments @ ..] = command else {
            return Err(io::Error::other("the command is empty"));
        };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let (input, mut to_process) = mpsc::channel::<Bytes>(16);
        let (from_process, output) = mpsc::channel(16);
        tokio::spawn(async move {
            while let Some(message) = to_process.recv().await {
                let line = [&message[..], b"\n"].concat();
                if stdin.write_all(&line).await.is_err() {
                    break;
                }
            }
        });
        tokio::spawn(async move {
            let mut lines = BufReader::new(stdout).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if from_process.send(line.into()).await.is_err() {
                    break;
                }
            }
            // A real executor reports the exit status.
            drop(from_process);
            let _ = child.wait().await;
        });
        Ok(Self {
            input: Mutex::new(Some(input)),
            output: Mutex::new(output),
        })
    }
}

impl MessageTransport for RemoteProcess {
    type Error = io::Error;

    async fn send(&self, message: Bytes) -> io::Result<()> {
        let ended = || io::Error::from(io::ErrorKind::BrokenPipe);
        let sender = self.input.lock().await.clone().ok_or_else(ended)?;
        sender.send(message).await.map_err(|_| ended())
    }

    async fn receive(&self) -> io::Result<Option<Bytes>> {
        Ok(self.output.lock().await.recv().await)
    }

    async fn close(&self) -> io::Result<()> {
        // The process ends at the end of its input.
        self.input.lock().await.take();
        Ok(())
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [url, file, command @ ..] = &given[..] else {
        let usage = "usage: host URL FILE [COMMAND…]";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, usage).into());
    };
    list_remote(url, file.into()).await?;
    if !command.is_empty() {
        let process = RemoteProcess::start(command)?;
        let channel = PipeChannel::from_messages(process);
        list(&Client::connect(Over(channel)).await?).await?;
    }
    Ok(())
}

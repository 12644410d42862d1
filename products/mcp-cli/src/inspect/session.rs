//! The inspector's client, and its connection to the server.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use mcp::catalog::{Impact, Snapshot};
use mcp::prelude::*;
use mcp::types::{Method, ProtocolVersion};
use mcp::{ClientBuilder, Over};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tower::service_fn;

use super::exchanges::Exchanges;
use super::history::History;
use super::questions::Questions;
use super::requests;
use super::tap::{Tap, in_request};
use super::views::{Opened, Views};
use super::{login, observed};
use crate::output::describe_change;
use crate::remote::Remote;
use crate::sampling;
use crate::target::Server;

/// Time limit of a request. A user may answer questions while it runs.
const LIMIT: Duration = Duration::from_secs(600);
/// Largest number of requests that run at the same time.
const MAX_RUNNING: usize = 64;
/// Largest number of revisions that are compared.
const MAX_COMPARED: usize = 8;
/// Time for the end of a connection.
const CLOSE: Duration = Duration::from_secs(5);

/// One server, and the client that is connected with it.
pub(crate) struct Session {
    /// The server as the command line names it, without secrets.
    target: String,
    server: Server,
    against: Option<Against>,
    /// The command that answers sampling requests. `None`: the user does.
    sample_with: Option<String>,
    pub(super) history: Arc<History>,
    exchanges: Arc<Exchanges>,
    pub(super) questions: Questions,
    pub(super) views: Views,
    /// Port that serves views.
    pub(super) sandbox: u16,
    current: tokio::sync::Mutex<Option<Connected>>,
    running: Mutex<HashMap<String, CancellationToken>>,
    roots: Mutex<Vec<String>>,
    /// Shows the login steps on the last connection.
    login_steps: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// The snapshot that the server is compared with.
pub(crate) struct Against {
    /// The file name.
    pub(crate) file: String,
    pub(crate) snapshot: Snapshot,
}

struct Connected {
    client: Client,
    protocol: String,
    /// Listens to changes.
    _listener: Option<AbortOnDropHandle<()>>,
    /// Reports the end of the connection.
    _watcher: AbortOnDropHandle<()>,
}

/// The outcome of a request with one revision.
#[derive(Serialize)]
struct Compared<'a> {
    protocol: &'a str,
    /// The revision of the connection, if there was one.
    version: Option<&'static str>,
    ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A request that runs. It can be cancelled by its key until this is dropped.
struct PageRequest<'a> {
    session: &'a Session,
    key: String,
    token: CancellationToken,
}

impl Session {
    /// `sample_with` is a shell command that answers sampling requests.
    pub(crate) fn new(
        target: String,
        server: Server,
        against: Option<Against>,
        sample_with: Option<String>,
    ) -> Self {
        let history = Arc::new(History::new());
        Self {
            target,
            server,
            views: Views::new(history.clone()),
            sandbox: 0,
            against,
            sample_with,
            questions: Questions::new(history.clone()),
            exchanges: Arc::new(Exchanges::new(history.clone())),
            history,
            current: tokio::sync::Mutex::default(),
            running: Mutex::default(),
            roots: Mutex::default(),
            login_steps: Mutex::default(),
        }
    }

    /// Ends the connection, and begins another one.
    pub(super) async fn connect(&self, protocol: &str) -> Result<(), String> {
        self.views.close(None).await;
        let mut current = self.current.lock().await;
        if let Some(former) = current.take() {
            close(former).await;
        }
        self.history
            .add("connecting", json!({"protocol": protocol}));
        let connected = self.open_connection(protocol).await;
        let event = match &connected {
            Ok(_) => json!({"protocol": protocol}),
            Err(error) => json!({"protocol": protocol, "error": error}),
        };
        let connected = connected.map(|connected| *current = Some(connected));
        drop(current);
        self.history.add("connected", event);
        connected
    }

    async fn open_connection(&self, protocol: &str) -> Result<Connected, String> {
        let client = self.open_client(protocol).await?;
        Ok(Connected {
            _listener: self.listen(&client, Vec::new()).await,
            _watcher: self.watch_end(&client),
            client,
            protocol: protocol.to_owned(),
        })
    }

    /// Tells the page when the connection ends: it cannot know it before its next request otherwise.
    fn watch_end(&self, client: &Client) -> AbortOnDropHandle<()> {
        let (client, history) = (client.clone(), self.history.clone());
        AbortOnDropHandle::new(tokio::spawn(async move {
            let reason = client.closed().await.to_string();
            history.add("closed", json!({"reason": reason}));
        }))
    }

    async fn open_client(&self, protocol: &str) -> Result<Client, String> {
        let opened = self.server.open(|channel| {
            let exchanges = self.exchanges.clone();
            channel.map_service(|http| {
                service_fn(move |request| observed::send(http.clone(), request, exchanges.clone()))
            })
        });
        let (channel, authorizer) = opened.map_err(|failure| failure.to_string())?;
        let tap = Tap {
            inner: channel,
            history: self.history.clone(),
            exchanges: self.exchanges.clone(),
            rules: Arc::default(),
        };
        let builder = self.builder(protocol)?;
        let steps = authorizer.as_ref();
        let steps =
            steps.map(|authorizer| login::follow(authorizer.events(), self.history.clone()));
        *self.login_steps.lock() = steps;
        let client = builder
            .connect(Over(tap))
            .await
            .map_err(|error| error.to_string())?;
        let capabilities = client.capabilities().await;
        capabilities.map_err(|error| error.to_string())?;
        Ok(client)
    }

    fn builder(&self, protocol: &str) -> Result<ClientBuilder, String> {
        let mode = crate::target::mode(protocol).map_err(|failure| failure.to_string())?;
        let (forms, urls, samples) = (
            self.questions.clone(),
            self.questions.clone(),
            self.questions.clone(),
        );
        let builder = Client::builder()
            .identity("mcp-inspector", env!("CARGO_PKG_VERSION"))
            .mode(mode)
            .tasks()
            .extension(mcp::apps::Apps::new())
            .timeout(LIMIT)
            .max_total_timeout(LIMIT)
            .roots(self.roots.lock().iter().map(String::as_str))
            .on_elicit(move |form| forms.clone().form(form))
            .on_elicit_url(move |visit| urls.clone().visit(visit));
        Ok(match self.sample_with.clone() {
            Some(command) => {
                builder.on_sample(move |request| sampling::sample(command.clone(), LIMIT, request))
            }
            None => builder.on_sample(move |request| samples.clone().sample(request)),
        })
    }

    /// Keeps changes in the history. `None` where the server announces none.
    async fn listen(&self, client: &Client, uris: Vec<String>) -> Option<AbortOnDropHandle<()>> {
        let subscribe = client.subscribe(uris).tools_changed();
        let changes = subscribe.prompts_changed().resources_changed().await;
        let history = self.history.clone();
        match changes {
            Ok(mut changes) => Some(AbortOnDropHandle::new(tokio::spawn(async move {
                while let Some(Ok(change)) = changes.next().await {
                    let (what, uri) = describe_change(&change);
                    history.add("change", json!({"what": what, "uri": uri}));
                }
            }))),
            Err(error) => {
                history.add("failure", json!({"text": error.to_string()}));
                None
            }
        }
    }

    /// Describes the connection for the page.
    pub(super) async fn describe(&self) -> Value {
        let current = self.current.lock().await;
        let roots = self.roots.lock().clone();
        let against = self.against.as_ref().map(|against| &against.file);
        let Some(Connected {
            client, protocol, ..
        }) = &*current
        else {
            return json!({
                "target": self.target, "roots": roots, "connected": false,
                "login": self.login_server().is_some(), "against": against,
            });
        };
        let negotiation = client.negotiation();
        let tried: Vec<Value> = negotiation
            .tried
            .iter()
            .map(|attempt| {
                json!({
                    "method": attempt.method.as_str(),
                    "version": attempt.version.as_str(),
                    "outcome": attempt.outcome,
                })
            })
            .collect();
        let dropped = client.omissions().into_iter();
        let dropped = dropped.filter(|dropped| dropped.list == Method::ListTools.as_str());
        let dropped: Vec<String> = dropped.map(|dropped| dropped.to_string()).collect();
        json!({
            "target": self.target,
            "roots": roots,
            "connected": client.close_reason().is_none(),
            "closed": client.close_reason().map(|reason| reason.to_string()),
            "protocol": protocol,
            "version": client.protocol_version().as_str(),
            "server": client.server_info(),
            "capabilities": client.server_capabilities(),
            "instructions": client.instructions(),
            "negotiation": tried,
            "droppedTools": dropped,
            "sandbox": self.sandbox,
            "login": self.login_server().is_some(),
            "against": against,
        })
    }

    /// Sends a page request. It can be cancelled by its key.
    pub(super) async fn request(
        &self,
        key: String,
        method: &str,
        params: &RawValue,
    ) -> Result<Box<RawValue>, String> {
        let client = self.client().await?;
        let running = self.start(key)?;
        let cancelled = running.token.clone();
        let sent = requests::send(&client, method, params, cancelled, &self.history);
        in_request(&running.key, sent).await
    }

    /// The server whose token the user does not give.
    fn login_server(&self) -> Option<&Remote> {
        match &self.server {
            Server::Http(remote) if !remote.has_token => Some(remote),
            _ => None,
        }
    }

    /// Logs in at the server, and connects again.
    pub(super) async fn login(&self, key: String, protocol: &str) -> Result<(), String> {
        let remote = self
            .login_server()
            .ok_or("the server is a command, or its token is on the command line")?;
        let running = self.start(key)?;
        tokio::select! {
            done = login::run(remote, &self.history) => done?,
            () = running.token.cancelled() => {
                let ended = json!({"step": "ended", "error": "the login was cancelled"});
                self.history.add("auth", ended);
                return Err("the login was cancelled".to_owned());
            }
        }
        self.connect(protocol).await
    }

    /// Shows the view of a tool.
    pub(super) async fn open_view(&self, opened: Opened) -> Result<Value, String> {
        let client = self.client().await?;
        self.views.open(client, opened).await
    }

    /// Returns the differences between the snapshot of the command line and the server.
    pub(super) async fn diff(&self) -> Result<Value, String> {
        let Some(Against { file, snapshot }) = &self.against else {
            return Err("start with `--against FILE`; `mcp snapshot` writes the file".to_owned());
        };
        let client = self.client().await?;
        let new = Snapshot::capture(&client).await;
        let diff = snapshot.diff(&new.map_err(|error| error.to_string())?);
        Ok(json!({
            "file": file,
            "impact": diff.impact().map(Impact::as_str),
            "differences": diff,
        }))
    }

    /// Sends a request once for each revision, on separate connections.
    pub(super) async fn compare(
        &self,
        key: String,
        method: &str,
        params: &RawValue,
        protocols: &[String],
    ) -> Result<Box<RawValue>, String> {
        let running = self.start(key)?;
        let mut outcomes = Vec::new();
        for protocol in protocols.iter().take(MAX_COMPARED) {
            let begun = Instant::now();
            let sent = self.send_once(protocol, method, params, &running.token);
            let (version, result) = match in_request(&running.key, sent).await {
                Ok((version, result)) => (Some(version.as_str()), result),
                Err(error) => (None, Err(error)),
            };
            let (result, error) = match result {
                Ok(result) => (Some(result), None),
                Err(error) => (None, Some(error)),
            };
            let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            outcomes.push(Compared {
                protocol,
                version,
                ms,
                result,
                error,
            });
        }
        to_raw_value(&outcomes).map_err(|error| error.to_string())
    }

    async fn send_once(
        &self,
        protocol: &str,
        method: &str,
        params: &RawValue,
        token: &CancellationToken,
    ) -> Result<(ProtocolVersion, Result<Box<RawValue>, String>), String> {
        let client = self.open_client(protocol).await?;
        let version = client.protocol_version();
        let result = requests::send(&client, method, params, token.clone(), &self.history);
        let result = result.await;
        let _ = tokio::time::timeout(CLOSE, client.close()).await;
        Ok((version, result))
    }

    /// Cancels a request. Returns false if it has ended.
    pub(super) fn cancel(&self, key: &str) -> bool {
        let running = self.running.lock();
        running.get(key).map(CancellationToken::cancel).is_some()
    }

    /// Subscribes to these resources, in place of the former ones.
    pub(super) async fn watch(&self, uris: Vec<String>) -> Result<(), String> {
        let client = self.client().await?;
        let listener = self.listen(&client, uris).await;
        let is_listening = listener.is_some();
        if let Some(connected) = &mut *self.current.lock().await {
            connected._listener = listener;
        }
        if is_listening {
            Ok(())
        } else {
            Err("the server refused the subscription".to_owned())
        }
    }

    /// Replaces the roots.
    pub(super) async fn set_roots(&self, roots: Vec<String>) -> Result<(), String> {
        let client = self.client().await?;
        let set = client.set_roots(roots.iter().map(String::as_str)).await;
        set.map_err(|error| error.to_string())?;
        *self.roots.lock() = roots;
        Ok(())
    }

    async fn client(&self) -> Result<Client, String> {
        let current = self.current.lock().await;
        let connected = current.as_ref();
        connected
            .map(|connected| connected.client.clone())
            .ok_or_else(|| "not connected".to_owned())
    }

    fn start(&self, key: String) -> Result<PageRequest<'_>, String> {
        let mut running = self.running.lock();
        if running.len() >= MAX_RUNNING || running.contains_key(&key) {
            return Err(format!("{} requests are running", running.len()));
        }
        let token = CancellationToken::new();
        running.insert(key.clone(), token.clone());
        drop(running);
        Ok(PageRequest {
            session: self,
            key,
            token,
        })
    }
}

impl Drop for PageRequest<'_> {
    fn drop(&mut self) {
        self.session.running.lock().remove(&self.key);
    }
}

async fn close(former: Connected) {
    drop((former._listener, former._watcher));
    // A server that does not answer is left behind.
    let _ = tokio::time::timeout(CLOSE, former.client.close()).await;
}

//! The views of MCP Apps that the page shows.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{sink, stream};
use mcp::Client;
use mcp::apps::{AppDocument, HostBridge, HostContext, Permissions, Refusal, Theme, ToolUi, View};
use mcp::types::RawObject;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::history::History;
use crate::page_guard;

/// Largest number of views that are open at the same time. The oldest is closed.
const MAX_VIEWS: usize = 4;
/// Messages of a view that wait for the bridge.
const INBOX: usize = 64;
/// Time for a view to answer before it is closed.
const TEARDOWN: Duration = Duration::from_secs(2);

/// The call whose view is shown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Opened {
    tool: String,
    #[serde(default)]
    arguments: RawObject,
    #[serde(default)]
    dark: bool,
}

/// The open views.
#[derive(Debug)]
pub(super) struct Views {
    history: Arc<History>,
    open: Mutex<VecDeque<OpenView>>,
}

#[derive(Debug)]
struct OpenView {
    id: String,
    view: View,
    document: AppDocument,
    incoming: mpsc::Sender<String>,
    _tasks: [AbortOnDropHandle<()>; 2],
}

impl Views {
    pub(super) fn new(history: Arc<History>) -> Self {
        Self {
            history,
            open: Mutex::default(),
        }
    }

    /// Reads the document of a tool, calls the tool, and connects the host with the view, which opens later.
    pub(super) async fn open(&self, client: Client, opened: Opened) -> Result<Value, String> {
        let failed = |error: mcp::client::Error| error.to_string();
        let tools = client.list_tools().await.map_err(failed)?;
        let tool = tools.into_iter().find(|tool| tool.name == opened.tool);
        let tool = tool.ok_or("the server has no such tool")?;
        let uri = ToolUi::of(&tool).and_then(|ui| ui.resource_uri);
        let uri = uri.ok_or("the tool has no user interface")?;
        let read = client.read_resource(&*uri).await.map_err(failed)?;
        let document = AppDocument::new(&uri, &read, None).map_err(|error| error.to_string())?;
        // The inspector grants no permission of the browser.
        let document = document.grant(&Permissions::new());
        let id = page_guard::random().map_err(|failure| failure.to_string())?;
        let theme = if opened.dark {
            Theme::Dark
        } else {
            Theme::Light
        };
        let context = HostContext::new().theme(theme).tool(&tool);
        let bridge = self.bridge(&id).context(context).serve(client.clone());
        let bridge = bridge.document(document.clone());
        let (incoming, inbox) = mpsc::channel(INBOX);
        let inbox = stream::unfold(inbox, async |mut inbox| {
            inbox.recv().await.map(|message| (message, inbox))
        });
        let (view, connection) = bridge.connect(inbox, self.outbox(&id));
        let history = self.history.clone();
        let name = id.clone();
        let connection = tokio::spawn(async move {
            let ended = connection.await;
            let reason = ended.err().map(|error| error.to_string());
            history.add(
                "appEvent",
                json!({"view": name, "what": "ended", "text": reason}),
            );
        });
        let feed = tokio::spawn(feed(
            client,
            view.clone(),
            opened,
            self.history.clone(),
            id.clone(),
        ));
        let csp = document.csp_header().to_owned();
        let former = self.push(OpenView {
            id: id.clone(),
            view,
            document,
            incoming,
            _tasks: [
                AbortOnDropHandle::new(connection),
                AbortOnDropHandle::new(feed),
            ],
        });
        close(former).await;
        Ok(json!({"view": id, "uri": uri, "csp": csp}))
    }

    /// Returns the host for a view. It shows what the view asks for, and only calls the view's server.
    fn bridge(&self, id: &str) -> HostBridge {
        let note = {
            let (history, id) = (self.history.clone(), id.to_owned());
            move |what: &str, text: String| {
                let event = json!({"view": id, "what": what, "text": text});
                history.add("appEvent", event);
            }
        };
        let (links, messages, logs, sizes) = (note.clone(), note.clone(), note.clone(), note);
        HostBridge::new("mcp-inspector", env!("CARGO_PKG_VERSION"))
            .on_open_link(move |url| {
                links("link", url.to_string());
                ready(Err(Refusal::new(
                    "the inspector shows links, and opens none",
                )))
            })
            .on_message(move |message| {
                let text = serde_json::to_string(&message.content);
                messages("message", text.unwrap_or_default());
                ready(Ok(()))
            })
            .on_log(move |message| logs("log", message.data.to_string()))
            .on_size(move |size| {
                let pixels = |length: Option<f64>| {
                    length.map_or("?".to_owned(), |length| length.round().to_string())
                };
                let text = format!("{} x {}", pixels(size.width), pixels(size.height));
                sizes("size", text);
            })
    }

    /// Messages of the host go to the page, which hands them to the frame.
    fn outbox(&self, id: &str) -> impl sink::Sink<String, Error = Infallible> + Send + use<> {
        let (history, id) = (self.history.clone(), id.to_owned());
        sink::unfold((), move |(), message: String| {
            history.add("app", json!({"view": id, "message": message}));
            ready(Ok(()))
        })
    }

    /// Hands a view message to the host.
    pub(super) fn receive(&self, id: &str, message: String) -> Result<(), String> {
        let open = self.open.lock();
        let view = open.iter().find(|view| view.id == id);
        let view = view.ok_or("the view is closed")?;
        let sent = view.incoming.try_send(message);
        sent.map_err(|_| "the view sends too much, or has ended".to_owned())
    }

    /// Returns the document of a view.
    pub(super) fn document(&self, id: &str) -> Option<AppDocument> {
        let open = self.open.lock();
        let view = open.iter().find(|view| view.id == id);
        view.map(|view| view.document.clone())
    }

    /// Closes a view, or all.
    pub(super) async fn close(&self, id: Option<&str>) {
        let former = {
            let mut open = self.open.lock();
            let all = std::mem::take(&mut *open).into_iter();
            let (former, rest) = all.partition(|view| id.is_none_or(|id| view.id == id));
            *open = rest;
            former
        };
        close(former).await;
    }

    /// Adds a view. Returns the oldest views beyond the limit.
    fn push(&self, view: OpenView) -> VecDeque<OpenView> {
        let mut open = self.open.lock();
        open.push_back(view);
        let excess = open.len().saturating_sub(MAX_VIEWS);
        open.drain(..excess).collect()
    }
}

async fn close(views: VecDeque<OpenView>) {
    for it in views {
        // A view that does not answer is removed all the same.
        let _ = tokio::time::timeout(TEARDOWN, it.view.teardown("closed")).await;
    }
}

/// Gives the arguments and the result of the call to the view.
async fn feed(client: Client, view: View, opened: Opened, history: Arc<History>, id: String) {
    let fed = async {
        let sent = view.send_input(&opened.arguments).await;
        sent.map_err(|error| error.to_string())?;
        match client.call(opened.tool, opened.arguments).await {
            Ok(result) => view.send_result(&result).await,
            Err(error) => view.send_cancelled(&error.to_string()).await,
        }
        .map_err(|error| error.to_string())
    };
    if let Err(text) = fed.await {
        history.add(
            "appEvent",
            json!({"view": id, "what": "failed", "text": text}),
        );
    }
}

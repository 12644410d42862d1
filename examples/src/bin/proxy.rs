//! A proxy that edits the messages between clients and a server, in both eras:
//!
//! ```text
//! cargo run -p examples --bin proxy http://127.0.0.1:8000/mcp [ADDRESS]   # over HTTP
//! cargo run -p examples --bin proxy -- target/debug/stdio_server          # over standard streams
//! ```
//!
//! It offers the server's tools as one list with a prefix, says in `_meta` that it forwarded a message, and redacts
//! keys in results and log messages. Everything else passes, whatever it is.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program"
)]

use std::collections::HashMap;

use mcp::types::{
    CallToolResult, ClientMessage, ClientParams, ContentBlock, JsonObject, ListToolsResult,
    Lossless, Page, ParseError, RequestId, ServerMessage, ServerParams, Tool,
};
use serde_json::Value;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Prefix of the offered tools.
const PREFIX: &str = "shop_";
/// Member of `_meta` of forwarded messages.
const FORWARDED: &str = "com.example/forwarded";
/// Words with this beginning are redacted.
const KEY: &str = "sk-";
/// Limits the further pages that a server can make the proxy read, and the requests that wait for a response.
const MAX_PAGES: usize = 100;
const MAX_ASKED: usize = 1_000;

/// The edits, with what they remember of requests.
#[derive(Default)]
struct Editor {
    asked: HashMap<RequestId, Asked>,
}

/// A request of the client that waits for its response.
enum Asked {
    Call,
    /// The last page that was asked for, and the tools of those before it.
    List(Lossless<Page>, Vec<Vec<Tool>>),
}

/// The next step for a message of the server.
enum Step {
    Forward(ServerMessage),
    /// The message is for the server; nothing is forwarded.
    Ask(ClientMessage),
}

impl Editor {
    /// Edits a message of the client.
    fn edit_client(&mut self, message: &mut ClientMessage) {
        if let Some(meta) = message.meta_mut() {
            meta.insert(FORWARDED, true);
        }
        let ClientMessage::Request { id, params } = message else {
            return;
        };
        let asked = match params {
            ClientParams::CallTool(call) => {
                if let Some(name) = call.name.strip_prefix(PREFIX) {
                    call.name = name.to_owned();
                }
                Asked::Call
            }
            ClientParams::ListTools(page) => Asked::List(page.clone(), Vec::new()),
            _ => return,
        };
        if self.asked.len() < MAX_ASKED {
            self.asked.insert(id.clone(), asked);
        }
    }

    /// Edits a message of the server.
    fn edit_server(&mut self, mut message: ServerMessage) -> serde_json::Result<Step> {
        match &mut message {
            ServerMessage::Response { id, result } => match self.asked.remove(id) {
                Some(Asked::Call) if is_complete(result) => result.edit(redact_result)?,
                Some(Asked::List(mut page, mut tools)) => {
                    let list: ListToolsResult = result.read_as()?;
                    if list.next_cursor.is_some() && tools.len() < MAX_PAGES {
                        page.cursor = list.next_cursor;
                        tools.push(list.tools);
                        let id = id.clone();
                        let params = ClientParams::ListTools(page.clone());
                        self.asked.insert(id.clone(), Asked::List(page, tools));
                        return Ok(Step::Ask(ClientMessage::Request { id, params }));
                    }
                    result.edit(|list: &mut ListToolsResult| {
                        list.next_cursor = None;
                        list.tools.splice(..0, tools.into_iter().flatten());
                        for tool in &mut list.tools {
                            tool.name.insert_str(0, PREFIX);
                        }
                    })?;
                }
                _ => {}
            },
            ServerMessage::Error { id: Some(id), .. } => drop(self.asked.remove(id)),
            ServerMessage::Notification {
                params: ServerParams::LogMessage(log),
            } => redact(&mut log.data),
            _ => {}
        }
        if let Some(meta) = message.meta_mut() {
            meta.insert(FORWARDED, true);
        }
        Ok(Step::Forward(message))
    }
}

/// A modern result can also ask for input, or announce a task.
fn is_complete(result: &JsonObject) -> bool {
    let kind = result.get("resultType").and_then(Value::as_str);
    kind.is_none_or(|kind| kind == "complete")
}

fn redact_result(result: &mut CallToolResult) {
    for block in &mut result.content {
        if let ContentBlock::Text(content) = block {
            redact_text(&mut content.text);
        }
    }
    if let Some(mut value) = result.structured() {
        redact(&mut value);
        result.structured_content = serde_json::value::to_raw_value(&value).ok();
    }
}

/// Redacts all strings of a value.
fn redact(value: &mut Value) {
    match value {
        Value::String(text) => redact_text(text),
        Value::Array(elements) => elements.iter_mut().for_each(redact),
        Value::Object(members) => members.values_mut().for_each(redact),
        _ => {}
    }
}

fn redact_text(text: &mut String) {
    if text.contains(KEY) {
        let words = text.split(' ').map(|word| match word.find(KEY) {
            Some(start) => format!("{}[redacted]", &word[..start]),
            None => word.to_owned(),
        });
        *text = words.collect::<Vec<_>>().join(" ");
    }
}

/// The answer to a message that cannot be read.
fn refusal(error: &ParseError) -> ServerMessage {
    ServerMessage::Error {
        id: error.id().cloned(),
        error: error.to_error(),
    }
}

/// Over HTTP: each POST has an editor, which lives as long as its response.
mod http {
    use axum::body::{Body, BodyDataStream, Bytes, to_bytes};
    use axum::extract::{Request, State};
    use axum::http::{Method, StatusCode, Uri, header};
    use axum::response::sse::{Event, Sse};
    use axum::response::{IntoResponse as _, Response};
    use axum::{Json, Router};
    use futures_util::{StreamExt as _, stream};
    use mcp::HttpClient;
    use mcp::http::headers::{encode, names};
    use mcp::http::sse::{Decoder, SseItem, SseLimits};
    use mcp::types::{ClientMessage, ClientParams, ServerMessage};
    use tokio::net::TcpListener;
    use tower::Service as _;

    use super::{BoxError, Editor, Step, refusal};

    const MAX_BODY: usize = 4 * 1024 * 1024;

    #[derive(Clone)]
    struct Proxy {
        http: HttpClient,
        server: Uri,
    }

    pub(super) async fn serve(url: &str, address: &str) -> Result<(), BoxError> {
        let proxy = Proxy {
            http: HttpClient::new()?,
            server: url.parse()?,
        };
        let listener = TcpListener::bind(address).await?;
        println!("http://{}/mcp", listener.local_addr()?);
        let app = Router::new().fallback(answer).with_state(proxy);
        Ok(axum::serve(listener, app).await?)
    }

    async fn answer(State(proxy): State<Proxy>, request: Request) -> Response {
        match forward(proxy, request).await {
            Ok(response) => response,
            Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
        }
    }

    async fn forward(proxy: Proxy, request: Request) -> Result<Response, BoxError> {
        let (head, body) = request.into_parts();
        let body = to_bytes(body, MAX_BODY).await?;
        let mut request = Request::new(());
        *request.method_mut() = head.method;
        *request.uri_mut() = proxy.server;
        *request.headers_mut() = head.headers;
        // Headers of the connection to this proxy. The messages must not be compressed.
        for name in [
            header::HOST,
            header::CONTENT_LENGTH,
            header::CONNECTION,
            header::ACCEPT_ENCODING,
        ] {
            request.headers_mut().remove(name);
        }
        let mut exchange = Exchange {
            http: proxy.http,
            request,
            editor: Editor::default(),
            decoder: Decoder::new(SseLimits::default()),
            chunk: Bytes::new(),
            body: Body::empty().into_data_stream(),
        };
        let response = if exchange.request.method() == Method::POST {
            match ClientMessage::parse(&body) {
                Ok(mut message) => {
                    exchange.editor.edit_client(&mut message);
                    exchange.send(&message).await?
                }
                Err(error) => {
                    return Ok((StatusCode::BAD_REQUEST, Json(refusal(&error))).into_response());
                }
            }
        } else {
            exchange.send_body(body).await?
        };
        exchange.respond(response).await
    }

    /// A request of the client, with the events of the server's response.
    struct Exchange {
        http: HttpClient,
        request: Request<()>,
        editor: Editor,
        decoder: Decoder,
        chunk: Bytes,
        body: BodyDataStream,
    }

    impl Exchange {
        /// Sends a message. A renamed tool is renamed in its header as well.
        async fn send(&mut self, message: &ClientMessage) -> Result<Response, BoxError> {
            if let ClientMessage::Request {
                params: ClientParams::CallTool(call),
                ..
            } = message
                && let Some(name) = self.request.headers_mut().get_mut(names::MCP_NAME)
            {
                *name = encode(&call.name);
            }
            self.send_body(serde_json::to_vec(message)?.into()).await
        }

        async fn send_body(&mut self, body: Bytes) -> Result<Response, BoxError> {
            let request = self.request.clone().map(|()| body);
            Ok(self.http.call(request).await?.map(Body::new))
        }

        /// Takes the messages of a response: an event stream, or one message.
        async fn receive(&mut self, response: Response) -> Result<(), BoxError> {
            let kind = response.headers().get(header::CONTENT_TYPE);
            let is_stream =
                kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
            let mut body = response.into_body();
            if !is_stream {
                let message = ServerMessage::parse(&to_bytes(body, MAX_BODY).await?)?;
                body = format!("data: {}\n\n", serde_json::to_string(&message)?).into();
            }
            self.body = body.into_data_stream();
            Ok(())
        }

        /// Answers with an event stream, which clients accept in place of a message.
        async fn respond(mut self, mut response: Response) -> Result<Response, BoxError> {
            for name in [header::TRANSFER_ENCODING, header::CONNECTION] {
                response.headers_mut().remove(name);
            }
            let mut headers = response.headers().clone();
            if response.status() != StatusCode::OK || headers.remove(header::CONTENT_TYPE).is_none()
            {
                return Ok(response);
            }
            headers.remove(header::CONTENT_LENGTH);
            self.receive(response).await?;
            let events = stream::try_unfold(self, async |mut exchange| {
                let event = exchange.next().await?;
                Ok::<_, BoxError>(event.map(|event| (event, exchange)))
            });
            let mut response = Sse::new(events).into_response();
            response.headers_mut().extend(headers);
            Ok(response)
        }

        /// Returns the next event for the client.
        async fn next(&mut self) -> Result<Option<Event>, BoxError> {
            loop {
                let Some(item) = self.decoder.decode(&mut self.chunk) else {
                    match self.body.next().await {
                        Some(chunk) => self.chunk = chunk?,
                        None => return Ok(None),
                    }
                    continue;
                };
                let SseItem::Event(mut event) = item? else {
                    continue;
                };
                // The first event of a legacy stream has an id and no message.
                if !event.data.is_empty() {
                    let message = ServerMessage::parse(event.data.as_bytes())?;
                    match self.editor.edit_server(message)? {
                        Step::Forward(message) => event.data = serde_json::to_string(&message)?,
                        Step::Ask(request) => {
                            let response = self.send(&request).await?;
                            self.receive(response).await?;
                            continue;
                        }
                    }
                }
                let mut sent = Event::default().event(event.name).data(event.data);
                if let Some(id) = event.id {
                    sent = sent.id(id);
                }
                if let Some(retry) = event.retry {
                    sent = sent.retry(retry);
                }
                return Ok(Some(sent));
            }
        }
    }
}

/// Over standard streams: one editor for the connection.
mod stdio {
    use std::process::Stdio;

    use mcp::types::{ClientMessage, ServerMessage};
    use serde::Serialize;
    use tokio::io::{AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader};
    use tokio::process::Command;
    use tokio::sync::mpsc;

    use super::{BoxError, Editor, Step, refusal};

    /// Lines that wait to be written to the server.
    const MAX_WAITING: usize = 64;

    pub(super) async fn run(command: &[String]) -> Result<(), BoxError> {
        let [program, args @ ..] = command else {
            return Err("the command of the server is missing".into());
        };
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut to_server = child.stdin.take().ok_or("no standard input")?;
        let from_server = child.stdout.take().ok_or("no standard output")?;
        let (queue, mut waiting) = mpsc::channel::<ClientMessage>(MAX_WAITING);
        let writer = tokio::spawn(async move {
            while let Some(message) = waiting.recv().await {
                if write(&mut to_server, &message).await.is_err() {
                    break;
                }
            }
        });
        let mut queue = Some(queue);
        let mut client = BufReader::new(tokio::io::stdin()).lines();
        let mut server = BufReader::new(from_server).lines();
        let mut output = tokio::io::stdout();
        let mut editor = Editor::default();
        loop {
            let step = tokio::select! {
                line = client.next_line(), if queue.is_some() => {
                    let Some(line) = line? else {
                        // The server ends when it has answered.
                        queue = None;
                        continue;
                    };
                    match ClientMessage::parse(line.as_bytes()) {
                        Ok(mut message) => {
                            editor.edit_client(&mut message);
                            Step::Ask(message)
                        }
                        Err(error) => Step::Forward(refusal(&error)),
                    }
                }
                line = server.next_line() => {
                    let Some(line) = line? else { break };
                    match ServerMessage::parse(line.as_bytes()) {
                        Ok(message) => editor.edit_server(message)?,
                        Err(error) => {
                            eprintln!("the server wrote a line that is not a message: {error}");
                            continue;
                        }
                    }
                }
            };
            match (step, &queue) {
                (Step::Forward(message), _) => write(&mut output, &message).await?,
                (Step::Ask(message), Some(queue)) => queue.send(message).await?,
                (Step::Ask(_), None) => {}
            }
        }
        writer.abort();
        Ok(())
    }

    async fn write(
        to: &mut (impl AsyncWrite + Unpin),
        message: &impl Serialize,
    ) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        to.write_all(&line).await?;
        to.flush().await
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first() {
        Some(url) if url.starts_with("http://") || url.starts_with("https://") => {
            let address = args.get(1).map_or("127.0.0.1:8001", String::as_str);
            http::serve(url, address).await
        }
        _ => stdio::run(&args).await,
    }
}

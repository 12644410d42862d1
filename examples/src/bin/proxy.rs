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
use std::process::ExitCode;

use mcp::types::{
    CallToolResult, ClientMessage, ClientParams, ContentBlock, JsonObject, ListToolsResult,
    Lossless, ParseError, RequestId, ServerMessage, ServerParams, Tool,
};
use serde_json::Value;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Prefix of the offered tools.
const PREFIX: &str = "shop_";
/// Member of `_meta` of forwarded messages.
const FORWARDED: &str = "com.example/forwarded";
/// Words with this beginning are redacted.
const KEY: &str = "sk-";
/// Limits the pages that a server can make the proxy read, and the requests that wait for a response.
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
    /// The request, and the tools of the pages so far.
    List {
        request: Box<ClientMessage>,
        tools: Vec<Tool>,
        pages: usize,
    },
}

/// The next step for a message of the server.
enum Step {
    Forward(ServerMessage),
    /// The server is asked again; its message is not forwarded.
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
            ClientParams::ListTools(_) => Asked::List {
                request: Box::new(ClientMessage::Request {
                    id: id.clone(),
                    params: params.clone(),
                }),
                tools: Vec::new(),
                pages: 1,
            },
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
                Some(Asked::List {
                    request,
                    tools,
                    pages,
                }) => {
                    if let Some(request) = self.merge(result, request, tools, pages)? {
                        return Ok(Step::Ask(request));
                    }
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

    /// Adds the tools of the pages so far to a page. Returns the request for the next one, if there is one.
    fn merge(
        &mut self,
        page: &mut Lossless<JsonObject>,
        mut request: Box<ClientMessage>,
        mut tools: Vec<Tool>,
        pages: usize,
    ) -> serde_json::Result<Option<ClientMessage>> {
        let list: ListToolsResult = page.read_as()?;
        if let ClientMessage::Request {
            id,
            params: ClientParams::ListTools(params),
        } = &mut *request
            && list.next_cursor.is_some()
            && pages < MAX_PAGES
        {
            params.cursor = list.next_cursor;
            tools.extend(list.tools);
            let (id, again) = (id.clone(), (*request).clone());
            let pages = pages + 1;
            self.asked.insert(
                id,
                Asked::List {
                    request,
                    tools,
                    pages,
                },
            );
            return Ok(Some(again));
        }
        page.edit(|list: &mut ListToolsResult| {
            list.next_cursor = None;
            list.tools.splice(..0, tools);
            for tool in &mut list.tools {
                tool.name.insert_str(0, PREFIX);
            }
        })?;
        Ok(None)
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
    use axum::Router;
    use axum::body::{Body, BodyDataStream, Bytes, to_bytes};
    use axum::extract::{Request, State};
    use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
    use axum::response::{IntoResponse as _, Response};
    use futures_util::{StreamExt as _, stream};
    use mcp::HttpClient;
    use mcp::http::headers::{encode, names};
    use mcp::http::sse::{Decoder, SseEvent, SseItem, SseLimits};
    use mcp::types::{ClientMessage, ClientParams, ServerMessage};
    use tokio::net::TcpListener;
    use tower::Service as _;

    use super::{BoxError, Editor, Step, refusal};

    const MAX_BODY: usize = 4 * 1024 * 1024;
    const EVENT_STREAM: &str = "text/event-stream";

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
        let mut exchange = Exchange {
            proxy,
            method: head.method,
            headers: head.headers,
            editor: Editor::default(),
            decoder: Decoder::new(SseLimits::default()),
            chunk: Bytes::new(),
            body: None,
        };
        // Headers of the connection to this proxy. The messages must not be compressed.
        for name in [
            header::HOST,
            header::CONTENT_LENGTH,
            header::CONNECTION,
            header::ACCEPT_ENCODING,
        ] {
            exchange.headers.remove(name);
        }
        let response = if exchange.method == Method::POST {
            match ClientMessage::parse(&body) {
                Ok(mut message) => {
                    exchange.editor.edit_client(&mut message);
                    exchange.send(&message).await?
                }
                Err(error) => {
                    let text = serde_json::to_string(&refusal(&error))?;
                    let json = [(header::CONTENT_TYPE, "application/json")];
                    return Ok((StatusCode::BAD_REQUEST, json, text).into_response());
                }
            }
        } else {
            exchange.send_body(body).await?
        };
        exchange.respond(response).await
    }

    /// A request of the client, with the events of the server's response.
    struct Exchange {
        proxy: Proxy,
        method: Method,
        headers: HeaderMap,
        editor: Editor,
        decoder: Decoder,
        chunk: Bytes,
        body: Option<BodyDataStream>,
    }

    impl Exchange {
        /// Sends a message. A renamed tool is renamed in its header as well.
        async fn send(&mut self, message: &ClientMessage) -> Result<Response, BoxError> {
            if let ClientMessage::Request {
                params: ClientParams::CallTool(call),
                ..
            } = message
                && self.headers.contains_key(names::MCP_NAME)
            {
                self.headers.insert(names::MCP_NAME, encode(&call.name));
            }
            self.send_body(serde_json::to_vec(message)?.into()).await
        }

        fn send_body(
            &self,
            body: Bytes,
        ) -> impl Future<Output = Result<Response, BoxError>> + Send + use<> {
            let mut request = Request::new(body);
            *request.method_mut() = self.method.clone();
            *request.uri_mut() = self.proxy.server.clone();
            *request.headers_mut() = self.headers.clone();
            let response = self.proxy.http.clone().call(request);
            async { Ok(response.await?.map(Body::new)) }
        }

        /// Takes the messages of a response: an event stream, or one message.
        async fn receive(&mut self, headers: &HeaderMap, body: Body) -> Result<(), BoxError> {
            let kind = headers.get(header::CONTENT_TYPE);
            if kind.is_some_and(|kind| kind.as_bytes().starts_with(EVENT_STREAM.as_bytes())) {
                self.body = Some(body.into_data_stream());
            } else {
                self.body = None;
                let message = ServerMessage::parse(&to_bytes(body, MAX_BODY).await?)?;
                self.chunk = format!("data: {}\n\n", serde_json::to_string(&message)?).into();
            }
            Ok(())
        }

        /// Answers with an event stream, which clients accept in place of a message.
        async fn respond(mut self, response: Response) -> Result<Response, BoxError> {
            let (mut head, body) = response.into_parts();
            head.headers.remove(header::TRANSFER_ENCODING);
            head.headers.remove(header::CONNECTION);
            if head.status != StatusCode::OK || !head.headers.contains_key(header::CONTENT_TYPE) {
                return Ok(Response::from_parts(head, body));
            }
            self.receive(&head.headers, body).await?;
            head.headers.remove(header::CONTENT_LENGTH);
            let kind = HeaderValue::from_static(EVENT_STREAM);
            head.headers.insert(header::CONTENT_TYPE, kind);
            let events = stream::unfold(self, async |mut exchange| {
                let event = exchange.next().await.transpose()?;
                Some((event, exchange))
            });
            Ok(Response::from_parts(head, Body::from_stream(events)))
        }

        /// Returns the next event for the client.
        async fn next(&mut self) -> Result<Option<String>, BoxError> {
            loop {
                match self.decoder.decode(&mut self.chunk) {
                    // The first event of a legacy stream has an id and no message.
                    Some(Ok(SseItem::Event(event))) if event.data.is_empty() => {
                        return Ok(Some(encode_event(&event, "")));
                    }
                    Some(Ok(SseItem::Event(event))) => {
                        let message = ServerMessage::parse(event.data.as_bytes())?;
                        match self.editor.edit_server(message)? {
                            Step::Forward(message) => {
                                let data = serde_json::to_string(&message)?;
                                return Ok(Some(encode_event(&event, &data)));
                            }
                            Step::Ask(request) => {
                                let (head, body) = self.send(&request).await?.into_parts();
                                self.receive(&head.headers, body).await?;
                            }
                        }
                    }
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Err(error.into()),
                    None => match &mut self.body {
                        Some(body) => match body.next().await {
                            Some(chunk) => self.chunk = chunk?,
                            None => return Ok(None),
                        },
                        None => return Ok(None),
                    },
                }
            }
        }
    }

    fn encode_event(event: &SseEvent, data: &str) -> String {
        let id = event.id.as_ref().map(|id| format!("id: {id}\n"));
        let retry = event
            .retry
            .map(|retry| format!("retry: {}\n", retry.as_millis()));
        let (id, retry) = (id.unwrap_or_default(), retry.unwrap_or_default());
        format!("{id}{retry}event: {}\ndata: {data}\n\n", event.name)
    }
}

/// Over standard streams: one editor for the connection.
mod stdio {
    use std::process::Stdio;

    use mcp::types::{ClientMessage, ServerMessage};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
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
        let (queue, mut waiting) = mpsc::channel::<Vec<u8>>(MAX_WAITING);
        let writer = tokio::spawn(async move {
            while let Some(line) = waiting.recv().await {
                if to_server.write_all(&line).await.is_err() {
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
            let line = tokio::select! {
                line = client.next_line(), if queue.is_some() => match line? {
                    Some(line) => match ClientMessage::parse(line.as_bytes()) {
                        Ok(mut message) => {
                            editor.edit_client(&mut message);
                            send(queue.as_ref(), &message).await?;
                            continue;
                        }
                        Err(error) => refusal(&error),
                    },
                    None => {
                        // The server ends when it has answered.
                        queue = None;
                        continue;
                    }
                },
                line = server.next_line() => match line? {
                    Some(line) => match ServerMessage::parse(line.as_bytes()) {
                        Ok(message) => match editor.edit_server(message)? {
                            Step::Forward(message) => message,
                            Step::Ask(request) => {
                                send(queue.as_ref(), &request).await?;
                                continue;
                            }
                        },
                        Err(error) => {
                            eprintln!("the server wrote a line that is not a message: {error}");
                            continue;
                        }
                    },
                    None => break,
                },
            };
            let mut line = serde_json::to_vec(&line)?;
            line.push(b'\n');
            output.write_all(&line).await?;
            output.flush().await?;
        }
        writer.abort();
        Ok(())
    }

    async fn send(
        queue: Option<&mpsc::Sender<Vec<u8>>>,
        message: &ClientMessage,
    ) -> Result<(), BoxError> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        if let Some(queue) = queue {
            queue.send(line).await?;
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let end = match args.first() {
        Some(url) if url.starts_with("http://") || url.starts_with("https://") => {
            let address = args.get(1).map_or("127.0.0.1:8001", String::as_str);
            http::serve(url, address).await
        }
        _ => stdio::run(&args).await,
    };
    match end {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

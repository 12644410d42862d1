//! A client without the SDK, which can vanish at any time: a request whose future is dropped closes its connection.

use bench::Failure;
use bench::era::{INITIALIZED, LEGACY, MODERN};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

/// A client of one era.
#[derive(Debug)]
pub(crate) struct Caller {
    http: reqwest::Client,
    url: String,
    capabilities: Value,
    /// The session of a legacy client.
    session: Option<String>,
    next_id: u64,
    /// Answers the questions of servers. Otherwise nobody does.
    answers: bool,
}

impl Caller {
    /// Creates a modern client.
    pub(crate) fn new(
        http: reqwest::Client,
        url: &str,
        capabilities: Value,
        answers: bool,
    ) -> Self {
        Self {
            http,
            url: url.to_owned(),
            capabilities,
            session: None,
            next_id: 0,
            answers,
        }
    }

    /// Opens a session, as a legacy client.
    pub(crate) async fn initialize(&mut self) -> Result<(), Failure> {
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY,
            "capabilities": self.capabilities,
            "clientInfo": {"name": "bench-soak-gateway", "version": "0.0.0"},
        }});
        let response = self.request(Method::POST).body(body.to_string());
        let response = response.send().await?.error_for_status()?;
        let session = response.headers().get("mcp-session-id");
        let session = session.ok_or("no session")?.to_str()?.to_owned();
        response.bytes().await?;
        self.session = Some(session);
        self.post(INITIALIZED.to_owned()).await
    }

    /// Opens the stream of a session's notifications, or listens to all changes.
    pub(crate) async fn listen(&mut self) -> Result<Response, Failure> {
        if self.session.is_some() {
            return Ok(self.request(Method::GET).send().await?);
        }
        let wanted = json!({
            "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        });
        let (_, response) = self
            .send("subscriptions/listen", json!({"notifications": wanted}))
            .await?;
        Ok(response)
    }

    /// Ends the session.
    pub(crate) async fn close(self) -> Result<(), Failure> {
        if self.session.is_some() {
            self.request(Method::DELETE).send().await?;
        }
        Ok(())
    }

    /// Returns the response to a request: an object with `result` or `error`.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        let reply = self.call_once(method, params.clone()).await?;
        let result = &reply["result"];
        let (Some(requests), true) = (result["inputRequests"].as_object(), self.answers) else {
            return Ok(reply);
        };
        let answers = requests.keys();
        let answers = answers.map(|key| (key.clone(), json!({"action": "cancel"})));
        let mut again = params;
        again["inputResponses"] = Value::Object(answers.collect());
        if let Some(state) = result.get("requestState") {
            again["requestState"] = state.clone();
        }
        self.call_once(method, again).await
    }

    async fn call_once(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        let (id, response) = self.send(method, params).await?;
        let mut messages = Messages::new(response);
        while let Some(message) = messages.next().await? {
            if message.get("method").is_none() && message["id"] == id {
                return Ok(message);
            }
            if message.get("method").is_some() && message.get("id").is_some() && self.answers {
                let result = match message["method"].as_str() {
                    Some("roots/list") => json!({"roots": []}),
                    Some("elicitation/create") => json!({"action": "cancel"}),
                    _ => json!({
                        "role": "assistant", "model": "none", "content": {"type": "text", "text": "so"},
                    }),
                };
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                self.post(answer.to_string()).await?;
            }
        }
        Err(format!("{method} has no response").into())
    }

    async fn send(&mut self, method: &str, mut params: Value) -> Result<(u64, Response), Failure> {
        self.next_id += 1;
        let mut request = self.request(Method::POST);
        if self.session.is_none() {
            request = request.header("Mcp-Method", method);
            if let Some(name) = params["name"].as_str() {
                request = request.header("Mcp-Name", name);
            }
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        let id = self.next_id;
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        Ok((id, request.body(body.to_string()).send().await?))
    }

    async fn post(&self, body: String) -> Result<(), Failure> {
        let response = self.request(Method::POST).body(body).send().await?;
        response.bytes().await?;
        Ok(())
    }

    fn request(&self, method: Method) -> RequestBuilder {
        let request = self
            .http
            .request(method, &self.url)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        match &self.session {
            Some(session) => request
                .header("MCP-Protocol-Version", LEGACY)
                .header("Mcp-Session-Id", session),
            // A request without a version opens a session.
            None if self.next_id == 0 => request,
            None => request.header("MCP-Protocol-Version", MODERN),
        }
    }
}

/// The messages of a response with JSON or server-sent events.
struct Messages {
    response: Response,
    is_stream: bool,
    buffer: Vec<u8>,
}

impl Messages {
    fn new(response: Response) -> Self {
        let kind = response.headers().get("content-type");
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        Self {
            response,
            is_stream,
            buffer: Vec::new(),
        }
    }

    async fn next(&mut self) -> Result<Option<Value>, Failure> {
        loop {
            if self.is_stream
                && let Some(end) = memchr::memchr(b'\n', &self.buffer)
            {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                match line.strip_prefix(b"data: ") {
                    Some(data) if data.len() > 2 => return Ok(Some(serde_json::from_slice(data)?)),
                    _ => continue,
                }
            }
            match self.response.chunk().await? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None if self.is_stream || self.buffer.is_empty() => return Ok(None),
                None => {
                    let message = serde_json::from_slice(&std::mem::take(&mut self.buffer));
                    return Ok(Some(message?));
                }
            }
        }
    }
}

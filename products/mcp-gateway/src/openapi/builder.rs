//! [`OpenApi`].

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body::Body;
use mcp_client::group::{MAX_TOOL_NAME, is_portable_name, portable_names};
use mcp_server::{
    CallContext, FromCall, RawArgs, Rejection, Server, ToolError, ToolExt as _, ToolRoute,
};
use mcp_types::{CallToolResult, JsonObject, RawObject, Tool};
use serde_json::Value;
use tokio::time::timeout;
use tower_service::Service;

use super::arguments::ArgumentCheck;
use super::document::{self, Document};
use super::error::OpenApiError;
use super::operation::ApiOperation;
use super::response;
use super::target::Target;

/// Most tools of a document.
const MAX_TOOLS: usize = 2000;
/// Most operations of a document that are left out before the rest is: reading one can take as long as reading a tool.
pub(super) const MAX_FAILED: usize = 2000;

/// An HTTP service that becomes a server: each selected operation of its OpenAPI document (3.0 or 3.1, JSON or
/// YAML) is a tool.
///
/// Parameters of path, query and headers are arguments, and so is a JSON body (`body`). A JSON response is
/// structured content, and any other status than 2xx an error for the language model. Requests go to the
/// base URL only: servers and references to other documents in the document are not used, and neither the
/// paths of the document nor arguments can change the host or leave the path.
///
/// Arguments are checked against the input schema before a request is made. An object or array is sent only for a
/// parameter whose schema has this type, and its members cannot have the names of other parameters. Parameters
/// that [`header`](Self::header) or [`query`](Self::query) set are not arguments.
///
/// The output schema's first alternative is the schema of the first 2xx response. The second one
/// is any object, because services send responses that their documents do not describe: those are results, too.
///
/// A form (`application/x-www-form-urlencoded`) is an object in the argument `body`, too. Operations that need a cookie
/// or another body are left out with a warning in the log, and so are those with a path that could leave the base URL,
/// and malformed operations and schemas. The rest of the document is used.
///
/// # Examples
///
/// ```no_run
/// use mcp::HttpClient;
/// use mcp::gateway::openapi::OpenApi;
///
/// # async fn run() -> mcp::Result<()> {
/// let document = std::fs::read_to_string("pets.yaml")?;
/// let server = OpenApi::parse(&document)?
///     .base_url("https://pets.example.com/v1")?
///     .header("Authorization", "Bearer t0ken")?
///     .tags(["pets"])
///     .methods([http::Method::GET])
///     .server(HttpClient::new()?)?;
/// mcp::serve_http(server, "127.0.0.1:8000").await
/// # }
/// ```
#[must_use = "does nothing before `server`"]
pub struct OpenApi {
    document: Document,
    target: Target,
    tags: Option<HashSet<String>>,
    methods: Option<Vec<Method>>,
    max_response_bytes: usize,
    timeout: Duration,
}

impl OpenApi {
    /// Default limit of a document, in bytes: 32 MiB.
    pub(crate) const MAX_BYTES: usize = 32 << 20;

    /// Parses a document of up to 32 MiB. YAML is read by the rules of YAML 1.2.
    ///
    /// # Errors
    ///
    /// Returns an [`OpenApiError`] when the document is neither JSON nor YAML, too long, or of another version.
    pub fn parse(document: &str) -> Result<Self, OpenApiError> {
        Self::parse_within(document, Self::MAX_BYTES)
    }

    pub(crate) fn parse_within(document: &str, max_bytes: usize) -> Result<Self, OpenApiError> {
        Ok(Self {
            document: document::parse(document, max_bytes)?,
            target: Target::default(),
            tags: None,
            methods: None,
            max_response_bytes: 1 << 20,
            timeout: Duration::from_secs(30),
        })
    }

    /// Sets the URL that all paths of the document are added to. It is required: a document may name servers
    /// that its author does not own.
    ///
    /// # Errors
    ///
    /// Returns [`OpenApiError::BaseUrl`] unless it is an `http` or `https` URL without a query.
    pub fn base_url(mut self, url: impl AsRef<str>) -> Result<Self, OpenApiError> {
        let url = url.as_ref();
        let invalid = || OpenApiError::BaseUrl(public(url).to_owned());
        let uri: Uri = url.parse().map_err(|_| invalid())?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_user = uri
            .authority()
            .is_none_or(|authority| authority.as_str().contains('@'));
        if !is_http || has_user || uri.query().is_some() || url.contains('#') {
            return Err(invalid());
        }
        self.target.base = uri;
        Ok(self)
    }

    /// Adds a header to each request, such as a token. A parameter of the document with this name is not an
    /// argument.
    ///
    /// # Errors
    ///
    /// Returns [`OpenApiError::Header`] when it cannot be sent. The error does not contain the value.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, OpenApiError> {
        let invalid = || OpenApiError::Header(name.to_owned());
        let key = HeaderName::try_from(name).map_err(|_| invalid())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| invalid())?;
        value.set_sensitive(true);
        self.target.headers.insert(key, value);
        Ok(self)
    }

    /// Adds a parameter to each request's query, such as an API key. A parameter of the document with this
    /// name is not an argument.
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.target.query.push((name.into(), value.into()));
        self
    }

    /// Passes a header of each call on to the service, such as the header of
    /// [`GatewayServer::forward_identity`](crate::GatewayServer::forward_identity). Only clients in the same
    /// process, such as a gateway, can set it; requests over HTTP cannot. A parameter of the document with this name is
    /// not an argument.
    ///
    /// # Errors
    ///
    /// Returns [`OpenApiError::Header`] when `name` is not a header name.
    pub fn forward_header(mut self, name: &str) -> Result<Self, OpenApiError> {
        let name = HeaderName::try_from(name).map_err(|_| OpenApiError::Header(name.to_owned()))?;
        self.target.forwarded = Some(name);
        Ok(self)
    }

    /// Selects operations with one of these tags. Default: all.
    pub fn tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = S>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// Selects operations with one of these methods. Default: all.
    pub fn methods(mut self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.methods = Some(methods.into_iter().collect());
        self
    }

    /// Sets the size of a response in bytes. Default: 1 MiB.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_response_bytes = bytes;
        self
    }

    /// Sets the time limit of a call. Default: 30 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Creates the server with the tools. `http` sends the requests: an `HttpClient`, or a service around one.
    /// Redirects must not be followed; `HttpClient` does not.
    ///
    /// # Errors
    ///
    /// Returns [`OpenApiError::BaseUrl`] without a base URL, and [`OpenApiError::NoOperation`] when no operation is
    /// selected.
    pub fn server<S, B>(self, http: S) -> Result<Server, OpenApiError>
    where
        S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: fmt::Display,
        B: Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
        B::Data: Send,
    {
        if self.target.base.scheme().is_none() {
            return Err(OpenApiError::BaseUrl(String::new()));
        }
        let tools = self.operations();
        if tools.is_empty() {
            return Err(OpenApiError::NoOperation);
        }
        let target = Arc::new(self.target);
        let info = |name, otherwise| self.document.info(name, otherwise);
        let server = Server::new(info("title", "HTTP service"), info("version", "0"));
        let (limit, time) = (self.max_response_bytes, self.timeout);
        Ok(tools.into_iter().fold(server, |server, (operation, tool)| {
            let call = ApiCall {
                http: http.clone(),
                target: target.clone(),
                operation: Arc::new(operation),
                limit,
                time,
            };
            server.tool(call.into_route(tool))
        }))
    }

    /// Returns the selected operations and their tools.
    pub(super) fn operations(&self) -> Vec<(ApiOperation, Tool)> {
        let mut tools = Vec::new();
        let mut failed = 0;
        for route in self.document.routes() {
            let tags = route.operation.get("tags").and_then(Value::as_array);
            let mut tags = tags.into_iter().flatten().filter_map(Value::as_str);
            let has_tag = |wanted: &HashSet<String>| tags.any(|tag| wanted.contains(tag));
            let has_method = |wanted: &Vec<Method>| wanted.contains(&route.method);
            if !self.tags.as_ref().is_none_or(has_tag)
                || !self.methods.as_ref().is_none_or(has_method)
            {
                continue;
            }
            if tools.len() == MAX_TOOLS || failed == MAX_FAILED {
                tracing::warn!("further operations of the OpenAPI document are left out");
                break;
            }
            match ApiOperation::new(&self.document, &route, &self.target) {
                Ok(tool) => tools.push(tool),
                Err(reason) => {
                    failed += 1;
                    let place = format_args!("{} {}", route.method, route.path);
                    self.document.left_out.add(place, reason);
                }
            }
        }
        self.document.left_out.finish();
        set_names(&mut tools);
        tools
    }
}

/// Gives each tool a portable name of its own. Names that fit are taken first.
// spec: TOOL-04
fn set_names(tools: &mut [(ApiOperation, Tool)]) {
    let mut taken = HashSet::new();
    for fits in [true, false] {
        for (operation, tool) in &mut *tools {
            if is_portable_name(&tool.name, MAX_TOOL_NAME) != fits {
                continue;
            }
            let own = std::mem::take(&mut tool.name);
            let route = format!("{} {}", operation.method, operation.path);
            let numbers = (2..=MAX_TOOLS).map(|number| format!("{own}_{number}"));
            let wanted = std::iter::once(own.clone()).chain(numbers);
            let mut names = portable_names(wanted, (&route, &own), MAX_TOOL_NAME);
            let name = names.find(|name| taken.insert(name.clone()));
            tool.name = name.unwrap_or_default();
        }
    }
}

/// Removes user and password from a URL.
fn public(url: &str) -> &str {
    url.rsplit('@').next().unwrap_or_default()
}

/// The headers that a client in this process has added to a call.
struct CallHeaders(HeaderMap);

impl FromCall for CallHeaders {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        // Headers of an HTTP request are not read here, because anybody can send them.
        let headers = call.extensions().get::<HeaderMap>();
        Ok(Self(headers.cloned().unwrap_or_default()))
    }
}

/// Calls one operation.
#[derive(Clone)]
struct ApiCall<S> {
    http: S,
    target: Arc<Target>,
    operation: Arc<ApiOperation>,
    limit: usize,
    time: Duration,
}

impl<S, B> ApiCall<S>
where
    S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Error: fmt::Display,
    B: Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
    B::Data: Send,
{
    fn into_route(self, tool: Tool) -> ToolRoute {
        let check = ArgumentCheck::new(&tool);
        let route = tool.handler(move |RawArgs(arguments): RawArgs, headers: CallHeaders| {
            let call = self.clone();
            async move {
                match timeout(call.time, call.clone().run(&arguments, &headers)).await {
                    Ok(result) => result,
                    Err(_) => Err(ToolError::new(format!(
                        "the service did not answer within {} s",
                        call.time.as_secs_f64()
                    ))),
                }
            }
        });
        route.check_arguments_with(Arc::new(check))
    }

    async fn run(
        mut self,
        arguments: &RawObject,
        CallHeaders(headers): &CallHeaders,
    ) -> Result<CallToolResult, ToolError> {
        let arguments: JsonObject = arguments
            .parse()
            .map_err(|error| ToolError::invalid_params(error.to_string()))?;
        let mut request = self.target.request(&self.operation, &arguments)?;
        if let Some(name) = &self.target.forwarded
            && let Some(value) = headers.get(name)
        {
            request.headers_mut().insert(name.clone(), value.clone());
        }
        let unreachable = |error: S::Error| {
            let path = &self.operation.path;
            tracing::warn!(path, error = %mcp_types::escaped(&error), "a service could not be reached");
            ToolError::new("the service could not be reached")
        };
        std::future::poll_fn(|cx| self.http.poll_ready(cx))
            .await
            .map_err(unreachable)?;
        let response = self.http.call(request).await.map_err(unreachable)?;
        response::read(response, self.limit, self.operation.has_output).await
    }
}

/// Shows no header and no parameter, which may be secrets.
impl fmt::Debug for OpenApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenApi")
            .field("title", &self.document.info("title", "HTTP service"))
            .field("base_url", &self.target.base)
            .field("tags", &self.tags)
            .field("methods", &self.methods)
            .finish_non_exhaustive()
    }
}

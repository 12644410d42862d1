//! [`PreparedCall`]: a call with options, sent when it is awaited.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, IntoFuture, ready};
use std::pin::pin;
use std::time::Duration;

use futures_core::Stream;
use futures_util::future::select;
use futures_util::{StreamExt, TryStreamExt, stream};
use mcp_core::{BoxFuture, Call, ClientRequest, ResultBody};
use mcp_types::{
    CallToolResult, ClientCapabilities, GetPromptResult, Implementation, InputRequired,
    InputResponse, LogMessage, LoggingLevel, ProgressUpdate, RawObject, ReadResourceResult,
    RequestId, ServerCapabilities,
};

use super::active::{ActiveCall, Reader};
use super::pager::{ListLimits, Pager, Pagination};
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::options::{CallOptions, Hook, setter};

/// A call that is sent when it is awaited. Dropping the future cancels the call, and its task if the server
/// runs the call as one.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use serde_json::json;
///
/// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
/// let mut reports = 0;
/// let result = client
///     .call("deploy", json!({"environment": "staging"}))
///     .timeout(Duration::from_secs(120))
///     .on_progress(|progress| {
///         reports += 1;
///         println!("{} of {:?}", progress.progress, progress.total);
///     })
///     .header("x-tenant", "a")
///     .await?;
/// println!("{} after {reports} reports", result.text());
/// # Ok(())
/// # }
/// ```
///
/// A call for a whole list, such as [`Client::list_tools`], sends one request per page, each with the same
/// options. [`timeout`](Self::timeout) limits each page, [`max_total_timeout`](Self::max_total_timeout) all
/// pages together:
///
/// ```no_run
/// use std::time::Duration;
///
/// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
/// let tools = client
///     .list_tools()
///     .timeout(Duration::from_secs(5))
///     .max_pages(20)
///     .fresh()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a call does nothing unless it is awaited"]
pub struct PreparedCall<'a, T> {
    client: Client,
    request: ClientRequest,
    /// The first error of a setter, such as an invalid header. The call returns it when it is awaited.
    error: Option<ErrorKind>,
    options: CallOptions<'a>,
    pub(crate) read: Reader<T>,
    /// Present if the call collects all pages of a list.
    pub(crate) pagination: Option<Pagination<T>>,
    limits: ListLimits,
    /// The input round after which the call continues.
    resumed: Option<Box<ResumedRound>>,
}

/// The input that an earlier request required, with the responses.
struct ResumedRound {
    required: InputRequired,
    responses: BTreeMap<String, InputResponse>,
}

impl<'a, T> PreparedCall<'a, T> {
    pub(crate) fn new(client: &Client, call: Call, read: Reader<T>) -> Self {
        Self {
            client: client.clone(),
            request: ClientRequest::Call(call),
            error: None,
            options: CallOptions::default(),
            read,
            pagination: None,
            limits: ListLimits::default(),
            resumed: None,
        }
    }

    /// Makes the call collect all pages.
    pub(crate) fn paginated(mut self, pagination: Pagination<T>) -> Self {
        self.pagination = Some(pagination);
        self
    }

    /// Replaces the call and the conversion of its result. Keeps the options.
    pub(crate) fn with_call<U>(mut self, call: Call, read: Reader<U>) -> PreparedCall<'a, U> {
        self.request = call.into();
        self.reading(read)
    }

    /// Replaces the conversion of the result.
    pub(crate) fn reading<U>(self, read: Reader<U>) -> PreparedCall<'a, U> {
        PreparedCall {
            client: self.client,
            request: self.request,
            error: self.error,
            options: self.options,
            read,
            pagination: None,
            limits: self.limits,
            resumed: self.resumed,
        }
    }

    /// Makes the call fail when it is awaited. Keeps an earlier error.
    pub(crate) fn fail(mut self, kind: ErrorKind) -> Self {
        self.error.get_or_insert(kind);
        self
    }

    /// Sets the time to wait for the response. If [`on_progress`](Self::on_progress) is set, each progress
    /// notification restarts it. Default: [`ClientBuilder::timeout`](crate::ClientBuilder::timeout).
    // spec: LIFE-13
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.idle_timeout = Some(timeout);
        self
    }

    /// Sets the time limit of the whole call, which progress does not extend, nor does a longer
    /// [`timeout`](Self::timeout). Default:
    /// [`ClientBuilder::max_total_timeout`](crate::ClientBuilder::max_total_timeout).
    pub fn max_total_timeout(mut self, timeout: Duration) -> Self {
        self.options.total_timeout = Some(timeout);
        self
    }

    /// Requests progress notifications. The callback runs on the task that awaits the call. If it panics, it is
    /// not called again. A server that has made the call a task sends no more progress; the status messages of the task
    /// are in [`TaskHandle::updates`](crate::TaskHandle::updates).
    pub fn on_progress(mut self, hook: impl FnMut(ProgressUpdate) + Send + 'a) -> Self {
        self.options.on_progress = Some(Hook::new(hook));
        self
    }

    /// Requests log messages of level [`LoggingLevel::Info`] and above; [`log_level`](Self::log_level) sets
    /// another level. The callback runs like that of [`on_progress`](Self::on_progress).
    pub fn on_log(mut self, hook: impl FnMut(LogMessage) + Send + 'a) -> Self {
        self.options.on_log = Some(Hook::new(hook));
        self.options.log_level.get_or_insert(LoggingLevel::Info);
        self
    }

    /// Receives extension notifications that belong to this call, instead of the client's handlers. The
    /// callback gets their method and parameters. It runs like that of [`on_progress`](Self::on_progress).
    pub fn on_custom(mut self, mut hook: impl FnMut(&str, Option<RawObject>) + Send + 'a) -> Self {
        let hook = move |(method, params): (Box<str>, _)| hook(&method, params);
        self.options.on_custom = Some(Hook::new(hook));
        self
    }

    /// Sets the minimum level of log messages.
    // spec: META-11
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.options.log_level = Some(level);
        self
    }

    setter!(header);

    /// Sets whether the server may execute the call more than once. If so, the client repeats the request up
    /// to twice when the connection breaks before the response arrives, or when a proxy cannot reach the server
    /// (HTTP 502, 504). Default: true for calls that only read, and for tools that an earlier list declares
    /// read-only or idempotent; otherwise false.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.options.idempotent = Some(idempotent);
        self
    }

    /// Sends the request even when the [`Cache`](crate::Cache) has a fresh result.
    pub fn fresh(mut self) -> Self {
        self.options.fresh = true;
        self
    }

    /// Continues a call for which the server has required input: sends the responses, and the server's state
    /// from `required`, with the request. Another call or another process may have received `required`, for
    /// example in a gateway without state.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::prelude::*;
    /// use mcp::types::{ElicitResult, InputRequired};
    ///
    /// # async fn example(client: mcp::Client, required: InputRequired) -> Result<(), mcp::Error> {
    /// // `required` is `PendingInput::required` of an earlier call of the same tool with the same arguments.
    /// let responses = [("confirm", ElicitResult::decline())];
    /// let result = client.call("deploy", ()).resume(required, responses).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume(
        mut self,
        required: InputRequired,
        responses: impl IntoIterator<Item = (impl Into<String>, impl Into<InputResponse>)>,
    ) -> Self {
        let responses = responses.into_iter();
        let responses = responses.map(|(key, response)| (key.into(), response.into()));
        self.resumed = Some(Box::new(ResumedRound {
            required,
            responses: responses.collect(),
        }));
        self
    }

    /// Declares these capabilities with the request, in place of the client's. For gateways, which call on
    /// behalf of many clients and pass the server's input requests on ([`step`](Self::step)).
    ///
    /// A session of a revision before 2026-07-28 keeps the capabilities with which it was opened.
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.options.capabilities = Some(capabilities);
        self
    }

    /// Sends another client's name and version with the request. For gateways, which call on behalf of many
    /// clients.
    ///
    /// A session of a revision before 2026-07-28 keeps the identity with which it was opened.
    pub fn identity(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.options.identity = Some(Implementation::new(name, version));
        self
    }

    /// Cancels the call when `signal` resolves first. Dropping the call cancels it, too; use this to
    /// receive an [error](Error::is_cancelled) instead.
    pub fn cancel_on(mut self, signal: impl Future<Output = ()> + Send + 'a) -> Self {
        self.options.cancel = Some(Box::pin(signal));
        self
    }

    /// Reserves the id of the call's request and returns it, before the call is sent. Pass it to
    /// [`Client::cancel`] to cancel the call from anywhere. Progress among the
    /// [notifications](Client::notifications) has it as its token.
    ///
    /// Only the call's first request has this id. The protocol demands a new id for each further request:
    /// with the required input, after a lost connection, or for the next page of a list. `Client::cancel` with
    /// the first id still cancels the call. If the result comes from the [cache](crate::ClientBuilder::cache),
    /// no request is sent.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: mcp::Client) {
    /// let mut call = client.call("deploy", ());
    /// let id = call.id();
    /// let running = tokio::spawn(call.into_future());
    /// // Later, when the user presses a button:
    /// client.cancel(&id);
    /// assert!(running.await.unwrap().unwrap_err().is_cancelled());
    /// # }
    /// ```
    pub fn id(&mut self) -> RequestId {
        let inner = &self.client.inner;
        let id = &mut self.options.id;
        id.get_or_insert_with(|| inner.call_ids.add(inner.next_id()))
            .request_id()
    }

    setter!(trace);
    setter!(meta);
}

impl<'a, T> PreparedCall<'a, T> {
    pub(crate) async fn run(self) -> Result<T, Error> {
        if let Some(Pagination { empty, append, .. }) = self.pagination {
            // Boxed so that lists do not enlarge the futures of other calls.
            return Box::pin(self.collect_pages(empty(), append)).await;
        }
        let read = self.read;
        let mut call = self.activate()?;
        let body = call.finish().await?;
        call.read(body, read)
    }

    async fn collect_pages(self, mut all: T, append: fn(&mut T, T)) -> Result<T, Error> {
        let mut pager = self.pager()?;
        while let Some(page) = pager.next_page().await? {
            append(&mut all, page);
        }
        Ok(all)
    }

    fn pager(mut self) -> Result<Pager<'a, T>, Error> {
        let (client, read, limits) = (self.client.clone(), self.read, self.limits);
        let pagination = self.pagination.take();
        Ok(Pager::new(
            client,
            self.activate()?,
            read,
            pagination,
            limits,
        ))
    }

    pub(crate) fn activate(mut self) -> Result<ActiveCall<'a>, Error> {
        if let Some(id) = &self.options.id {
            let by_id = id.cancelled();
            self.options.cancel = Some(match self.options.cancel.take() {
                Some(signal) => Box::pin(async { drop(select(signal, pin!(by_id)).await) }),
                None => Box::pin(by_id),
            });
        }
        let mut call = ActiveCall::start(&self.client, self.request, self.options);
        if let Some(error) = self.error {
            return Err(call.error(error));
        }
        if let Some(resumed) = self.resumed {
            call.resume(resumed.required, &resumed.responses)?;
        }
        Ok(call)
    }
}

macro_rules! raw_calls {
    ($($result:ty),*) => {
        $(impl<'a> PreparedCall<'a, $result> {
            /// Makes the call return the result as the server sent it. The client neither decodes its content nor
            /// checks it against the tool's output schema. For gateways, which pass it on.
            ///
            /// # Examples
            ///
            /// ```no_run
            /// use mcp::core::ResultBody;
            ///
            /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
            /// let body: ResultBody = client.call("export", ()).raw().await?;
            /// println!("failed: {}", body.is_tool_error());
            /// # Ok(())
            /// # }
            /// ```
            pub fn raw(mut self) -> PreparedCall<'a, ResultBody> {
                self.options.returns_raw = true;
                self.reading(Ok)
            }
        })*
    };
}

raw_calls!(CallToolResult, ReadResourceResult, GetPromptResult);

/// Calls for whole lists.
impl<'a, T: Send + 'a> PreparedCall<'a, Vec<T>> {
    /// Sets the maximum number of pages. A longer list is an error. Default: 1000.
    pub fn max_pages(mut self, pages: usize) -> Self {
        self.limits.pages = pages;
        self
    }

    /// Sets the maximum number of items on all pages together. A longer list is an error. Default: 10,000.
    pub fn max_items(mut self, items: usize) -> Self {
        self.limits.items = items;
        self
    }

    /// Sets the maximum size of all pages together, in bytes as the server sends them. A longer list is an error.
    /// Default: 64 MiB.
    pub fn max_list_bytes(mut self, bytes: usize) -> Self {
        self.limits.bytes = bytes;
        self
    }

    /// Requests the list of a server that may not have it: the list is empty if the server does not offer the feature,
    /// or does not know the method. A server whose capabilities are unknown is asked.
    ///
    /// # Errors
    ///
    /// Returns the call's error, as without this method.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// let prompts = client.list_prompts().if_offered().await?;
    /// println!("{} prompts", prompts.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn if_offered(self) -> Result<Vec<T>, Error> {
        let offers = |has: ServerCapabilities| match &self.request {
            ClientRequest::Call(Call::ListTools(_)) => has.tools.is_some(),
            ClientRequest::Call(Call::ListPrompts(_)) => has.prompts.is_some(),
            ClientRequest::Call(Call::ListResources(_) | Call::ListResourceTemplates(_)) => {
                has.resources.is_some()
            }
            _ => true,
        };
        if !self.client.server_capabilities().is_none_or(offers) {
            return Ok(Vec::new());
        }
        match self.await {
            Err(error) if error.is_unknown_method() => Ok(Vec::new()),
            listed => listed,
        }
    }

    /// Returns the items as a stream. The stream requests a page after all items of the previous page are
    /// consumed; the time in between does not count towards the timeouts. An error ends the stream.
    pub fn stream(self) -> impl Stream<Item = Result<T, Error>> + Send + Unpin + use<'a, T> {
        let pages = stream::once(ready(self.pager())).map_ok(|pager| {
            stream::try_unfold(pager, |mut pager| async move {
                let page = pager.next_page().await?;
                Ok::<_, Error>(page.map(|items| (stream::iter(items).map(Ok), pager)))
            })
        });
        Box::pin(pages.try_flatten().try_flatten())
    }
}

impl<'a, T: Send + 'a> IntoFuture for PreparedCall<'a, T> {
    type Output = Result<T, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// Omits headers and arguments, which may be secrets.
impl<T> fmt::Debug for PreparedCall<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedCall")
            .field("method", &self.request.method_name())
            .field("item", &self.request.item())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::CallToolResult;

    use super::PreparedCall;

    fn size_of_future<A, F: Future>(_: impl FnOnce(A) -> F) -> usize {
        size_of::<F>()
    }

    /// Each call moves its future into a box, so its size is copied per call.
    #[test]
    fn future_for_a_call_is_small() {
        let size = size_of_future(PreparedCall::<'static, CallToolResult>::run);
        assert!(size <= 3584, "{size} bytes");
    }
}

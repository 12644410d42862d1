//! A call with its settings, sent when it is awaited.

use std::fmt;
use std::future::{Future, IntoFuture, ready};
use std::time::Duration;

use futures_core::Stream;
use futures_util::{StreamExt, TryStreamExt, stream};
use http::{HeaderName, HeaderValue};
use mcp_core::{BoxFuture, Call, ClientRequest, ResultBody};
use mcp_types::meta::TraceContext;
use mcp_types::{LogMessage, LoggingLevel, ProgressUpdate};

use crate::call::Running;
use crate::error::Kind;
use crate::options::{Hook, Options, header};
use crate::walk::{List, Walk};
use crate::{Client, Error};

/// A call that is sent when it is awaited. Dropping it while it waits cancels it.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use serde_json::json;
///
/// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::Error> {
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
/// The calls of whole lists ([`Client::list_all_tools`] and the others) take the same settings. Each
/// page is one request that has them; [`timeout`](Self::timeout) counts for each,
/// [`max_total_timeout`](Self::max_total_timeout) for all of them together:
///
/// ```no_run
/// use std::time::Duration;
///
/// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::Error> {
/// let tools = client
///     .list_all_tools()
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
    asked: ClientRequest,
    /// Why it cannot be sent.
    problem: Option<Kind>,
    options: Options<'a>,
    read: fn(ResultBody) -> Option<T>,
    /// How it goes on after an answer that is a page of a list.
    list: Option<List<T>>,
    max_pages: usize,
}

/// How many pages a list may have; the server decides how long they are.
const MAX_PAGES: usize = 1000;

impl<'a, T> PreparedCall<'a, T> {
    pub(crate) fn new(client: &Client, call: Call, read: fn(ResultBody) -> Option<T>) -> Self {
        Self {
            client: client.clone(),
            asked: ClientRequest::Call(call),
            problem: None,
            options: Options::default(),
            read,
            list: None,
            max_pages: MAX_PAGES,
        }
    }

    /// Goes on after each answer until there is no page left.
    pub(crate) fn paged(mut self, list: List<T>) -> Self {
        self.list = Some(list);
        self
    }

    /// Lets the call fail when it is awaited; the first reason counts.
    pub(crate) fn fail(mut self, kind: Kind) -> Self {
        self.problem.get_or_insert(kind);
        self
    }

    /// Sets how long the call waits for its answer; progress starts the time anew when
    /// [`on_progress`](Self::on_progress) is given.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.idle = Some(timeout);
        self
    }

    /// Sets how long the call may take in all, whatever progress it reports. A longer
    /// [`timeout`](Self::timeout) does not extend it.
    pub fn max_total_timeout(mut self, timeout: Duration) -> Self {
        self.options.total = Some(timeout);
        self
    }

    /// Asks for progress. The hook runs on the task that awaits the call; one that panics is not
    /// run again.
    pub fn on_progress(mut self, hook: impl FnMut(ProgressUpdate) + Send + 'a) -> Self {
        self.options.on_progress = Some(Hook::new(hook));
        self
    }

    /// Asks for log messages, from [`LoggingLevel::Info`] on unless
    /// [`log_level`](Self::log_level) says otherwise. The hook runs like that for progress.
    pub fn on_log(mut self, hook: impl FnMut(LogMessage) + Send + 'a) -> Self {
        self.options.on_log = Some(Hook::new(hook));
        self.options.log_level.get_or_insert(LoggingLevel::Info);
        self
    }

    /// Sets the least level of log messages.
    // spec: META-11
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.options.log_level = Some(level);
        self
    }

    /// Adds a header, for transports that have them. Headers of the protocol itself cannot be set.
    pub fn header(
        mut self,
        name: impl TryInto<HeaderName> + AsRef<str>,
        value: impl TryInto<HeaderValue>,
    ) -> Self {
        match header(name, value) {
            Ok((name, value)) => {
                self.options.headers.append(name, value);
                self
            }
            Err(problem) => self.fail(problem),
        }
    }

    /// Says whether the call may be made twice, which it is when the connection breaks before the
    /// answer is there. Calls that only read may, calls of tools only when this says so, or when a
    /// list that was asked for before has called the tool read-only or idempotent.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.options.idempotent = Some(idempotent);
        self
    }

    /// Asks the server even when a fresh answer is kept ([`Cache`](crate::Cache)).
    pub fn fresh(mut self) -> Self {
        self.options.fresh = true;
        self
    }

    /// Cancels the call when `signal` is there before the answer. Dropping the call does the same;
    /// this is for programs that want an [error](Error::is_cancelled) instead.
    pub fn cancel_on(mut self, signal: impl Future<Output = ()> + Send + 'a) -> Self {
        self.options.cancel = Some(Box::pin(signal));
        self
    }

    /// Says which trace the call belongs to.
    pub fn trace(mut self, trace: &TraceContext) -> Self {
        let meta = self.options.meta.unwrap_or_default();
        self.options.meta = Some(meta.with_trace(trace));
        self
    }

    /// Adds a key to the `_meta` of the request. Keys of the protocol itself cannot be set.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.options.meta = Some(self.options.meta.unwrap_or_default().with(key, value));
        self
    }
}

impl<'a, T> PreparedCall<'a, T> {
    pub(crate) async fn run(self) -> Result<T, Error> {
        if let Some(List { empty, join, .. }) = &self.list {
            let (mut all, join) = (empty(), *join);
            let mut walk = self.walk()?;
            while let Some(page) = walk.step().await? {
                join(&mut all, page);
            }
            return Ok(all);
        }
        let read = self.read;
        let mut running = self.start()?;
        let body = running.finish().await?;
        running.read(body, read)
    }

    /// It makes a request per page.
    pub(crate) fn is_list(&self) -> bool {
        self.list.is_some()
    }

    fn walk(mut self) -> Result<Walk<'a, T>, Error> {
        let (client, read, list) = (self.client.clone(), self.read, self.list.take());
        let max_pages = self.max_pages;
        Ok(Walk::new(client, self.start()?, read, list, max_pages))
    }

    pub(crate) fn reader(&self) -> fn(ResultBody) -> Option<T> {
        self.read
    }

    pub(crate) fn start(self) -> Result<Running<'a>, Error> {
        let running = Running::start(&self.client, self.asked, self.options);
        match self.problem {
            None => Ok(running),
            Some(problem) => Err(running.failed(problem)),
        }
    }
}

/// Calls of whole lists.
impl<'a, T: Send + 'a> PreparedCall<'a, Vec<T>> {
    /// Sets how many pages the list may have; one that has more is an error. Default: 1000.
    pub fn max_pages(mut self, pages: usize) -> Self {
        self.max_pages = pages;
        self
    }

    /// The items one by one. Each page is asked for when the one before is used up; the time
    /// between two requests is not counted. An error ends the stream.
    pub fn stream(self) -> impl Stream<Item = Result<T, Error>> + Send + Unpin + use<'a, T> {
        let pages = stream::once(ready(self.walk())).map_ok(|walk| {
            stream::try_unfold(walk, |mut walk| async move {
                let page = walk.step().await?;
                Ok::<_, Error>(page.map(|items| (stream::iter(items).map(Ok), walk)))
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

/// Without headers and arguments, which may be secrets.
impl<T> fmt::Debug for PreparedCall<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedCall")
            .field("method", &self.asked.method_name())
            .field("item", &self.asked.item())
            .finish_non_exhaustive()
    }
}

//! A call with its settings, sent when it is awaited.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use mcp_core::{Asked, BoxFuture, Call, ResultBody};
use mcp_types::meta::TraceContext;
use mcp_types::{LogMessage, LoggingLevel, Progress};

use crate::call::{Hook, Options, Running, Step};
use crate::error::Kind;
use crate::{Client, Error, ManualCall};

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
#[must_use = "a call does nothing unless it is awaited"]
pub struct PreparedCall<'a, T> {
    client: Client,
    asked: Asked,
    /// Why it cannot be sent.
    problem: Option<Kind>,
    options: Options<'a>,
    read: fn(ResultBody) -> Option<T>,
}

impl<'a, T> PreparedCall<'a, T> {
    pub(crate) fn new(client: &Client, call: Call, read: fn(ResultBody) -> Option<T>) -> Self {
        Self {
            client: client.clone(),
            asked: Asked::Call(call),
            problem: None,
            options: Options::default(),
            read,
        }
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
    pub fn on_progress(mut self, hook: impl FnMut(Progress) + Send + 'a) -> Self {
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
        let shown = name.as_ref().into();
        match (name.try_into(), value.try_into()) {
            (Ok(name), Ok(value)) => {
                self.options.headers.append(name, value);
                self
            }
            // The value may be a secret, so only the name is told.
            _ => self.fail(Kind::Header(shown)),
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
    /// Gives what the server asks for to the caller instead of the client's handlers.
    pub fn manual(self) -> ManualCall<'a, T> {
        ManualCall(self)
    }

    async fn run(self) -> Result<T, Error> {
        let read = self.read;
        let mut running = self.start()?;
        loop {
            match running.step().await? {
                Step::Done(body) => return running.read(body, read),
                Step::Asks(round) => running.fulfil(&round).await?,
            }
        }
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

impl<'a, T: 'a> IntoFuture for PreparedCall<'a, T> {
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

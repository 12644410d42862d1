//! What the caller of a call wants beside its answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_core::BoxFuture;
use mcp_types::{LogMessage, LoggingLevel, Meta, ProgressUpdate};

use crate::error::Kind;

/// What the caller wants beside the answer.
#[derive(Default)]
pub(crate) struct Options<'a> {
    pub(crate) idle: Option<Duration>,
    pub(crate) total: Option<Duration>,
    pub(crate) headers: HeaderMap,
    /// Ends the call.
    pub(crate) cancel: Option<BoxFuture<'a, ()>>,
    /// The caller does not want an answer that is kept.
    pub(crate) fresh: bool,
    /// Whether the call may be made twice, when the caller knows.
    pub(crate) idempotent: Option<bool>,
    pub(crate) meta: Option<Meta>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) on_progress: Option<Hook<'a, ProgressUpdate>>,
    pub(crate) on_log: Option<Hook<'a, LogMessage>>,
}

/// Code of the caller that runs while the call waits, on the task that awaits it.
pub(crate) struct Hook<'a, T>(Option<Box<dyn FnMut(T) + Send + 'a>>);

impl<'a, T> Hook<'a, T> {
    pub(crate) fn new(hook: impl FnMut(T) + Send + 'a) -> Self {
        Self(Some(Box::new(hook)))
    }

    /// Runs the hook. One that panics is not run again; the call goes on.
    pub(crate) fn run(&mut self, value: T) {
        let Some(hook) = &mut self.0 else { return };
        if catch_unwind(AssertUnwindSafe(|| hook(value))).is_err() {
            self.0 = None;
        }
    }
}

/// A header as callers write it. Its value may be a secret: an error tells the name alone, and
/// nothing shows it.
pub(crate) fn header(
    name: impl TryInto<HeaderName> + AsRef<str>,
    value: impl TryInto<HeaderValue>,
) -> Result<(HeaderName, HeaderValue), Kind> {
    let shown = name.as_ref().into();
    match (name.try_into(), value.try_into()) {
        (Ok(name), Ok(mut value)) => {
            value.set_sensitive(true);
            Ok((name, value))
        }
        _ => Err(Kind::Header(shown)),
    }
}

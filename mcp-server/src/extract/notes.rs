//! What a handler tells while it runs.

use mcp_core::Outlet;
use mcp_types::{LogMessage, LoggingLevel};
use serde_json::Value;

use super::FromCall;
use crate::context::CallContext;
use crate::rejection::Rejection;
use crate::spec::RouteSpec;

/// Reports progress to the client. Costs nothing when the client did not ask for it.
///
/// # Examples
///
/// ```
/// use mcp_server::Progress;
///
/// async fn copy(progress: Progress) -> &'static str {
///     for done in 0..3 {
///         progress.report(f64::from(done), 3.0, "copying").await;
///     }
///     "done"
/// }
/// ```
// spec: PROG-02, PROG-03
#[derive(Debug, Clone)]
pub struct Progress(Outlet);

impl Progress {
    /// So much of so much is done. Waits while the client does not keep up. Reports that do not
    /// grow are left out.
    pub async fn report(&self, done: f64, total: f64, message: impl Into<String>) {
        if self.is_wanted() {
            self.send(
                mcp_types::ProgressUpdate::new(done)
                    .of(total)
                    .message(message),
            )
            .await;
        }
    }

    /// Reports progress whose end is not known, or without words.
    #[inline]
    pub async fn send(&self, progress: mcp_types::ProgressUpdate) {
        self.0.report_progress(progress).await;
    }

    /// The client asked for progress.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.0.wants_progress()
    }
}

impl FromCall for Progress {
    #[inline]
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.outlet().clone()))
    }
}

/// Sends log messages to the client: those of the level that it asked for, none when it did not
/// ask. Never waits; messages that find no room are lost.
///
/// # Examples
///
/// ```
/// use mcp_server::Log;
///
/// async fn import(log: Log) -> &'static str {
///     log.info("started");
///     log.warning(serde_json::json!({"skipped": 3}));
///     "done"
/// }
/// ```
// spec: LOG-01, LOG-02, LOG-04
#[derive(Debug, Clone)]
pub struct Log(Outlet);

macro_rules! levels {
    ($($(#[$doc:meta])* $method:ident: $level:ident),*) => {
        $($(#[$doc])*
        pub fn $method(&self, data: impl Into<Value>) {
            self.log(LoggingLevel::$level, data);
        })*
    };
}

impl Log {
    levels! {
        /// For developers.
        debug: Debug,
        /// What happens normally.
        info: Info,
        /// Normal, but worth a look.
        notice: Notice,
        /// Something may go wrong.
        warning: Warning,
        /// Something went wrong.
        error: Error
    }

    /// A message of any level: text, or any other JSON.
    pub fn log(&self, level: LoggingLevel, data: impl Into<Value>) {
        if self.is_wanted(level) {
            self.send(LogMessage::new(level, data));
        }
    }

    /// A message with the name of a logger.
    #[inline]
    pub fn send(&self, message: LogMessage) {
        self.0.log(message);
    }

    /// The client asked for messages of this level.
    #[inline]
    pub fn is_wanted(&self, level: LoggingLevel) -> bool {
        self.0.wants_log(level)
    }
}

impl FromCall for Log {
    #[inline]
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.outlet().clone()))
    }

    #[inline]
    fn describe(spec: &mut RouteSpec) {
        spec.sends_logs();
    }
}

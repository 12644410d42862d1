//! Options of one message: time limits, headers, callbacks, and the id by which a program cancels a
//! call.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `id` | ids of calls |
//! | `timer` | time limits of calls |
//! | `header` | headers and `_meta` that a caller sets |

mod header;
mod id;
mod timer;

use std::borrow::Cow;
use std::time::Duration;

use http::HeaderMap;
use mcp_core::{BoxFuture, ClientProfile, catch_panic_sync};
use mcp_types::{
    ClientCapabilities, Implementation, LogMessage, LoggingLevel, Meta, ProgressUpdate, RawObject,
};

pub(crate) use header::{append_header, parse_header, setter};
pub(crate) use id::{CallId, CallIds};
pub(crate) use timer::{CallTimer, Timeouts, deadline_after};

/// Call options. [`PreparedCall`](crate::PreparedCall) documents each of them.
#[derive(Default)]
pub(crate) struct CallOptions<'a> {
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) total_timeout: Option<Duration>,
    pub(crate) headers: HeaderMap,
    /// Cancels the call when it resolves.
    pub(crate) cancel: Option<BoxFuture<'a, ()>>,
    /// Bypasses the cache.
    pub(crate) fresh: bool,
    /// The caller's statement whether the call may be executed twice.
    pub(crate) idempotent: Option<bool>,
    pub(crate) meta: Option<Meta>,
    /// The id of the first request, if the caller knows it.
    pub(crate) id: Option<CallId>,
    /// Capabilities instead of the client's, in revisions without sessions.
    pub(crate) capabilities: Option<ClientCapabilities>,
    /// Identity instead of the client's, in revisions without sessions.
    pub(crate) identity: Option<Implementation>,
    /// Does not decode the result's content.
    pub(crate) returns_raw: bool,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) on_progress: Option<Hook<'a, ProgressUpdate>>,
    pub(crate) on_log: Option<Hook<'a, LogMessage>>,
    /// Receives notifications of extensions that belong to the call.
    pub(crate) on_custom: Option<Hook<'a, (Box<str>, Option<RawObject>)>>,
}

impl CallOptions<'_> {
    /// Returns the identity and the capabilities of the client for this call.
    pub(crate) fn profile<'p>(&self, own: &'p ClientProfile) -> Cow<'p, ClientProfile> {
        if self.capabilities.is_none() && self.identity.is_none() {
            return Cow::Borrowed(own);
        }
        let identity = self.identity.as_ref().unwrap_or(&own.info);
        let capabilities = self.capabilities.as_ref().unwrap_or(&own.capabilities);
        let mut profile = ClientProfile::new(identity.clone());
        profile.capabilities = capabilities.clone();
        Cow::Owned(profile)
    }

    /// Returns the options that may change the response, as part of a cache key. `meta` are the members of `_meta`.
    pub(crate) fn cache_key_part(&self, meta: Option<&Meta>) -> String {
        let mut part = String::new();
        for (name, value) in &self.headers {
            let value = value.as_bytes().escape_ascii();
            part.push_str(&format!("{name}: {value}\n"));
        }
        if let Some(capabilities) = &self.capabilities {
            part.push_str(&serde_json::to_string(capabilities).unwrap_or_default());
        }
        if let Some(identity) = &self.identity {
            part.push_str(&serde_json::to_string(identity).unwrap_or_default());
        }
        if let Some(meta) = meta {
            part.push_str(&serde_json::to_string(meta).unwrap_or_default());
        }
        if self.returns_raw {
            part.push_str("raw");
        }
        part
    }
}

/// A callback of the caller. It runs on the task that awaits the call.
pub(crate) struct Hook<'a, T>(Option<Box<dyn FnMut(T) + Send + 'a>>);

impl<'a, T> Hook<'a, T> {
    pub(crate) fn new(hook: impl FnMut(T) + Send + 'a) -> Self {
        Self(Some(Box::new(hook)))
    }

    /// Runs the callback. After a panic it is not run again, and the call continues.
    pub(crate) fn run(&mut self, value: T) {
        let Some(hook) = &mut self.0 else { return };
        if catch_panic_sync(|| hook(value)).is_err() {
            self.0 = None;
        }
    }
}

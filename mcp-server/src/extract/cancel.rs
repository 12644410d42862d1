//! The end of a call.

use mcp_core::close_signal::CloseSignal;

use super::from_call::FromCall;
use crate::call::{CallContext, RouteSpec};
use crate::rejection::Rejection;

/// A signal that the call has ended, for tasks and threads that the handler has started.
///
/// The server cancels a call by dropping its handler, so futures that the handler awaits need no
/// signal. A spawned task, a thread or another process continues; it learns from this signal that the
/// client cancelled the call or that the handler has returned.
///
/// # Examples
///
/// ```
/// use mcp::Cancel;
///
/// async fn render(cancel: Cancel) -> &'static str {
///     let page = std::thread::spawn(move || {
///         (0..100).take_while(|_| !cancel.is_cancelled()).count()
///     });
///     // …
///     # page.join().unwrap();
///     "rendered"
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Cancel(CloseSignal);

impl Cancel {
    /// Waits until the call has ended.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.0.closed()
    }

    /// Returns whether the call has ended.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_closed()
    }
}

impl FromCall for Cancel {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let Some(signal) = call.close_signal() else {
            tracing::error!("an extractor takes `Cancel` without calling `Cancel::describe`");
            return Err(Rejection::not_set_up());
        };
        Ok(Self(signal.clone()))
    }

    fn describe(spec: &mut RouteSpec) {
        spec.needs.close_signal = true;
    }
}

//! The end of a call.

use mcp_core::Fault;
use mcp_core::close_signal::CloseSignal;

use super::FromCall;
use crate::context::CallContext;
use crate::rejection::Rejection;
use crate::spec::RouteSpec;

/// Tells that the call is over, to whatever the handler has started beside itself.
///
/// A call is cancelled by dropping the handler: what it awaits needs no care. What runs on (a
/// spawned task, a thread, another process) learns by this that nobody waits for it any more: the
/// client has gone, or the handler is done.
///
/// # Examples
///
/// ```
/// use mcp_server::Cancel;
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
    /// Waits until the call is over.
    #[inline]
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.0.closed()
    }

    /// The call is over.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_closed()
    }
}

impl FromCall for Cancel {
    #[inline]
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let Some(over) = call.over() else {
            tracing::error!("an extractor takes `Cancel` without calling `Cancel::describe`");
            return Err(Fault::internal("the server is not set up for this call").into());
        };
        Ok(Self(over.clone()))
    }

    #[inline]
    fn describe(spec: &mut RouteSpec) {
        spec.waits_for_end();
    }
}

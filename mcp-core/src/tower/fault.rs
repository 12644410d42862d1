//! Conversion of layer errors and panics into faults.

use std::error::Error;
use std::fmt::{self, Debug, Write};
use std::iter;
use std::time::Duration;

use crate::message::Fault;
use crate::panic::Panicked;

/// A layer error.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The time that clients wait after a call that was shed.
const SHED_WAIT: Duration = Duration::from_secs(1);
/// The number of error sources that are examined.
const MAX_SOURCES: usize = 8;

/// Converts a layer error by the first known type among it and its sources.
pub(super) fn from_error(error: BoxError) -> Fault {
    let error = match error.downcast::<Fault>() {
        Ok(fault) => return *fault,
        Err(error) => error,
    };
    let first: &(dyn Error + 'static) = &*error;
    let causes = iter::successors(Some(first), |error: &&(dyn Error + 'static)| {
        (*error).source()
    });
    for cause in causes.take(MAX_SOURCES) {
        if let Some(fault) = cause.downcast_ref::<Fault>() {
            return fault.clone();
        }
        match &*type_name(cause) {
            "Elapsed" => return Fault::Deadline,
            "Overloaded" => return Fault::overloaded("the server is overloaded", SHED_WAIT),
            _ => {}
        }
    }
    tracing::error!(error = %mcp_types::escaped(&error), "a layer failed");
    internal()
}

/// Converts a layer panic. Its message is logged and not sent.
pub(super) fn from_panic(panic: &Panicked) -> Fault {
    tracing::error!(panic = %mcp_types::escaped(&panic), "a layer panicked");
    internal()
}

pub(super) fn internal() -> Fault {
    Fault::internal("a layer of the server failed")
}

/// Returns the name of an error's type: the identifier at the start of its derived `Debug`.
///
/// `downcast_ref` needs the types: `tower` defines `Elapsed` behind a feature that enables tokio, on which this
/// crate does not depend. An adapter as axum's `HandleErrorLayer` would be one more line in every server with a
/// time limit. Only failed calls pay.
fn type_name(error: &dyn Debug) -> String {
    let mut name = Name(String::new());
    // Writing stops with an error at the end of the identifier.
    let _ = write!(name, "{error:?}");
    name.0
}

struct Name(String);

impl Name {
    const MAX_BYTES: usize = 32;
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let fits = self.0.len() < Self::MAX_BYTES && c.is_ascii_alphanumeric();
            if !fits {
                return Err(fmt::Error);
            }
            self.0.push(c);
        }
        Ok(())
    }
}

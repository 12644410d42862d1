//! What goes wrong in a layer, as faults.

use std::error::Error;
use std::fmt::{self, Debug, Write};
use std::iter;

use crate::{Fault, Panicked};

/// Any error of a layer.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// How far down the causes of an error are looked at.
const MOST_CAUSES: usize = 8;

/// What an error of a layer means to the client.
#[inline]
pub(super) fn of(error: BoxError) -> Fault {
    let error = match error.downcast::<Fault>() {
        Ok(fault) => return *fault,
        Err(error) => error,
    };
    let first: &(dyn Error + 'static) = &*error;
    let causes = iter::successors(Some(first), |error: &&(dyn Error + 'static)| {
        (*error).source()
    })
    .take(MOST_CAUSES);
    for cause in causes {
        if let Some(fault) = cause.downcast_ref::<Fault>() {
            return fault.clone();
        }
        match &*type_name(cause) {
            "Elapsed" => return Fault::Deadline,
            "Overloaded" => return Fault::Refused("the server is overloaded; try later".into()),
            _ => {}
        }
    }
    tracing::error!(%error, "a layer failed");
    internal()
}

#[inline]
pub(super) fn of_panic(panic: &Panicked) -> Fault {
    tracing::error!(panic = panic.text(), "a layer panicked");
    internal()
}

#[inline]
fn internal() -> Fault {
    Fault::internal("a layer of the server failed")
}

/// The name of an error's type, as its derived `Debug` begins with it. The types themselves live in
/// crates that bring a runtime along, and this one runs without.
#[inline]
fn type_name(error: &dyn Debug) -> String {
    let mut name = Name(String::new());
    // It ends with an error on purpose, where the name ends.
    let _ = write!(name, "{error:?}");
    name.0
}

struct Name(String);

impl Name {
    const MOST_BYTES: usize = 32;
}

impl Write for Name {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let fits = self.0.len() < Self::MOST_BYTES && c.is_ascii_alphanumeric();
            if !fits {
                return Err(fmt::Error);
            }
            self.0.push(c);
        }
        Ok(())
    }
}

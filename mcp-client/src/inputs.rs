//! Input that a server requests from the client: forms and URLs (elicitation), the language model
//! (sampling), and roots. One set of handlers serves all protocol revisions.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `url_elicitations` | URLs that the user visits, and their completion |
//! | `error` | [`InputError`], [`InputKind`], [`Rejected`] |
//! | `request` | arguments of handlers |
//! | `handlers`, `layered` | a client's handlers, and the layers around them |
//! | `mrtr` | rounds of input in one call |
//! | `required_urls` | URLs that the user must visit before a call |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client>

mod error;
mod handlers;
mod layered;
mod mrtr;
mod request;
pub(crate) mod required_urls;
mod url_elicitations;

pub(crate) use error::BoxError;
pub use error::{InputError, InputKind, Rejected};
pub use handlers::IntoInput;
pub(crate) use handlers::sealed::Convert;
pub(crate) use handlers::{CustomInput, Inputs, boxed, check_urls, first_invalid_root};
pub(crate) use mrtr::{InputRound, Mrtr};
pub use request::{Asker, ElicitRequest, SampleRequest, UrlRequest};
pub(crate) use required_urls::RequiredUrls;

//! The settings of an extension that the client declares.

use std::sync::Arc;

use mcp_core::Fault;
use mcp_core::extension::Extension;
use mcp_types::ClientCapabilities;

use super::from_call::FromCall;
use crate::call::CallContext;
use crate::rejection::Rejection;

/// The settings that the client declares for the extension `E`. Rejects calls of clients that do not
/// declare it with -32021 "missing required client capability"; take `Option<Declared<E>>` to accept
/// them. Works in every handler.
///
/// # Examples
///
/// ```
/// use mcp::extension::{Declared, Extension};
///
/// # struct Clock;
/// # impl Extension for Clock {
/// #     const ID: &'static str = "com.example/clock";
/// #     type ServerSettings = ();
/// #     type ClientSettings = ClockClient;
/// # }
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct ClockClient {
///     twelve_hours: bool,
/// }
///
/// fn noon(Declared(client): Declared<Clock>) -> &'static str {
///     if client.twelve_hours { "12 pm" } else { "12:00" }
/// }
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct Declared<E: Extension>(pub E::ClientSettings);

impl<E: Extension> FromCall for Declared<E> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let settings = call.facts().extension::<E>();
        let settings = settings.map_err(|error| Fault::bad_params(error.to_string()))?;
        settings.map(Self).ok_or_else(|| {
            let required = Arc::new(ClientCapabilities::default().with_extension(E::ID, &()));
            Rejection::Fault(Fault::MissingCapability { required })
        })
    }
}

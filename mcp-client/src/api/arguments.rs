//! Argument serialization.

use mcp_core::Call;
use mcp_types::{RawObject, RawObjectError};
use serde::Serialize;

use crate::call::{PreparedCall, Reader};
use crate::client::Client;
use crate::error::ErrorKind;

/// Prepares a call with serialized arguments. Invalid arguments make the call fail when it is
/// awaited.
pub(super) fn with_arguments<'a, T>(
    client: &Client,
    args: Result<Option<RawObject>, RawObjectError>,
    call: impl FnOnce(Option<RawObject>) -> Call,
    read: Reader<T>,
) -> PreparedCall<'a, T> {
    match args {
        Ok(args) => PreparedCall::new(client, call(args), read),
        Err(error) => PreparedCall::new(client, call(None), read).fail(ErrorKind::Arguments(error)),
    }
}

/// Serializes arguments. A value that serializes to `null`, such as `()`, means no arguments.
pub(super) fn serialize(value: &impl Serialize) -> Result<Option<RawObject>, RawObjectError> {
    match RawObject::from_value(value) {
        Err(RawObjectError::NotAnObject("null")) => Ok(None),
        other => other.map(Some),
    }
}

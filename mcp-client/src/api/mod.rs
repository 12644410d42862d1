//! The calls, one file per page of the specification; lists by one pager.

mod completion;
mod pages;
mod prompts;
mod request;
mod resources;
mod session;
mod tools;

use mcp_core::{Call, ResultBody};
use mcp_types::{RawObject, RawObjectError};
use serde::Serialize;

use crate::error::Kind;
use crate::{Client, PreparedCall};

pub(crate) use session::set_level;

/// A call with arguments of the caller; what cannot be sent lets the call fail when it is awaited.
fn with_arguments<'a, T>(
    client: &Client,
    args: &impl Serialize,
    call: impl FnOnce(Option<RawObject>) -> Call,
    read: fn(ResultBody) -> Option<T>,
) -> PreparedCall<'a, T> {
    match arguments(args) {
        Ok(args) => PreparedCall::new(client, call(args), read),
        Err(error) => PreparedCall::new(client, call(None), read).fail(Kind::Arguments(error)),
    }
}

/// Arguments as they are sent; a value that serializes to `null`, such as `()`, stands for none.
fn arguments(value: &impl Serialize) -> Result<Option<RawObject>, RawObjectError> {
    match RawObject::from_value(value) {
        Err(RawObjectError::NotAnObject("null")) => Ok(None),
        other => other.map(Some),
    }
}

//! Call results, decoded by the request's method.

mod strict;
mod tolerant;

use mcp_types::{Method, RawJson};

pub(super) use strict::read_as;

use super::{DecodeError, mend};
use crate::message::ResultBody;

/// Decodes the result of `method`. What a result contains beside one malformed part is kept.
#[inline]
pub(super) fn read(method: Option<Method>, raw: RawJson<'_>) -> Result<ResultBody, DecodeError> {
    strict::read(method, raw).or_else(|error| tolerant::read(method, raw).ok_or(error))
}

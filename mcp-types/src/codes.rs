//! Error codes of JSON-RPC and of the protocol.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#errors>

/// Invalid JSON was received.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is not a valid request object.
pub const INVALID_REQUEST: i64 = -32600;
/// The method does not exist or is not offered.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters of the method are not valid.
pub const INVALID_PARAMS: i64 = -32602;
/// The server failed for a reason of its own.
pub const INTERNAL_ERROR: i64 = -32603;

/// A resource does not exist (up to 2025-11-25; later revisions use [`INVALID_PARAMS`]).
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// A mirrored header is missing or says something else than the body (2026-07-28).
pub const HEADER_MISMATCH: i64 = -32020;
/// The request needs a capability that the client did not declare (2026-07-28).
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The revision that the request names is not offered (2026-07-28).
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
/// The user has to visit a URL first (2025-11-25 alone).
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

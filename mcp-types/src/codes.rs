//! The error codes of JSON-RPC and MCP, and the types of their `data`.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#errors>

use serde::{Deserialize, Serialize};

use crate::{capabilities::ClientCapabilities, elicitation::ElicitUrlParams};

/// The message is not valid JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is not a valid request.
pub const INVALID_REQUEST: i64 = -32600;
/// The method does not exist or is not available.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters of the method are invalid.
pub const INVALID_PARAMS: i64 = -32602;
/// The receiver's internal error.
pub const INTERNAL_ERROR: i64 = -32603;

/// An HTTP server cannot accept the request in its current state: the session id is missing, or a
/// stream is already open (legacy revisions, by convention).
pub const BAD_REQUEST: i64 = -32000;
/// An HTTP server does not know the session (legacy revisions, by convention).
pub const SESSION_NOT_FOUND: i64 = -32001;
/// A resource does not exist (up to 2025-11-25; later revisions use [`INVALID_PARAMS`]).
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// A mirrored header is missing or differs from the body (2026-07-28).
pub const HEADER_MISMATCH: i64 = -32020;
/// The request requires a capability that the client did not declare (2026-07-28).
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The server does not support the revision of the request (2026-07-28).
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
/// The event type or the subscription does not exist (events extension, provisional: the draft of 5 October
/// 2026; an earlier draft, which the official conformance suite still expects, has -32011).
pub const EVENTS_NOT_FOUND: i64 = -32023;
/// The caller may not do this with events (events extension, provisional).
pub const EVENTS_FORBIDDEN: i64 = -32024;
/// An event limit is reached (events extension, provisional).
pub const EVENTS_RESOURCE_EXHAUSTED: i64 = -32025;
/// The server does not have a feature of events (events extension, provisional).
pub const EVENTS_UNSUPPORTED: i64 = -32026;
/// The URL of a subscription does not accept events (events extension, provisional).
pub const EVENTS_CALLBACK_ENDPOINT_ERROR: i64 = -32027;
/// The user has to visit a URL first (only 2025-11-25).
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
/// The server refuses the call: a rule forbids it. A code of this library, with the number of the HTTP
/// status.
// spec: ERR-08
pub const REFUSED: i64 = 403;
/// The caller has made too many calls (`data`: [`RetryAfter`]). A code of this library, with the number of
/// the HTTP status.
// spec: ERR-08
pub const RATE_LIMITED: i64 = 429;
/// The server is overloaded (`data`: [`RetryAfter`]). A code of this library, with the number of the HTTP
/// status.
// spec: ERR-08
pub const OVERLOADED: i64 = 503;
/// The user rejected a sampling request (legacy revisions, by convention).
// spec: ERR-10
pub const USER_REJECTED: i64 = -1;

/// Codes that JSON-RPC reserves. Applications define their codes outside this range.
// spec: ERR-08
pub const RESERVED: std::ops::RangeInclusive<i64> = -32768..=-32000;

/// `data` of [`RESOURCE_NOT_FOUND`], and of [`INVALID_PARAMS`] for a missing resource in 2026-07-28.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MissingResource {
    /// The resource's URI.
    pub uri: String,
}

/// `data` of [`MISSING_CLIENT_CAPABILITY`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MissingCapabilities {
    /// Capabilities that the request requires and the client did not declare.
    pub required_capabilities: ClientCapabilities,
}

/// `data` of [`RATE_LIMITED`] and [`OVERLOADED`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RetryAfter {
    /// Seconds to wait before the call is repeated, as in the HTTP header `Retry-After`.
    pub retry_after: u64,
}

/// `data` of [`UNSUPPORTED_PROTOCOL_VERSION`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnsupportedVersion {
    /// Names of the supported revisions, including revisions that this crate does not know.
    pub supported: Vec<String>,
    /// The requested revision's name.
    pub requested: String,
}

/// `data` of [`URL_ELICITATION_REQUIRED`].
// spec: ERR-13
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RequiredElicitations {
    /// URLs that the user has to visit. Each elicitation has an id.
    pub elicitations: Vec<ElicitUrlParams>,
}

#[cfg(test)]
mod tests {
    use super::{
        INTERNAL_ERROR, MissingCapabilities, MissingResource, RequiredElicitations, RetryAfter,
        UnsupportedVersion,
    };
    use crate::{
        capabilities::ClientCapabilities, elicitation::ElicitUrlParams, jsonrpc::ErrorObject,
        version::ProtocolVersion,
    };

    #[test]
    fn error_data_round_trips() {
        #[track_caller]
        fn round_trip<T>(data: &T, text: &str)
        where
            T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
        {
            let error = ErrorObject::new(INTERNAL_ERROR, "x").with_data(data);
            assert_eq!(error.data.as_ref().unwrap().get(), text);
            assert_eq!(error.data_as::<T>().as_ref(), Some(data));
        }

        let uri = "file:///a".to_owned();
        round_trip(&MissingResource { uri }, r#"{"uri":"file:///a"}"#);
        round_trip(
            &MissingCapabilities {
                required_capabilities: ClientCapabilities::default().with_sampling_tools(),
            },
            r#"{"requiredCapabilities":{"sampling":{"tools":{}}}}"#,
        );
        round_trip(&RetryAfter { retry_after: 7 }, r#"{"retryAfter":7}"#);
        let versions = UnsupportedVersion {
            supported: vec![ProtocolVersion::LATEST.to_string()],
            requested: "1900-01-01".to_owned(),
        };
        round_trip(
            &versions,
            r#"{"supported":["2026-07-28"],"requested":"1900-01-01"}"#,
        );
        let url = ElicitUrlParams::new("m", "https://example.com").elicitation_id("e");
        round_trip(
            &RequiredElicitations {
                elicitations: vec![url],
            },
            r#"{"elicitations":[{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}]}"#,
        );
    }
}

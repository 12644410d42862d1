//! Error codes of JSON-RPC and of the protocol, and the `data` of those that have one.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#errors>

use crate::json::members;
use crate::{ClientCapabilities, ElicitUrlParams, ProtocolVersion};

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

/// An HTTP server cannot take the request as it is: no session, another reader (legacy era, in use
/// by convention).
pub const BAD_REQUEST: i64 = -32000;
/// An HTTP server does not know the session (legacy era, in use by convention).
pub const SESSION_NOT_FOUND: i64 = -32001;
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
/// The user refused to sample (legacy era, in use by convention).
// spec: ERR-10
pub const USER_REJECTED: i64 = -1;

/// The codes that JSON-RPC keeps for itself: codes of one's own lie outside.
// spec: ERR-08
pub const RESERVED: std::ops::RangeInclusive<i64> = -32768..=-32000;

/// A receiver may know what the code means: it is not one that implementations once used as they
/// liked.
// spec: ERR-03
pub const fn has_meaning(code: i64) -> bool {
    !matches!(code, -32019..=-32000) || code == RESOURCE_NOT_FOUND
}

/// `data` of [`RESOURCE_NOT_FOUND`] and, in 2026-07-28, of [`INVALID_PARAMS`] for the same reason.
// spec: RSRC-05
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingResource {
    /// The resource that does not exist.
    pub uri: String,
}

members!(MissingResource as "a missing resource" {
    "uri" => uri,
});

impl MissingResource {
    /// The resource does not exist.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

/// `data` of [`MISSING_CLIENT_CAPABILITY`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct MissingCapabilities {
    /// Just what is missing.
    pub required_capabilities: ClientCapabilities,
}

members!(MissingCapabilities as "missing capabilities" {
    "requiredCapabilities" => required_capabilities,
});

impl MissingCapabilities {
    /// The client has to declare these.
    pub fn new(required: ClientCapabilities) -> Self {
        Self {
            required_capabilities: required,
        }
    }
}

/// `data` of [`UNSUPPORTED_PROTOCOL_VERSION`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedVersion {
    /// The revisions that are offered, also those this library does not know.
    pub supported: Vec<String>,
    /// The revision that was named.
    pub requested: String,
}

members!(UnsupportedVersion as "an unsupported version" {
    "supported" => supported,
    "requested" => requested,
});

impl UnsupportedVersion {
    /// The revision is not among those that are offered.
    pub fn new(requested: impl Into<String>, supported: &[ProtocolVersion]) -> Self {
        Self {
            supported: supported.iter().map(ToString::to_string).collect(),
            requested: requested.into(),
        }
    }

    /// The offered revisions that this library knows.
    pub fn known(&self) -> impl Iterator<Item = ProtocolVersion> {
        self.supported.iter().filter_map(|text| text.parse().ok())
    }
}

/// `data` of [`URL_ELICITATION_REQUIRED`].
// spec: ERR-13
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RequiredElicitations {
    /// Where the user has to go; each has an id.
    pub elicitations: Vec<ElicitUrlParams>,
}

members!(RequiredElicitations as "URLs to visit" {
    "elicitations" => elicitations,
});

impl RequiredElicitations {
    /// The user has to visit these URLs first.
    pub fn new(elicitations: impl IntoIterator<Item = ElicitUrlParams>) -> Self {
        Self {
            elicitations: elicitations.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        HEADER_MISMATCH, INTERNAL_ERROR, MissingCapabilities, MissingResource, RESERVED,
        RESOURCE_NOT_FOUND, RequiredElicitations, USER_REJECTED, UnsupportedVersion, has_meaning,
    };
    use crate::{ClientCapabilities, ElicitUrlParams, ErrorObject, ProtocolVersion};

    #[test]
    fn data_of_errors_reads_back() {
        #[track_caller]
        fn round_trip<T>(data: &T, text: &str)
        where
            T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
        {
            let error = ErrorObject::new(INTERNAL_ERROR, "x").with_data(data);
            assert_eq!(error.data.as_ref().unwrap().get(), text);
            assert_eq!(error.data_as::<T>().as_ref(), Some(data));
        }

        round_trip(&MissingResource::new("file:///a"), r#"{"uri":"file:///a"}"#);
        round_trip(
            &MissingCapabilities::new(ClientCapabilities::default().with_sampling_tools()),
            r#"{"requiredCapabilities":{"sampling":{"tools":{}}}}"#,
        );
        let versions = UnsupportedVersion::new("1900-01-01", &ProtocolVersion::ALL[..1]);
        round_trip(
            &versions,
            r#"{"supported":["2026-07-28"],"requested":"1900-01-01"}"#,
        );
        assert_eq!(versions.known().count(), 1);
        let url = ElicitUrlParams::new("m", "https://example.com").elicitation_id("e");
        round_trip(
            &RequiredElicitations::new([url]),
            r#"{"elicitations":[{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}]}"#,
        );
    }

    #[test]
    fn codes_that_mean_nothing() {
        for code in [-32001, -32000, -32019] {
            assert!(!has_meaning(code) && RESERVED.contains(&code), "{code}");
        }
        for code in [
            RESOURCE_NOT_FOUND,
            HEADER_MISMATCH,
            INTERNAL_ERROR,
            USER_REJECTED,
            7,
        ] {
            assert!(has_meaning(code), "{code}");
        }
    }
}

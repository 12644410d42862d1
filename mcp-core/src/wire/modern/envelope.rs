//! The part of `_meta` that every modern request carries.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#meta>

use std::borrow::Cow;
use std::sync::Arc;

use crate::{ClientFacts, Fault};
use mcp_types::json::{self, Read};
use mcp_types::meta::keys;
use mcp_types::{
    ClientCapabilities, Params, ProgressToken, ProtocolVersion, RawJson, RawObject, Request,
};

/// What a modern request says about itself.
// spec: META-07
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The revision that it names, known or not.
    pub version: Cow<'a, str>,
    /// What it says about the client. Of a revision that is not known, the version here is the
    /// latest one: nothing is served under it.
    pub facts: Arc<ClientFacts>,
    /// The token under which the client wants progress.
    pub progress_token: Option<ProgressToken>,
    meta: RawJson<'a>,
}

impl<'a> Envelope<'a> {
    /// Finds the envelope of a request. A request whose `_meta` names no revision has none.
    ///
    /// # Errors
    ///
    /// [`Fault::BadParams`] when it names a revision and the rest is missing or malformed.
    // spec: META-09, LOG-06
    pub fn from_request(request: &Request<'a>) -> Result<Option<Self>, Fault> {
        let params = &request.params;
        let Some(meta) = params.get("_meta").filter(|raw| !raw.is_null()) else {
            return Ok(None);
        };
        if !meta.is_object() {
            return Err(Fault::bad_params("`params._meta`: expected an object"));
        }
        let Some(version) = params.meta(keys::PROTOCOL_VERSION) else {
            return Ok(None);
        };
        let Some(capabilities) = params.meta(keys::CLIENT_CAPABILITIES) else {
            return Err(missing(keys::CLIENT_CAPABILITIES));
        };
        let version = version
            .text()
            .ok_or_else(|| malformed(keys::PROTOCOL_VERSION, &"expected a string"))?;
        let info = params.meta(keys::CLIENT_INFO);
        let facts = ClientFacts::new(version.parse().unwrap_or(ProtocolVersion::LATEST))
            .capabilities(read_capabilities(capabilities)?)
            .log_level(read(params, keys::LOG_LEVEL)?)
            .info(info.and_then(|raw| RawObject::from_raw(raw).ok()));
        Ok(Some(Self {
            version,
            // Shared from the start: it is large, and on its way to the call.
            facts: Arc::new(facts),
            progress_token: read(params, keys::PROGRESS_TOKEN)?,
            meta,
        }))
    }

    /// The request should have an envelope and has none.
    #[cold]
    pub fn missing() -> Fault {
        missing(keys::PROTOCOL_VERSION)
    }

    /// The `_meta` that it stands in.
    pub fn meta(&self) -> Option<RawObject> {
        RawObject::from_raw(self.meta).ok()
    }
}

#[cold]
fn missing(key: &str) -> Fault {
    Fault::bad_params(format!(
        "missing `params._meta[\"{key}\"]`; every request of {} carries it",
        ProtocolVersion::LATEST
    ))
}

#[cold]
fn malformed(key: &str, reason: &dyn std::fmt::Display) -> Fault {
    Fault::bad_params(format!("`params._meta`: `{key}`: {reason}"))
}

/// Most clients declare nothing.
fn read_capabilities(raw: RawJson<'_>) -> Result<ClientCapabilities, Fault> {
    match raw.as_str() {
        "{}" => Ok(ClientCapabilities::default()),
        _ => json::from_str(raw.as_str())
            .map_err(|error| malformed(keys::CLIENT_CAPABILITIES, &error)),
    }
}

/// Reads a member that may be left out.
fn read<T: Read>(params: &Params<'_>, key: &str) -> Result<Option<T>, Fault> {
    let read = params.meta(key).map(|raw| json::from_str(raw.as_str()));
    read.transpose().map_err(|error| malformed(key, &error))
}

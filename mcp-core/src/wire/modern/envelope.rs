//! The part of `_meta` that every modern request carries.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#meta>

use std::borrow::Cow;
use std::sync::Arc;

use mcp_types::meta::keys;
use mcp_types::{ClientCapabilities, ProgressToken, ProtocolVersion, RawJson, RawObject, Request};
use serde::Deserialize;

use crate::{ClientFacts, Fault};

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
    pub fn find(request: &Request<'a>) -> Result<Option<Self>, Fault> {
        let Some(meta) = request.params.get("_meta").filter(|raw| !raw.is_null()) else {
            return Ok(None);
        };
        let found = Members::of(request, meta)?;
        let Some(version) = found.version else {
            return Ok(None);
        };
        let Some(capabilities) = found.capabilities else {
            return Err(missing(keys::CLIENT_CAPABILITIES));
        };
        let version = version
            .text()
            .ok_or_else(|| malformed(keys::PROTOCOL_VERSION, &"expected a string"))?;
        let facts = ClientFacts::new(version.parse().unwrap_or(ProtocolVersion::LATEST))
            .capabilities(read_capabilities(capabilities)?)
            .log_level(read(keys::LOG_LEVEL, found.log_level)?)
            .info(found.info.and_then(|raw| RawObject::from_raw(raw).ok()));
        Ok(Some(Self {
            version,
            // Shared from the start: it is large, and on its way to the call.
            facts: Arc::new(facts),
            progress_token: read(keys::PROGRESS_TOKEN, found.progress_token)?,
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

/// Where the members of an envelope are.
#[derive(Default)]
struct Members<'a> {
    version: Option<RawJson<'a>>,
    capabilities: Option<RawJson<'a>>,
    info: Option<RawJson<'a>>,
    log_level: Option<RawJson<'a>>,
    progress_token: Option<RawJson<'a>>,
}

impl<'a> Members<'a> {
    fn of(request: &Request<'a>, meta: RawJson<'a>) -> Result<Self, Fault> {
        if !meta.is_object() {
            return Err(Fault::bad_params("`params._meta`: expected an object"));
        }
        let mut found = Self::default();
        for (name, value) in request.params.meta_members() {
            let slot = match name {
                keys::PROTOCOL_VERSION => &mut found.version,
                keys::CLIENT_CAPABILITIES => &mut found.capabilities,
                keys::CLIENT_INFO => &mut found.info,
                keys::LOG_LEVEL => &mut found.log_level,
                keys::PROGRESS_TOKEN => &mut found.progress_token,
                _ => continue,
            };
            *slot = Some(value);
        }
        Ok(found)
    }
}

/// Most clients declare nothing.
fn read_capabilities(raw: RawJson<'_>) -> Result<ClientCapabilities, Fault> {
    match raw.as_str() {
        "{}" => Ok(ClientCapabilities::default()),
        _ => raw
            .read()
            .map_err(|error| malformed(keys::CLIENT_CAPABILITIES, &error)),
    }
}

fn read<'a, T: Deserialize<'a>>(key: &str, raw: Option<RawJson<'a>>) -> Result<Option<T>, Fault> {
    match raw {
        None => Ok(None),
        Some(raw) => raw.read().map(Some).map_err(|error| malformed(key, &error)),
    }
}

//! The `_meta` fields that every modern request carries.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#meta>

use std::borrow::Cow;
use std::sync::Arc;

use crate::{ClientContext, Fault, RequestMetaObject};
use mcp_types::meta::keys;
use mcp_types::{
    ClientCapabilities, Params, ProgressToken, ProtocolVersion, RawJson, RawObject, Request,
};
use serde::de::DeserializeOwned;

/// The version, client and progress token that a modern request carries in `_meta`.
// spec: META-07
#[derive(Debug, Clone)]
pub(crate) struct Envelope<'a> {
    /// The revision that the request names. It may be unknown.
    pub(crate) version: Cow<'a, str>,
    /// The client. For an unknown revision the version in it is the latest one; such a request is
    /// refused before it is served.
    pub(crate) facts: Arc<ClientContext>,
    /// The token under which the client wants progress.
    pub(crate) progress_token: Option<ProgressToken>,
    meta: RawJson<'a>,
    /// True if `_meta` has no other members.
    is_complete_meta: bool,
}

impl<'a> Envelope<'a> {
    /// Reads the envelope of a request. Returns `None` for a request whose `_meta` names no revision.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::BadParams`] when `_meta` names a revision, and another field of the envelope
    /// is missing or malformed.
    // spec: META-09, LOG-06
    pub(crate) fn from_request(request: &Request<'a>) -> Result<Option<Self>, Fault> {
        Self::from_params(&request.params)
    }

    /// Reads the envelope in the parameters of a request or notification.
    pub(crate) fn from_params(params: &Params<'a>) -> Result<Option<Self>, Fault> {
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
        let capabilities = read_capabilities(capabilities)?;
        let info = params.meta(keys::CLIENT_INFO);
        let log_level = read(params, keys::LOG_LEVEL)?;
        let progress_token = read(params, keys::PROGRESS_TOKEN)?;
        let optional = [
            info.is_some(),
            log_level.is_some(),
            progress_token.is_some(),
        ];
        let members = 2 + optional
            .into_iter()
            .filter(|is_present| *is_present)
            .count();
        let facts = Arc::new(ClientContext {
            version: version.parse().unwrap_or(ProtocolVersion::LATEST),
            capabilities,
            log_level,
            info: info.and_then(|raw| RawObject::from_raw(raw).ok()),
        });
        Ok(Some(Self {
            version,
            facts,
            progress_token,
            meta,
            is_complete_meta: params.meta_members().len() == members,
        }))
    }

    /// Returns the fault for a modern request without an envelope.
    pub(crate) fn missing() -> Fault {
        missing(keys::PROTOCOL_VERSION)
    }

    /// Returns the whole `_meta` object.
    pub(crate) fn meta(&self) -> RequestMetaObject {
        let object = RawObject::from_raw(self.meta).ok();
        if self.is_complete_meta {
            RequestMetaObject::envelope(object)
        } else {
            object.into()
        }
    }
}

fn missing(key: &str) -> Fault {
    Fault::bad_params(format!(
        "missing `params._meta[\"{key}\"]`; every request of {} carries it",
        ProtocolVersion::LATEST
    ))
}

fn malformed(key: &str, reason: &dyn std::fmt::Display) -> Fault {
    Fault::bad_params(format!("`params._meta`: `{key}`: {reason}"))
}

fn read_capabilities(raw: RawJson<'_>) -> Result<ClientCapabilities, Fault> {
    match raw.as_str() {
        // Most clients declare no capabilities.
        "{}" => Ok(ClientCapabilities::default()),
        _ => serde_json::from_str(raw.as_str())
            .map_err(|error| malformed(keys::CLIENT_CAPABILITIES, &error)),
    }
}

/// Reads an optional field of `_meta`.
fn read<T: DeserializeOwned>(params: &Params<'_>, key: &str) -> Result<Option<T>, Fault> {
    let read = params
        .meta(key)
        .map(|raw| serde_json::from_str(raw.as_str()));
    read.transpose().map_err(|error| malformed(key, &error))
}

//! The `_meta` fields that every modern request carries.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#meta>

use std::borrow::Cow;
use std::sync::Arc;

use crate::connection::ClientContext;
use crate::message::{Fault, RequestMetaObject};
use mcp_types::meta::keys;
use mcp_types::{
    ClientCapabilities, Params, ProgressToken, ProtocolVersion, RawJson, RawObject, Request,
};
use serde::de::DeserializeOwned;

/// The version, client and progress token that a modern request carries in `_meta`.
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
        let (mut version, mut capabilities, mut info) = (None, None, None);
        let (mut log_level, mut progress_token) = (None, None);
        let mut is_complete_meta = true;
        for (key, raw) in params.meta_members() {
            match key {
                keys::PROTOCOL_VERSION => version = Some(raw),
                keys::CLIENT_CAPABILITIES => capabilities = Some(raw),
                keys::CLIENT_INFO => info = Some(raw),
                keys::LOG_LEVEL => log_level = Some(raw),
                keys::PROGRESS_TOKEN => progress_token = Some(raw),
                _ => is_complete_meta = false,
            }
        }
        let Some(version) = version else {
            return Ok(None);
        };
        let capabilities = capabilities.ok_or_else(|| missing(keys::CLIENT_CAPABILITIES))?;
        let version = version
            .text()
            .ok_or_else(|| malformed(keys::PROTOCOL_VERSION, &"expected a string"))?;
        let capabilities = match capabilities.as_str() {
            // Most clients declare no capabilities.
            "{}" => ClientCapabilities::default(),
            _ => read(keys::CLIENT_CAPABILITIES, capabilities)?,
        };
        let log_level = log_level
            .map(|raw| read(keys::LOG_LEVEL, raw))
            .transpose()?;
        let progress_token = progress_token
            .map(|raw| read(keys::PROGRESS_TOKEN, raw))
            .transpose()?;
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
            is_complete_meta,
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

fn read<T: DeserializeOwned>(key: &str, raw: RawJson<'_>) -> Result<T, Fault> {
    raw.read().map_err(|error| malformed(key, &error))
}

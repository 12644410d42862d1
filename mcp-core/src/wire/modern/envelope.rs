//! The part of `_meta` that every modern request carries.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic#meta>

use std::borrow::Cow;
use std::fmt;

use mcp_types::meta::keys;
use mcp_types::{
    ClientCapabilities, LoggingLevel, ProgressToken, ProtocolVersion, RawObject, Request,
};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{ClientFacts, Fault};

/// What a modern request says about itself.
// spec: META-07
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The revision that it names, known or not.
    pub version: Cow<'a, str>,
    /// What the client declares.
    pub capabilities: ClientCapabilities,
    /// The least level of log messages that the client wants.
    pub log_level: Option<LoggingLevel>,
    /// The token under which the client wants progress.
    pub progress_token: Option<ProgressToken>,
    info: Option<&'a RawValue>,
    meta: &'a RawValue,
}

impl<'a> Envelope<'a> {
    /// Finds the envelope of a request. A request whose `_meta` names no revision has none.
    ///
    /// # Errors
    ///
    /// [`Fault::BadParams`] when it names a revision and the rest is missing or malformed.
    // spec: META-09, LOG-06
    pub fn find(request: &Request<'a>) -> Result<Option<Self>, Fault> {
        let Some(meta) = request
            .params
            .get("_meta")
            .filter(|raw| raw.get() != "null")
        else {
            return Ok(None);
        };
        let mut deserializer = serde_json::Deserializer::from_str(meta.get());
        let found = Members::default()
            .deserialize(&mut deserializer)
            .map_err(|error| Fault::bad_params(format!("`params._meta`: {error}")))?;
        let Some(version) = found.version else {
            return Ok(None);
        };
        let Some(capabilities) = found.capabilities else {
            return Err(missing(keys::CLIENT_CAPABILITIES));
        };
        Ok(Some(Self {
            version,
            capabilities,
            log_level: found.log_level,
            progress_token: found.progress_token,
            info: found.info,
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

    /// What it says about the client.
    pub fn into_facts(self, version: ProtocolVersion) -> ClientFacts {
        ClientFacts::new(version)
            .capabilities(self.capabilities)
            .log_level(self.log_level)
            .info(self.info.and_then(|raw| RawObject::from_raw(raw).ok()))
    }
}

#[cold]
fn missing(key: &str) -> Fault {
    Fault::bad_params(format!(
        "missing `params._meta[\"{key}\"]`; every request of {} carries it",
        ProtocolVersion::LATEST
    ))
}

#[derive(Default)]
struct Members<'a> {
    version: Option<Cow<'a, str>>,
    capabilities: Option<ClientCapabilities>,
    info: Option<&'a RawValue>,
    log_level: Option<LoggingLevel>,
    progress_token: Option<ProgressToken>,
}

impl<'de> DeserializeSeed<'de> for Members<'de> {
    type Value = Self;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'de> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match key.0.as_ref() {
                key @ keys::PROTOCOL_VERSION => {
                    set(
                        &mut self.version,
                        key,
                        map.next_value::<Text<'de>>().map(|text| text.0),
                    )?;
                }
                key @ keys::CLIENT_CAPABILITIES => {
                    set(&mut self.capabilities, key, map.next_value())?;
                }
                key @ keys::CLIENT_INFO => set(&mut self.info, key, map.next_value())?,
                key @ keys::LOG_LEVEL => set(&mut self.log_level, key, map.next_value())?,
                key @ keys::PROGRESS_TOKEN => set(&mut self.progress_token, key, map.next_value())?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(self)
    }
}

/// Fills a slot once; the error names the key.
fn set<T, E: Error>(slot: &mut Option<T>, key: &str, value: Result<T, E>) -> Result<(), E> {
    let value = value.map_err(|error| E::custom(format_args!("`{key}`: {error}")))?;
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::custom(format_args!("`{key}` comes twice"))),
    }
}

#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

//! The trace that a message belongs to: W3C Trace Context and W3C Baggage in `_meta`.
//!
//! Spec: <https://www.w3.org/TR/trace-context/>, <https://www.w3.org/TR/baggage/>

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Meta, keys};
use crate::text::Str;

/// The trace that a message belongs to.
///
/// # Examples
///
/// ```
/// use mcp_types::Meta;
///
/// let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let meta = Meta::default().with("traceparent", text);
/// let trace = meta.trace().unwrap();
/// assert!(trace.parent.is_sampled());
/// assert_eq!(trace.parent.to_string(), text);
/// ```
// spec: META-14
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// The trace and the span that the message comes from.
    pub parent: TraceParent,
    /// What the tracing systems on the way have added.
    pub state: Option<TraceState>,
}

impl TraceContext {
    /// A message that comes from a span.
    #[inline]
    pub fn new(parent: TraceParent) -> Self {
        Self {
            parent,
            state: None,
        }
    }

    /// Sets what the tracing systems on the way have added.
    #[must_use]
    #[inline]
    pub fn state(mut self, state: TraceState) -> Self {
        self.state = Some(state);
        self
    }
}

/// `traceparent`: the trace and the span that a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TraceParent {
    /// The trace; never 0.
    pub trace_id: u128,
    /// The span; never 0.
    pub parent_id: u64,
    /// Its flags; the lowest bit says that the trace is recorded.
    pub flags: u8,
}

impl TraceParent {
    /// A span of a trace; `None` when one of them is 0.
    #[inline]
    pub fn new(trace_id: u128, parent_id: u64) -> Option<Self> {
        (trace_id != 0 && parent_id != 0).then_some(Self {
            trace_id,
            parent_id,
            flags: 0,
        })
    }

    /// Says that the trace is recorded.
    #[must_use]
    #[inline]
    pub fn sampled(mut self) -> Self {
        self.flags |= 1;
        self
    }

    /// The trace is recorded.
    #[inline]
    pub fn is_sampled(self) -> bool {
        self.flags & 1 == 1
    }
}

impl fmt::Display for TraceParent {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "00-{:032x}-{:016x}-{:02x}",
            self.trace_id, self.parent_id, self.flags
        )
    }
}

/// The text is no trace context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTrace {
    /// It is no `traceparent`.
    #[error("`{key}` is malformed", key = keys::TRACEPARENT)]
    Parent,
    /// It is no `tracestate`.
    #[error("`{key}` is malformed", key = keys::TRACESTATE)]
    State,
    /// It is no `baggage`.
    #[error("`{key}` is malformed", key = keys::BAGGAGE)]
    Baggage,
}

/// Reads version 00 strictly, and of later versions what version 00 has.
impl FromStr for TraceParent {
    type Err = InvalidTrace;

    #[inline]
    fn from_str(text: &str) -> Result<Self, InvalidTrace> {
        let mut parts = text.splitn(5, '-');
        let mut part = |length| lower_hex(parts.next(), length).ok_or(InvalidTrace::Parent);
        let (version, trace_id) = (part(2)?, part(32)?);
        let (parent_id, flags) = (part(16)?, part(2)?);
        let rest = parts.next();
        if version == 0xff || version == 0 && rest.is_some() {
            return Err(InvalidTrace::Parent);
        }
        let narrow = u64::try_from(parent_id).ok().zip(u8::try_from(flags).ok());
        let (parent_id, flags) = narrow.ok_or(InvalidTrace::Parent)?;
        let parent = Self::new(trace_id, parent_id).ok_or(InvalidTrace::Parent)?;
        Ok(Self { flags, ..parent })
    }
}

#[inline]
fn lower_hex(part: Option<&str>, length: usize) -> Option<u128> {
    let part = part.filter(|part| part.len() == length)?;
    let lower = part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    lower.then(|| u128::from_str_radix(part, 16).ok()).flatten()
}

/// `tracestate`: what the tracing systems on the way have added, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TraceState(Box<str>);

impl TraceState {
    /// Entries that one state may have.
    pub const MAX_ENTRIES: usize = 32;

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The entries, newest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        entries(&self.0).filter_map(|entry| entry.split_once('='))
    }
}

impl FromStr for TraceState {
    type Err = InvalidTrace;

    #[inline]
    fn from_str(text: &str) -> Result<Self, InvalidTrace> {
        let fits = |entry: &str| {
            let parts = entry.split_once('=');
            parts.is_some_and(|(key, value)| is_state_key(key) && is_state_value(value))
        };
        if entries(text).count() > Self::MAX_ENTRIES || !entries(text).all(fits) {
            return Err(InvalidTrace::State);
        }
        Ok(Self(text.into()))
    }
}

/// The entries between commas; empty ones are allowed and say nothing.
#[inline]
fn entries(text: &str) -> impl Iterator<Item = &str> {
    let entries = text.split(',').map(|entry| entry.trim_matches([' ', '\t']));
    entries.filter(|entry| !entry.is_empty())
}

#[inline]
fn is_state_key(key: &str) -> bool {
    let inside = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-' | '*' | '/');
    let part = |part: &str, most: usize| {
        (1..=most).contains(&part.len())
            && part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && part.chars().all(inside)
    };
    match key.split_once('@') {
        Some((tenant, system)) => part(tenant, 241) && part(system, 14),
        None => part(key, 256),
    }
}

#[inline]
fn is_state_value(value: &str) -> bool {
    let printable = |c: char| matches!(c, ' '..='~') && c != ',' && c != '=';
    (1..=256).contains(&value.len()) && value.chars().all(printable)
}

/// `baggage`: what the application sends along with a trace.
///
/// # Examples
///
/// ```
/// use mcp_types::meta::Baggage;
///
/// let baggage: Baggage = "user=Ada%20L, tier=gold;until=noon".parse()?;
/// assert_eq!(baggage.get("user").as_deref(), Some("Ada L"));
/// # Ok::<(), mcp_types::meta::InvalidTrace>(())
/// ```
// spec: META-14
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Baggage(Box<str>);

impl Baggage {
    /// Bytes that baggage may have: what every system has to pass on.
    pub const MAX_BYTES: usize = 8192;

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The entries without their properties; values as they are written, with percent escapes.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        entries(&self.0).filter_map(|entry| {
            let (key, rest) = entry.split_once('=')?;
            let value = rest.split(';').next().unwrap_or_default();
            Some((key.trim_end(), value.trim()))
        })
    }

    /// The value at `key`, without percent escapes.
    #[inline]
    pub fn get(&self, key: &str) -> Option<String> {
        let (_, value) = self.iter().find(|(known, _)| *known == key)?;
        Some(unescape(value))
    }
}

impl FromStr for Baggage {
    type Err = InvalidTrace;

    #[inline]
    fn from_str(text: &str) -> Result<Self, InvalidTrace> {
        let property = |property: &str| match property.split_once('=') {
            Some((key, value)) => is_token(key.trim()) && is_baggage_value(value.trim()),
            None => is_token(property.trim()),
        };
        let fits = |entry: &str| {
            let Some((key, rest)) = entry.split_once('=') else {
                return false;
            };
            let mut parts = rest.split(';');
            let value = parts.next().unwrap_or_default();
            is_token(key.trim()) && is_baggage_value(value.trim()) && parts.all(property)
        };
        let some = entries(text).next().is_some();
        if !some || text.len() > Self::MAX_BYTES || !entries(text).all(fits) {
            return Err(InvalidTrace::Baggage);
        }
        Ok(Self(text.into()))
    }
}

/// A token of HTTP.
#[inline]
fn is_token(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(inside)
}

#[inline]
fn is_baggage_value(text: &str) -> bool {
    text.chars()
        .all(|c| matches!(c, '!'..='~') && !matches!(c, '"' | ',' | ';' | '\\'))
}

#[inline]
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let code = after
            .get(..2)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(b'%');
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes both directions of serde for a type that is text.
macro_rules! as_text {
    ($($name:ident),*) => {
        $(impl Serialize for $name {
            #[inline]
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            #[inline]
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let Str(text) = Str::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        })*
    };
}

as_text!(TraceParent, TraceState, Baggage);

impl fmt::Display for TraceState {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Baggage {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Meta {
    /// The trace that the message belongs to. Without a valid `traceparent` there is none; a
    /// malformed `tracestate` is left out.
    // spec: META-14
    #[inline]
    pub fn trace(&self) -> Option<TraceContext> {
        Some(TraceContext {
            parent: self.get(keys::TRACEPARENT)?,
            state: self.get(keys::TRACESTATE),
        })
    }

    /// Says which trace the message belongs to.
    // spec: META-14
    #[must_use]
    #[inline]
    pub fn with_trace(self, trace: &TraceContext) -> Self {
        let traced = self.with(keys::TRACEPARENT, trace.parent.to_string());
        match &trace.state {
            Some(state) => traced.with(keys::TRACESTATE, state.as_str()),
            None => traced,
        }
    }

    /// What the application sends along, when it is well formed.
    // spec: META-14
    #[inline]
    pub fn baggage(&self) -> Option<Baggage> {
        self.get(keys::BAGGAGE)
    }

    /// Sends something along.
    // spec: META-14
    #[must_use]
    #[inline]
    pub fn with_baggage(self, baggage: &Baggage) -> Self {
        self.with(keys::BAGGAGE, baggage.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{Baggage, InvalidTrace, TraceContext, TraceParent, TraceState};
    use crate::Meta;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn parents() {
        let parent: TraceParent = PARENT.parse().unwrap();
        assert_eq!(parent.trace_id, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c);
        assert_eq!((parent.parent_id, parent.flags), (0xb7ad_6b71_6920_3331, 1));
        let made = TraceParent::new(parent.trace_id, parent.parent_id).unwrap();
        assert_eq!(made.sampled().to_string(), PARENT);
        assert!(!made.is_sampled() && TraceParent::new(0, 1).is_none());

        let later = PARENT.replacen("00", "cc", 1);
        assert_eq!(later.parse(), Ok(parent));
        assert_eq!(format!("{later}-more-of-it").parse(), Ok(parent));
        for text in [
            "",
            "00",
            &PARENT.to_uppercase(),
            &PARENT.replacen("00", "ff", 1),
            &format!("{PARENT}-x"),
            &format!("{PARENT} "),
            &PARENT[..54],
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
        ] {
            assert_eq!(
                text.parse::<TraceParent>(),
                Err(InvalidTrace::Parent),
                "{text}"
            );
        }
    }

    #[test]
    fn states() {
        let state: TraceState = "rojo=00f067aa0ba902b7, a@b=t61 x,".parse().unwrap();
        let entries: Vec<_> = state.iter().collect();
        assert_eq!(entries, [("rojo", "00f067aa0ba902b7"), ("a@b", "t61 x")]);
        let most: Vec<_> = (0..33).map(|n| format!("k{n}=v")).collect();
        assert!(most[..32].join(",").parse::<TraceState>().is_ok());
        let long = format!("k={}", "v".repeat(257));
        for text in [
            "a",
            "A=1",
            "=1",
            "a=",
            "a=b=c",
            "a@b@c=1",
            "@a=1",
            &most.join(","),
            &long,
        ] {
            assert_eq!(
                text.parse::<TraceState>(),
                Err(InvalidTrace::State),
                "{text}"
            );
        }
    }

    #[test]
    fn baggage() {
        let text = "key1=value1;p1;p2=x, key2 = a%20%C3%A9%zz";
        let baggage: Baggage = text.parse().unwrap();
        assert_eq!(baggage.as_str(), text);
        assert_eq!(baggage.get("key1").as_deref(), Some("value1"));
        assert_eq!(baggage.get("key2").as_deref(), Some("a é%zz"));
        assert_eq!(baggage.get("key3"), None);
        for text in [
            "", ",", "a", "=1", "a b=1", "a=\"x\"", "a=b c", "a=1;;", "ä=1", "a=ä",
        ] {
            assert_eq!(
                text.parse::<Baggage>(),
                Err(InvalidTrace::Baggage),
                "{text}"
            );
        }
        assert!(
            format!("a={}", "x".repeat(8191))
                .parse::<Baggage>()
                .is_err()
        );
    }

    #[test]
    fn traces_in_meta() {
        let trace = TraceContext::new(PARENT.parse().unwrap()).state("a=b".parse().unwrap());
        let meta = Meta::default()
            .with_trace(&trace)
            .with_baggage(&"user=x".parse().unwrap());
        assert_eq!(meta.trace(), Some(trace.clone()));
        assert_eq!(meta.baggage().unwrap().get("user").as_deref(), Some("x"));
        let text = serde_json::to_string(&meta).unwrap();
        assert_eq!(
            serde_json::from_str::<Meta>(&text).unwrap().trace(),
            Some(trace)
        );

        // A state without a parent says nothing, a broken one does no harm.
        assert_eq!(Meta::default().with("tracestate", "a=b").trace(), None);
        assert_eq!(Meta::default().with("traceparent", 7).trace(), None);
        let broken = Meta::default()
            .with("traceparent", PARENT)
            .with("tracestate", "?");
        assert_eq!(broken.trace().unwrap().state, None);
    }
}

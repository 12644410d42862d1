//! W3C Trace Context and W3C Baggage in `_meta`.
//!
//! Spec: <https://www.w3.org/TR/trace-context/>, <https://www.w3.org/TR/baggage/>

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Meta, keys};
use crate::de::parse_str;

/// The trace context of a message.
///
/// # Examples
///
/// ```
/// use mcp::types::Meta;
///
/// let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let meta = Meta::default().with("traceparent", text);
/// let trace = meta.trace().unwrap();
/// assert!(trace.parent.is_sampled());
/// assert_eq!(trace.parent.to_string(), text);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// The sender's trace and span.
    pub parent: TraceParent,
    /// State of the tracing systems that the message passed.
    pub state: Option<TraceState>,
}

impl From<TraceParent> for TraceContext {
    fn from(parent: TraceParent) -> Self {
        Self {
            parent,
            state: None,
        }
    }
}

/// `traceparent`: trace and span of the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TraceParent {
    /// The trace's id, never 0.
    pub trace_id: u128,
    /// The span's id, never 0.
    pub parent_id: u64,
    /// Flags. The lowest bit is set if the trace is recorded (sampled).
    pub flags: u8,
}

impl TraceParent {
    /// Creates a parent without flags. Returns `None` if an id is 0.
    pub fn new(trace_id: u128, parent_id: u64) -> Option<Self> {
        (trace_id != 0 && parent_id != 0).then_some(Self {
            trace_id,
            parent_id,
            flags: 0,
        })
    }

    /// Returns `true` if the trace is recorded.
    pub fn is_sampled(self) -> bool {
        self.flags & 1 == 1
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "00-{:032x}-{:016x}-{:02x}",
            self.trace_id, self.parent_id, self.flags
        )
    }
}

/// Error for malformed trace context or baggage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTrace {
    /// `traceparent` is malformed.
    #[error("`{key}` is malformed", key = keys::TRACEPARENT)]
    Parent,
    /// `tracestate` is malformed.
    #[error("`{key}` is malformed", key = keys::TRACESTATE)]
    State,
    /// `baggage` is malformed.
    #[error("`{key}` is malformed", key = keys::BAGGAGE)]
    Baggage,
}

/// Parses version 00 strictly. Of later versions, the fields of version 00 are used.
impl FromStr for TraceParent {
    type Err = InvalidTrace;

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

fn lower_hex(part: Option<&str>, length: usize) -> Option<u128> {
    let part = part.filter(|part| part.len() == length)?;
    let lower = part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    lower.then(|| u128::from_str_radix(part, 16).ok()).flatten()
}

/// `tracestate`: state of the tracing systems that the message passed, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TraceState(Box<str>);

impl TraceState {
    /// Maximum number of entries: 32.
    const MAX_ENTRIES: usize = 32;

    /// Returns the value as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TraceState {
    type Err = InvalidTrace;

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

/// Returns the comma-separated entries without empty ones.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    let entries = text.split(',').map(|entry| entry.trim_matches([' ', '\t']));
    entries.filter(|entry| !entry.is_empty())
}

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

fn is_state_value(value: &str) -> bool {
    let printable = |c: char| matches!(c, ' '..='~') && c != ',' && c != '=';
    (1..=256).contains(&value.len()) && value.chars().all(printable)
}

/// `baggage`: the application's key-value pairs.
///
/// # Examples
///
/// ```
/// use mcp::types::meta::Baggage;
///
/// let baggage: Baggage = "user=Ada%20L, tier=gold;until=noon".parse()?;
/// assert_eq!(baggage.get("user").as_deref(), Some("Ada L"));
/// # Ok::<(), mcp::types::meta::InvalidTrace>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Baggage(Box<str>);

impl Baggage {
    /// Maximum size: 8192 bytes, which every system has to propagate.
    const MAX_BYTES: usize = 8192;

    /// Returns the value as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the entries as pairs of key and value, without properties. Values keep their percent
    /// escapes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        entries(&self.0).filter_map(|entry| {
            let (key, rest) = entry.split_once('=')?;
            let value = rest.split(';').next().unwrap_or_default();
            Some((key.trim_end(), value.trim()))
        })
    }

    /// Returns the value of `key` with percent escapes decoded.
    pub fn get(&self, key: &str) -> Option<String> {
        let (_, value) = self.iter().find(|(known, _)| *known == key)?;
        Some(unescape(value))
    }
}

impl FromStr for Baggage {
    type Err = InvalidTrace;

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

/// Returns `true` for a token as HTTP defines it.
fn is_token(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(inside)
}

fn is_baggage_value(text: &str) -> bool {
    text.chars()
        .all(|c| matches!(c, '!'..='~') && !matches!(c, '"' | ',' | ';' | '\\'))
}

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

/// Implements serde by `Display` and `FromStr`.
macro_rules! serde_as_string {
    ($($name:ident),*) => {
        $(impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                parse_str(deserializer, str::parse)
            }
        })*
    };
}

serde_as_string!(TraceParent, TraceState, Baggage);

impl fmt::Display for TraceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Baggage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Meta {
    /// Returns the trace context. A missing or malformed `traceparent` gives `None`, a malformed
    /// `tracestate` is ignored.
    // spec: META-14
    pub fn trace(&self) -> Option<TraceContext> {
        Some(TraceContext {
            parent: self.get(keys::TRACEPARENT)?,
            state: self.get(keys::TRACESTATE),
        })
    }

    /// Sets the trace context.
    // spec: META-14
    #[must_use]
    pub fn with_trace(self, trace: &TraceContext) -> Self {
        let traced = self.with(keys::TRACEPARENT, trace.parent.to_string());
        match &trace.state {
            Some(state) => traced.with(keys::TRACESTATE, state.as_str()),
            None => traced,
        }
    }

    /// Returns the baggage if it is well formed.
    // spec: META-14
    pub fn baggage(&self) -> Option<Baggage> {
        self.get(keys::BAGGAGE)
    }

    /// Sets the baggage.
    // spec: META-14
    #[must_use]
    pub fn with_baggage(self, baggage: &Baggage) -> Self {
        self.with(keys::BAGGAGE, baggage.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{Baggage, InvalidTrace, TraceContext, TraceParent, TraceState, entries};
    use crate::meta::Meta;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn trace_parent_is_parsed_strictly() {
        // spec: META-14
        let parent: TraceParent = PARENT.parse().unwrap();
        assert_eq!(parent.trace_id, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c);
        assert_eq!((parent.parent_id, parent.flags), (0xb7ad_6b71_6920_3331, 1));
        let made = TraceParent::new(parent.trace_id, parent.parent_id).unwrap();
        assert_eq!(TraceParent { flags: 1, ..made }.to_string(), PARENT);
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
    fn trace_state_is_parsed_strictly() {
        // spec: META-14
        let state: TraceState = "rojo=00f067aa0ba902b7, a@b=t61 x,".parse().unwrap();
        let found: Vec<_> = entries(state.as_str()).collect();
        assert_eq!(found, ["rojo=00f067aa0ba902b7", "a@b=t61 x"]);
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
    fn baggage_is_parsed_strictly() {
        // spec: META-14
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
    fn trace_context_round_trips_through_meta() {
        // spec: META-14
        let mut trace = TraceContext::from(PARENT.parse::<TraceParent>().unwrap());
        trace.state = Some("a=b".parse().unwrap());
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

        // A state without a parent is ignored, and so is a malformed state.
        assert_eq!(Meta::default().with("tracestate", "a=b").trace(), None);
        assert_eq!(Meta::default().with("traceparent", 7).trace(), None);
        let broken = Meta::default()
            .with("traceparent", PARENT)
            .with("tracestate", "?");
        assert_eq!(broken.trace().unwrap().state, None);
    }
}

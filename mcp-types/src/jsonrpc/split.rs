//! A reader for ordinary messages. It finds their members in one pass and copies nothing.
//!
//! docs/decisions/0002-split-of-messages.md gives the figures.

use super::Params;
use super::envelope::Envelope;
use crate::raw::RawJson;

/// Maximum depth of a value. Deeper values are left to `serde_json`, which does not recurse.
const MAX_DEPTH: u8 = 32;

/// Number of words from which a string is read in larger chunks.
const LONG_STRING: usize = 16;

/// Returns the members of an ordinary message.
///
/// Returns `None` for invalid JSON and for what is rare: a name of a member with an escape, a member that
/// occurs twice, too many members, `params` that is not an object, and deep values. `serde_json` then reads
/// the message again, and reports the error if there is one.
pub(super) fn split(text: &str) -> Option<Envelope<'_>> {
    let reader = Reader(text);
    let mut found = Envelope::default();
    let end = reader.object(reader.token(0), |name, at| {
        let slot = match name {
            "jsonrpc" => &mut found.version,
            "id" => &mut found.id,
            "method" => &mut found.method,
            "result" => &mut found.result,
            "error" => &mut found.error,
            "params" => {
                let (params, end) = reader.params(at)?;
                return found.params.replace(params).is_none().then_some(end);
            }
            _ => return reader.value(at, MAX_DEPTH),
        };
        let end = reader.value(at, MAX_DEPTH)?;
        let value = reader.raw(at, end)?;
        slot.replace(value).is_none().then_some(end)
    })?;
    (reader.token(end) == text.len()).then_some(found)
}

/// The text of a message. Functions take the position of a token and return the position behind what
/// they have read, or `None` for JSON that is not valid or not ordinary.
#[derive(Clone, Copy)]
struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    /// Reads an object with plain names. `member` reads the value of each member.
    fn object(
        self,
        at: usize,
        mut member: impl FnMut(&'a str, usize) -> Option<usize>,
    ) -> Option<usize> {
        if self.byte(at) != b'{' {
            return None;
        }
        self.list(at, b'}', |at| {
            let start = self.after(at, b'"')?;
            let end = end_of_plain(self.0, start);
            let value = self.value_of_member(self.after(end, b'"')?)?;
            member(self.0.get(start..end)?, value)
        })
    }

    /// Reads the object `params`, and the members of `_meta` in it.
    fn params(self, at: usize) -> Option<(Params<'a>, usize)> {
        let mut params = Params::with_usual_capacity();
        let end = self.object(at, |name, at| {
            let end = if name == "_meta" && self.byte(at) == b'{' {
                let start = params.total();
                let end = self.object(at, |name, at| {
                    let end = self.value(at, MAX_DEPTH)?;
                    let value = self.raw(at, end)?;
                    add(&mut params, start, name, value)?;
                    Some(end)
                })?;
                params.set_meta(start);
                end
            } else {
                self.value(at, MAX_DEPTH)?
            };
            let (start, value) = (params.meta_count(), self.raw(at, end)?);
            add(&mut params, start, name, value)?;
            Some(end)
        })?;
        Some((params, end))
    }

    /// Returns the valid JSON between two positions.
    fn raw(self, start: usize, end: usize) -> Option<RawJson<'a>> {
        self.0.get(start..end).map(RawJson::from_valid)
    }

    /// Reads a value that contains at most `depth` levels of values.
    fn value(self, at: usize, depth: u8) -> Option<usize> {
        match self.byte(at) {
            b'"' => self.string(at + 1),
            b'{' => {
                let depth = depth.checked_sub(1)?;
                self.list(at, b'}', |at| {
                    let end = self.string(self.after(at, b'"')?)?;
                    self.value(self.value_of_member(end)?, depth)
                })
            }
            b'[' => {
                let depth = depth.checked_sub(1)?;
                self.list(at, b']', |at| self.value(at, depth))
            }
            b't' => self.literal(at, "true"),
            b'f' => self.literal(at, "false"),
            b'n' => self.literal(at, "null"),
            _ => self.number(at),
        }
    }

    /// Reads items with commas between them, from an opening bracket up to the bracket `close`.
    fn list(
        self,
        at: usize,
        close: u8,
        mut item: impl FnMut(usize) -> Option<usize>,
    ) -> Option<usize> {
        let mut at = self.token(at + 1);
        if self.byte(at) == close {
            return Some(at + 1);
        }
        loop {
            let end = self.token(item(at)?);
            if self.byte(end) != b',' {
                return self.after(end, close);
            }
            at = self.token(end + 1);
        }
    }

    /// Returns the position of a member value. `at` is the end of its name.
    fn value_of_member(self, at: usize) -> Option<usize> {
        let colon = self.token(at);
        Some(self.token(self.after(colon, b':')?))
    }

    /// Reads the rest of a string. Its escapes must have the right form, but may stand for invalid characters.
    fn string(self, mut at: usize) -> Option<usize> {
        loop {
            let end = end_of_plain(self.0, at);
            at = match self.byte(end) {
                b'"' => return Some(end + 1),
                b'\\' => self.escape(end + 1)?,
                _ => return None,
            };
        }
    }

    /// Reads an escape after its backslash.
    #[cold]
    fn escape(self, at: usize) -> Option<usize> {
        let length = match self.0.as_bytes().get(at..)? {
            [b'u', digits @ ..] => {
                let digits = digits.first_chunk::<4>()?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(5)?
            }
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 1,
            _ => return None,
        };
        Some(at + length)
    }

    fn literal(self, at: usize, literal: &str) -> Option<usize> {
        let rest = self.0.as_bytes().get(at..)?;
        rest.starts_with(literal.as_bytes())
            .then_some(at + literal.len())
    }

    fn number(self, at: usize) -> Option<usize> {
        let mut at = self.after(at, b'-').unwrap_or(at);
        at = match self.after(at, b'0') {
            Some(end) => end,
            None => self.digits(at)?,
        };
        if let Some(fraction) = self.after(at, b'.') {
            at = self.digits(fraction)?;
        }
        if matches!(self.byte(at), b'e' | b'E') {
            let has_sign = matches!(self.byte(at + 1), b'+' | b'-');
            at = self.digits(at + 1 + usize::from(has_sign))?;
        }
        Some(at)
    }

    /// Reads one or more digits.
    fn digits(self, start: usize) -> Option<usize> {
        let mut at = start;
        while self.byte(at).is_ascii_digit() {
            at += 1;
        }
        (at > start).then_some(at)
    }

    /// Returns the position behind `byte`, if it is at this position.
    fn after(self, at: usize, byte: u8) -> Option<usize> {
        (self.byte(at) == byte).then_some(at + 1)
    }

    /// Returns the position of the first byte from `at` on that is not a blank.
    fn token(self, mut at: usize) -> usize {
        while matches!(self.byte(at), b' ' | b'\n' | b'\t' | b'\r') {
            at += 1;
        }
        at
    }

    /// Returns the byte at a position. At the end it is 0, which does not occur in JSON.
    fn byte(self, at: usize) -> u8 {
        self.0.as_bytes().get(at).copied().unwrap_or(0)
    }
}

/// Adds a member to the object whose members begin at the index `start`, unless it is refused.
fn add<'a>(params: &mut Params<'a>, start: usize, name: &'a str, value: RawJson<'a>) -> Option<()> {
    if params.refusal(start, name).is_some() {
        return None;
    }
    params.push(name.into(), value);
    Some(())
}

/// Returns whether a JSON string can contain the text as it is. For the wires of `mcp-core`: `serde_json`
/// takes eight instructions for each byte.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    end_of_plain(text, 0) == text.len()
}

/// Returns the position of the first quote, backslash or control character from `start` on, or the
/// length of the text.
fn end_of_plain(text: &str, start: usize) -> usize {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let (words, _) = rest.as_chunks();
    let mut at = start;
    for word in words.iter().take(LONG_STRING) {
        match special_bytes(u64::from_le_bytes(*word)) {
            0 => at += size_of::<u64>(),
            special => return at + special.trailing_zeros() as usize / 8,
        }
    }
    end_of_long_plain(text, at)
}

/// Continues [`end_of_plain`] in a long string, or less than a word before the end of the text.
#[cold]
fn end_of_long_plain(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    let is_plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | ..b' ');
    // Without a branch for each byte: the compiler turns it into vector instructions.
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<64>)
        && chunk.iter().fold(true, |all, byte| all & is_plain(byte))
    {
        at += chunk.len();
    }
    while bytes.get(at).is_some_and(is_plain) {
        at += 1;
    }
    at
}

/// Sets the highest bit of the first byte that is a quote, a backslash or a control character. Bytes behind
/// it may be marked without a reason.
const fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    // `byte ^ 2` is below 33 for control characters and for the quote.
    let quote_or_control = (word ^ (ONES * 2)).wrapping_sub(ONES * 33);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (quote_or_control | backslash) & !word & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::{is_plain, split};
    use crate::jsonrpc::{Message, ParseError, RequestId};
    use crate::{codes, jsonrpc::envelope::Envelope};

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":[1,-2.5e+3,true,false,null,{"c":"\u00e9\n"}]},"_meta":{"progressToken":"x","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

    #[test]
    fn character_to_escape_is_found_at_every_position() {
        for at in 0..200 {
            let mut text = "é".repeat(100);
            assert!(is_plain(&text));
            for special in ['"', '\\', '\n', '\0'] {
                text.insert(at / 2 * 2, special);
                assert!(!is_plain(&text), "{special:?} at {at}");
                text.remove(at / 2 * 2);
            }
        }
    }

    /// Parts of messages, valid and not.
    const FRAGMENTS: [&str; 52] = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        " ",
        "\n",
        "\t",
        "\u{1}",
        "é",
        "\u{2028}",
        "null",
        "true",
        "false",
        "nul",
        "0",
        "-",
        "-0",
        "01",
        "1.5",
        "1.",
        "1e5",
        "1E-5",
        "1e",
        "+1",
        "9223372036854775808",
        r#""a""#,
        r#""\n""#,
        r#""\u0061""#,
        r#""\u00""#,
        r#""\ud800""#,
        r#""\x""#,
        r#""jsonrpc":"2.0""#,
        r#""jsonrpc":"1.0""#,
        r#""id":1"#,
        r#""id":"x""#,
        r#""id":null"#,
        r#""id":1.5"#,
        r#""method":"m""#,
        r#""method":"\ud800""#,
        r#""m\u0065thod":"m""#,
        r#""params":{}"#,
        r#""params":[]"#,
        r#""params":null"#,
        r#""params":{"a":1,"_meta":{"b":{}}}"#,
        r#""_meta":{"a":1}"#,
        r#""result":{}"#,
        r#""error":{"code":1,"message":"m"}"#,
        r#""other":[{}]"#,
    ];

    /// The message, or the error, as `serde_json` reads the members.
    fn by_serde(text: &str) -> Result<Message<'_>, ParseError> {
        let envelope = Envelope::read(text);
        envelope
            .map_err(|error| ParseError::syntax(&error))?
            .into_message()
    }

    /// Checks that `split` finds the same members as `serde_json`, or leaves the message to it.
    #[track_caller]
    fn compare(text: &str) {
        let Some(envelope) = split(text) else {
            return;
        };
        assert!(Envelope::read(text).is_ok(), "{text:?}");
        let (found, expected) = (envelope.into_message(), by_serde(text));
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{text:?}");
    }

    #[test]
    fn ordinary_messages_are_split() {
        for text in [
            CALL,
            " {\n\t\"jsonrpc\" : \"2.0\" ,\r\n \"method\" : \"m\" , \"params\" : { } } \n",
            r#"{"jsonrpc":"2.0","id":"\u0041","method":"m\/n","params":{"a/b":1,"_meta":null}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":"\ud800","b\n":[[],{},[[0]]]}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"é"},"x":-0.0E-7}"#,
        ] {
            assert!(split(text).is_some(), "{text}");
            compare(text);
        }
    }

    #[test]
    fn messages_that_need_serde_json_are_left_to_it() {
        let call =
            |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
        let nested = |depth| {
            call(&format!(
                r#"{{"a":{}{}}}"#,
                "[".repeat(depth),
                "]".repeat(depth)
            ))
        };
        let members = |count| {
            let members: Vec<_> = (0..count).map(|n| format!(r#""k{n}":0"#)).collect();
            call(&format!("{{{}}}", members.join(",")))
        };
        assert!(split(&nested(32)).is_some() && split(&members(64)).is_some());
        for text in [
            nested(33),
            members(65),
            call("[]"),
            call("null"),
            call(r#"{"a":1,"a":2}"#),
            call(r#"{"\u0061":1}"#),
            call(r#"{"_meta":{"a":1,"a":2}}"#),
            call(r#"{"_meta":{"\u0061":1}}"#),
            call("{}").replace("\"id\":1", "\"id\":1,\"id\":1"),
            call("{}").replace("method", r"m\u0065thod"),
            call("{}") + "x",
            call("{}") + "\0",
            // A control character in a name, before its quote.
            call("{\"a\n\":1}"),
            call("{\"a\u{1f}\":1}"),
            call("{\"a\":\"\n\"}"),
        ] {
            assert!(split(&text).is_none(), "{text}");
        }
    }

    #[test]
    fn values_are_accepted_as_by_serde_json() {
        for value in FRAGMENTS.into_iter().chain([
            "-01",
            "00",
            "1.0",
            "-1.5E+10",
            "1e+",
            "1.e1",
            ".5",
            "--1",
            "Infinity",
            "tru",
            "truE",
            "nulll",
            r#""\b\f\n\r\t\/\\\"""#,
            r#""\u12G4""#,
            r#""\u123"#,
            r#""\"#,
            r#"{"\u0061":1}"#,
            r#"{"\q":1}"#,
            r#"{"a" 1}"#,
            r#"{"a":1,}"#,
            r#"{"a":1"b":2}"#,
            "{1:2}",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1",
            "{",
            "[}",
            "{]",
            "\"a\u{7f}\"",
            "\"a\tb\"",
            "\"12345678\"",
            "\"1234567\\\"",
            "\"1234567",
        ]) {
            for text in [
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","x":{value}}}"#),
                format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"_meta":{{"a":{value}}}}}}}"#
                ),
            ] {
                compare(&text);
                let is_valid = serde_json::from_str::<serde::de::IgnoredAny>(value).is_ok();
                assert_eq!(split(&text).is_some(), is_valid, "{text}");
                assert_eq!(Message::parse(text.as_bytes()).is_ok(), is_valid, "{text}");
            }
        }
    }

    #[test]
    fn end_is_found_at_every_position_in_a_long_string() {
        for length in 0..=400 {
            let plain = "é".repeat(length / 2) + &"x".repeat(length % 2);
            for string in [&*plain, &format!("{plain}\\n{plain}")] {
                let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{string}"}}}}"#);
                assert!(split(&text).is_some(), "{text}");
                compare(&text);
            }
            let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"{plain}\n{plain}\"}}");
            assert!(split(&text).is_none(), "{text}");
        }
    }

    #[test]
    fn id_is_kept_if_the_method_has_an_invalid_escape() {
        let text = br#"{"jsonrpc":"2.0","method":"\ud800","id":7}"#;
        let error = Message::parse(text).unwrap_err();
        assert_eq!(error.id(), Some(&RequestId::from(7)));
        assert_eq!(error.to_error().code, codes::INVALID_REQUEST);
    }

    /// JSON values as `serde_json` writes them, without deep nesting.
    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn messages_from_fragments_are_read_as_by_serde_json(
            parts in prop::collection::vec(select(&FRAGMENTS[..]), 0..12)
        ) {
            compare(&parts.concat());
            compare(&format!("{{{}}}", parts.join(",")));
            compare(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{{}}}}}"#, parts.join(",")));
        }

        #[test]
        fn changed_messages_are_read_as_by_serde_json(
            changes in prop::collection::vec((any::<Index>(), 0..4_usize, select(&FRAGMENTS[..])), 1..4)
        ) {
            let mut text: Vec<char> = CALL.chars().collect();
            for (at, removed, fragment) in changes {
                let at = at.index(text.len() + 1);
                let end = (at + removed).min(text.len());
                text.splice(at..end, fragment.chars());
            }
            compare(&text.into_iter().collect::<String>());
        }

        #[test]
        fn valid_values_are_split(value in value(), name in "[^\u{0}-\u{1f}\"\\\\]{0,20}") {
            for value in [value.to_string(), format!("{value:#}")] {
                let text = format!(
                    r#"{{"jsonrpc":"2.0","id":"i","method":"m","params":{{"_meta":{{"{name}":{value}}},"{name}":{value}}}}}"#
                );
                prop_assert_eq!(split(&text).is_some(), name != "_meta", "{}", text);
                compare(&text);
            }
        }

        #[test]
        fn bytes_that_are_not_utf8_are_refused(
            at in any::<Index>(), bytes in prop::collection::vec(0x80..=0xff_u8, 1..4)
        ) {
            let mut text = CALL.as_bytes().to_vec();
            let at = at.index(text.len() + 1);
            text.splice(at..at, bytes);
            let is_utf8 = std::str::from_utf8(&text).is_ok();
            prop_assert!(is_utf8 || matches!(Message::parse(&text), Err(ParseError::Syntax(_))));
            if let Ok(text) = std::str::from_utf8(&text) {
                compare(text);
            }
        }
    }
}

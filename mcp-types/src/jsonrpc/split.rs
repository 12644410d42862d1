//! A reader for ordinary messages. It finds their members in one pass and copies nothing.
//!
//! docs/decisions/0002-split-of-messages.md gives the figures.

use super::Params;
use super::envelope::Envelope;
use super::members::Members;
use crate::RawJson;

/// Maximum depth of a value. Deeper values are left to `serde_json`, which does not recurse.
const MAX_DEPTH: u8 = 32;

/// Length from which a string is read in larger chunks.
const LONG_STRING: usize = 128;

/// Returns the members of an ordinary message.
///
/// Returns `None` for invalid JSON and for what is rare: a name of a member with an escape, a member that
/// occurs twice, too many members, `params` that is not an object, and deep values. `serde_json` then reads
/// the message again, and reports the error if there is one.
pub(super) fn split(text: &str) -> Option<Envelope<'_>> {
    let mut reader = Reader { text, position: 0 };
    let mut found = Envelope::default();
    reader.object(|reader, name| match name {
        "jsonrpc" => set(&mut found.version, reader.value()?),
        "id" => set(&mut found.id, reader.value()?),
        "method" => set(&mut found.method, reader.value()?),
        "result" => set(&mut found.result, reader.value()?),
        "error" => set(&mut found.error, reader.value()?),
        "params" => set(&mut found.params, reader.params()?),
        _ => reader.value().map(drop),
    })?;
    reader.peek();
    reader.rest().is_empty().then_some(found)
}

/// Sets a member that was not set before.
fn set<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

/// A position in a message. Its methods return `None` for JSON that is not valid or not ordinary.
struct Reader<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Reader<'a> {
    /// Reads an object with plain names. `member` reads the value of each member.
    fn object(&mut self, mut member: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        self.list(b'}', |reader| {
            let name = reader.name()?;
            reader.expect(b':')?;
            member(reader, name)
        })
    }

    /// Reads the object `params`, and the members of `_meta` in it.
    fn params(&mut self) -> Option<Params<'a>> {
        let mut members = Members::new();
        let mut meta = Members::default();
        self.object(|reader, name| {
            let first = reader.peek();
            let start = reader.position;
            if name == "_meta" && first == b'{' {
                meta = Members::new();
                reader.object(|reader, name| meta.add_new(name, reader.value()?))?;
            } else {
                reader.skip(first, MAX_DEPTH)?;
            }
            members.add_new(name, reader.since(start)?)
        })?;
        Some(Params::new(members, meta))
    }

    /// Reads a value.
    fn value(&mut self) -> Option<RawJson<'a>> {
        let first = self.peek();
        let start = self.position;
        self.skip(first, MAX_DEPTH)?;
        self.since(start)
    }

    /// Returns the valid JSON between `start` and the position.
    fn since(&self, start: usize) -> Option<RawJson<'a>> {
        self.text.get(start..self.position).map(RawJson::from_valid)
    }

    /// Reads a name without escapes.
    fn name(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let start = self.position;
        let end = end_of_plain(self.text, start);
        self.position = end;
        if !self.skip_byte(b'"') {
            return None;
        }
        self.text.get(start..end)
    }

    /// Skips a value that begins with `first` and contains at most `depth` levels of values.
    fn skip(&mut self, first: u8, depth: u8) -> Option<()> {
        match first {
            b'"' => {
                self.position += 1;
                self.skip_string()
            }
            b'{' => {
                self.position += 1;
                let depth = depth.checked_sub(1)?;
                self.list(b'}', |reader| {
                    reader.expect(b'"')?;
                    reader.skip_string()?;
                    reader.expect(b':')?;
                    let first = reader.peek();
                    reader.skip(first, depth)
                })
            }
            b'[' => {
                self.position += 1;
                let depth = depth.checked_sub(1)?;
                self.list(b']', |reader| {
                    let first = reader.peek();
                    reader.skip(first, depth)
                })
            }
            b't' => self.skip_literal("true"),
            b'f' => self.skip_literal("false"),
            b'n' => self.skip_literal("null"),
            _ => self.skip_number(),
        }
    }

    /// Reads items with commas between them, up to the bracket `end`.
    fn list(&mut self, end: u8, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.skip_if(end) {
            return Some(());
        }
        loop {
            item(self)?;
            if !self.skip_if(b',') {
                return self.expect(end);
            }
        }
    }

    /// Skips the rest of a string. Its escapes must have the right form, but may stand for invalid characters.
    fn skip_string(&mut self) -> Option<()> {
        loop {
            self.position = end_of_plain(self.text, self.position) + 1;
            match self.text.as_bytes().get(self.position - 1)? {
                b'"' => return Some(()),
                b'\\' => self.skip_escape()?,
                _ => return None,
            }
        }
    }

    /// Skips an escape after its backslash.
    #[cold]
    fn skip_escape(&mut self) -> Option<()> {
        self.position += match self.rest() {
            [b'u', digits @ ..] => {
                let digits = digits.first_chunk::<4>()?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(5)?
            }
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 1,
            _ => return None,
        };
        Some(())
    }

    fn skip_literal(&mut self, literal: &str) -> Option<()> {
        self.rest().strip_prefix(literal.as_bytes())?;
        self.position += literal.len();
        Some(())
    }

    fn skip_number(&mut self) -> Option<()> {
        self.skip_byte(b'-');
        if !self.skip_byte(b'0') {
            self.skip_digits()?;
        }
        if self.skip_byte(b'.') {
            self.skip_digits()?;
        }
        if self.skip_byte(b'e') || self.skip_byte(b'E') {
            let _ = self.skip_byte(b'+') || self.skip_byte(b'-');
            self.skip_digits()?;
        }
        Some(())
    }

    /// Skips one or more digits.
    fn skip_digits(&mut self) -> Option<()> {
        let start = self.position;
        while self.byte().is_ascii_digit() {
            self.position += 1;
        }
        (self.position > start).then_some(())
    }

    /// Skips blanks and `byte`.
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip_if(byte).then_some(())
    }

    /// Skips blanks, and `byte` if it follows them.
    fn skip_if(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.position += usize::from(found);
        found
    }

    /// Skips `byte` if it is the next one.
    fn skip_byte(&mut self, byte: u8) -> bool {
        let found = self.byte() == byte;
        self.position += usize::from(found);
        found
    }

    /// Skips blanks, and returns the byte behind them, see [`byte`](Self::byte).
    fn peek(&mut self) -> u8 {
        while matches!(self.byte(), b' ' | b'\n' | b'\t' | b'\r') {
            self.position += 1;
        }
        self.byte()
    }

    /// Returns the next byte. At the end it is 0, which does not occur in JSON.
    fn byte(&self) -> u8 {
        let byte = self.text.as_bytes().get(self.position);
        byte.copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a [u8] {
        self.text
            .as_bytes()
            .get(self.position..)
            .unwrap_or_default()
    }
}

/// Returns the position of the first quote, backslash or control character from `start` on, or the
/// length of the text.
pub(crate) fn end_of_plain(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let is_plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | ..b' ');
    let mut at = start;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        match special_bytes(u64::from_le_bytes(*word)) {
            0 => at += size_of::<u64>(),
            special => return at + special.trailing_zeros() as usize / 8,
        }
        if at - start < LONG_STRING {
            continue;
        }
        // Without a branch for each byte: the compiler turns it into vector instructions.
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<64>)
            && chunk.iter().fold(true, |all, byte| all & is_plain(byte))
        {
            at += chunk.len();
        }
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
    const HIGHEST: u64 = ONES << 7;
    const fn below(word: u64, limit: u8) -> u64 {
        word.wrapping_sub(ONES * limit as u64) & !word
    }
    let quote = below(word ^ (ONES * b'"' as u64), 1);
    let backslash = below(word ^ (ONES * b'\\' as u64), 1);
    (below(word, b' ') | quote | backslash) & HIGHEST
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::split;
    use crate::jsonrpc::envelope::Envelope;
    use crate::{Message, ParseError, RequestId, codes};

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":[1,-2.5e+3,true,false,null,{"c":"\u00e9\n"}]},"_meta":{"progressToken":"x","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

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
    fn values_have_the_syntax_of_serde_json() {
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
    fn end_of_a_long_string_is_found_at_every_position() {
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
    fn invalid_escape_of_a_method_keeps_the_id() {
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
        fn messages_of_fragments_are_read_as_by_serde_json(
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

//! Media types: `Content-Type` and `Accept`.

use crate::headers::names::{EVENT_STREAM_TYPE, JSON_TYPE};
use crate::headers::{essence, trim_blanks};

/// Returns true when a `Content-Type` is JSON, with or without parameters.
pub(super) fn is_json(value: &[u8]) -> bool {
    // Most clients send exactly this.
    value == JSON_TYPE.as_bytes() || essence(value).eq_ignore_ascii_case(JSON_TYPE.as_bytes())
}

/// Returns the charset of a `Content-Type` that is not UTF-8. JSON between systems is UTF-8 (RFC 8259), and
/// the bytes of another charset would be read as other characters.
pub(super) fn foreign_charset(value: &[u8]) -> Option<&[u8]> {
    let mut params = value.split(|&byte| byte == b';').skip(1).map(trim_blanks);
    let charset = params.find_map(|param| {
        let (name, charset) = param.split_at_checked(b"charset=".len())?;
        name.eq_ignore_ascii_case(b"charset=").then_some(charset)
    })?;
    let name = match charset {
        [b'"', name @ .., b'"'] => name,
        name => name,
    };
    let is_utf8 = name.eq_ignore_ascii_case(b"utf-8") || name.eq_ignore_ascii_case(b"utf8");
    (!is_utf8).then_some(name)
}

/// Values of `Accept` that most clients send. They are not parsed.
const COMMON: [&[u8]; 3] = [
    b"application/json, text/event-stream",
    b"text/event-stream, application/json",
    b"*/*",
];

/// Returns true for a common value, which allows JSON and event streams.
pub(super) fn is_common(line: &[u8]) -> bool {
    COMMON.contains(&line)
}

/// Returns true when the `Accept` lines allow JSON and event streams.
pub(super) fn allows_json_and_events<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    parse(lines) == (true, true)
}

/// Returns true when the `Accept` lines allow event streams. No line allows everything.
pub(super) fn allows_events<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut lines = lines.peekable();
    lines.peek().is_none() || parse(lines).1
}

/// Returns true when the `Accept` lines name HTML, and neither JSON nor event streams. Browsers send such lines for pages.
pub(super) fn asks_for_page<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let Some(line) = lines.next().filter(|_| lines.next().is_none()) else {
        return false;
    };
    let ranges = line.split(|&byte| byte == b',').map(trim_blanks);
    let mut names_page = false;
    for (range, is_allowed) in ranges.map(parse_range) {
        let is = |media_type: &str| range.eq_ignore_ascii_case(media_type.as_bytes());
        if is(JSON_TYPE) || is(EVENT_STREAM_TYPE) {
            return false;
        }
        names_page |= is_allowed && is("text/html");
    }
    names_page
}

/// Returns whether the lines allow JSON, and whether they allow event streams.
fn parse<'a>(lines: impl Iterator<Item = &'a [u8]>) -> (bool, bool) {
    let (mut json, mut events) = (Preference::default(), Preference::default());
    for line in lines {
        for range in line
            .split(|&byte| byte == b',')
            .map(trim_blanks)
            .filter(|range| !range.is_empty())
        {
            let (range, is_allowed) = parse_range(range);
            json.update(range, is_allowed, JSON_TYPE);
            events.update(range, is_allowed, EVENT_STREAM_TYPE);
        }
    }
    (json.is_allowed, events.is_allowed)
}

/// Rule of the most specific range so far for one media type.
#[derive(Clone, Copy, Debug, Default)]
struct Preference {
    specificity: u8,
    is_allowed: bool,
}

impl Preference {
    fn update(&mut self, range: &[u8], is_allowed: bool, media_type: &str) {
        let specificity = specificity(range, media_type.as_bytes());
        if specificity > self.specificity {
            *self = Self {
                specificity,
                is_allowed,
            };
        } else if specificity > 0 && specificity == self.specificity {
            self.is_allowed |= is_allowed;
        }
    }
}

/// Returns 3 for the media type itself, 2 for `type/*`, 1 for `*/*`, 0 for any other range.
fn specificity(range: &[u8], media_type: &[u8]) -> u8 {
    if range.eq_ignore_ascii_case(media_type) {
        return 3;
    }
    if range == b"*/*" {
        return 1;
    }
    match range.strip_suffix(b"*") {
        Some(prefix)
            if prefix.ends_with(b"/")
                && media_type
                    .get(..prefix.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(prefix)) =>
        {
            2
        }
        _ => 0,
    }
}

/// Splits a range into its media type and whether its weight allows it.
fn parse_range(range: &[u8]) -> (&[u8], bool) {
    let mut parts = range.split(|&byte| byte == b';').map(trim_blanks);
    let media_type = parts.next().unwrap_or_default();
    let weight = parts.find_map(|part| match part {
        [b'q' | b'Q', b'=', weight @ ..] => Some(weight),
        _ => None,
    });
    (media_type, !weight.is_some_and(is_zero))
}

/// Returns true for `0`, `0.`, `0.0` and so on. A malformed weight is not zero.
fn is_zero(weight: &[u8]) -> bool {
    matches!(weight, [b'0'] | [b'0', b'.', ..]) && weight.iter().skip(2).all(|&digit| digit == b'0')
}

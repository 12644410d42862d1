//! Media types: what a request is, and what its sender takes.

use crate::headers::names::{EVENT_STREAM_TYPE, JSON_TYPE};
use crate::headers::trim_blanks;

/// Whether a `Content-Type` says JSON, with or without parameters.
pub(super) fn is_json(value: &[u8]) -> bool {
    let is = |media: &[u8]| media.eq_ignore_ascii_case(JSON_TYPE.as_bytes());
    value == JSON_TYPE.as_bytes()
        || value
            .split(|&b| b == b';')
            .next()
            .is_some_and(|media| is(trim_blanks(media)))
}

/// What the clients in use send, so that the usual request is not taken apart.
const USUAL: [&[u8]; 3] = [
    b"application/json, text/event-stream",
    b"text/event-stream, application/json",
    b"*/*",
];

/// Whether an `Accept` line is one of those.
pub(super) fn is_usual(line: &[u8]) -> bool {
    USUAL.contains(&line)
}

/// Whether the `Accept` lines allow both kinds of answer.
pub(super) fn takes_both<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let (json, events) = weigh(lines);
    json && events
}

/// Whether the `Accept` lines allow a stream of events. No line allows everything.
pub(super) fn takes_events<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut lines = lines.peekable();
    lines.peek().is_none() || weigh(lines).1
}

/// Whether the lines allow JSON, and whether they allow events.
fn weigh<'a>(lines: impl Iterator<Item = &'a [u8]>) -> (bool, bool) {
    let (mut json, mut events) = (Preference::default(), Preference::default());
    for line in lines {
        for range in line
            .split(|&b| b == b',')
            .map(trim_blanks)
            .filter(|range| !range.is_empty())
        {
            let (media, wanted) = read_range(range);
            json.weigh(media, wanted, JSON_TYPE);
            events.weigh(media, wanted, EVENT_STREAM_TYPE);
        }
    }
    (json.wanted, events.wanted)
}

/// What the most specific range so far says about one media type.
#[derive(Clone, Copy, Debug, Default)]
struct Preference {
    specific: u8,
    wanted: bool,
}

impl Preference {
    fn weigh(&mut self, range: &[u8], wanted: bool, media: &str) {
        let specific = specificity(range, media.as_bytes());
        if specific > self.specific {
            *self = Self { specific, wanted };
        } else if specific > 0 && specific == self.specific {
            self.wanted |= wanted;
        }
    }
}

/// 3 for the type itself, 2 for its family, 1 for anything, 0 for something else.
fn specificity(range: &[u8], media: &[u8]) -> u8 {
    if range.eq_ignore_ascii_case(media) {
        return 3;
    }
    if range == b"*/*" {
        return 1;
    }
    match range.strip_suffix(b"*") {
        Some(family)
            if family.ends_with(b"/")
                && media
                    .get(..family.len())
                    .is_some_and(|m| m.eq_ignore_ascii_case(family)) =>
        {
            2
        }
        _ => 0,
    }
}

/// Splits a range into its media type and whether its weight is above zero.
fn read_range(range: &[u8]) -> (&[u8], bool) {
    let mut parts = range.split(|&b| b == b';').map(trim_blanks);
    let media = parts.next().unwrap_or_default();
    let weight = parts.find_map(|part| match part {
        [b'q' | b'Q', b'=', weight @ ..] => Some(weight),
        _ => None,
    });
    (media, !weight.is_some_and(is_zero))
}

/// `0`, `0.`, `0.0` … are the only weights that refuse; a broken weight refuses nothing.
fn is_zero(weight: &[u8]) -> bool {
    matches!(weight, [b'0'] | [b'0', b'.', ..]) && weight.iter().skip(2).all(|&digit| digit == b'0')
}

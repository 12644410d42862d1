//! JSON strings. Runs of characters without escapes are found many bytes at a time and copied whole.

use mcp_types::plain_until;

/// Appends a string, byte for byte as `serde_json` writes it.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (run, more) = rest.split_at(plain_until(rest, 0));
        out.extend_from_slice(run);
        let Some((byte, after)) = more.split_first() else {
            break;
        };
        escape(out, *byte);
        rest = after;
    }
    out.push(b'"');
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => return out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::write_text;

    const CHUNK: usize = 64;

    #[track_caller]
    fn check(text: &str) {
        let mut out = b"before".to_vec();
        write_text(&mut out, text);
        let expected = format!("before{}", serde_json::Value::from(text));
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn every_character_at_every_position_is_written_like_serde_json() {
        let special = (0..=0x7f_u8).map(char::from);
        for character in special.chain(['\u{80}', 'é', '\u{2028}', '\u{10ffff}']) {
            for before in 0..=2 * CHUNK {
                for after in [0, 1, CHUNK - 1, CHUNK] {
                    let (before, after) = ("x".repeat(before), "y".repeat(after));
                    check(&format!("{before}{character}{after}"));
                }
            }
        }
    }

    #[test]
    fn runs_between_escapes_are_written_like_serde_json() {
        for gap in 0..=CHUNK + 1 {
            check(&format!("{}\"", "é".repeat(gap)).repeat(5));
            check(&"\\".repeat(gap));
        }
        check("");
    }
}

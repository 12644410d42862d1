//! Line framing: the lines do not depend on how reads split the bytes, buffers are bounded, and no
//! input panics.

use mcp_core::lines::{Line, Lines};

use crate::input::{Input, pieces};
use crate::target::Target;

/// Bytes that are kept from a line that is too long.
const HEAD: usize = 256;

pub(crate) const TARGET: Target = Target {
    name: "lines",
    run,
    examples: &[
        b"\x10\x02\x00\x05{}\n{\"a\":1}\r\n\n\xef\xbb\xbf[]\nrest",
        b"\x02\x01\x03a line that is too long\nshort\n",
    ],
    fragments: &[
        "\n",
        "\r\n",
        "\r",
        "\u{feff}",
        "{}",
        "a long line ",
        " ",
        "\0",
    ],
};

/// The input: the line limit, the sizes of the reads, and the bytes.
fn run(input: &[u8]) {
    let mut input = Input(input);
    let limit = usize::from(input.byte()) * 2;
    let cuts = input.short_list();
    let bytes = input.0;

    let mut found = Vec::new();
    let mut lines = Lines::new(limit);
    for piece in pieces(bytes, cuts) {
        lines.buffer().extend_from_slice(piece);
        found.extend(std::iter::from_fn(|| lines.next_line()));
        assert!(lines.buffer().len() <= limit);
    }
    found.extend(lines.finish());
    assert_eq!(lines.finish(), None);

    let mut found = found.into_iter();
    for line in bytes.split(|&byte| byte == b'\n') {
        if line.len() > limit {
            let Some(Line::TooLong(head)) = found.next() else {
                panic!("{line:?} is too long, but was not reported");
            };
            // The stored length depends on the cuts, but always shows that the line is too long.
            assert!(line.starts_with(&head));
            assert!((HEAD.min(limit + 1)..=HEAD).contains(&head.len()));
            continue;
        }
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if !text.trim_ascii().is_empty() {
            assert_eq!(found.next(), Some(Line::Text(text.to_vec().into())));
        }
    }
    assert_eq!(found.next(), None);
}

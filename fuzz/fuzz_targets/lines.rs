//! Line framing: the lines do not depend on how reads split the bytes, buffers are bounded, and no input
//! panics.
//!
//! `cargo fuzz run lines`

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::lines::{Line, Lines};

/// Maximum stored length of the start of a line that is too long.
const HEAD: usize = 256;

fuzz_target!(|input: (u16, Vec<u8>, Vec<u8>)| {
    let (limit, cuts, bytes) = input;
    let limit = usize::from(limit) % (2 * HEAD);
    let mut found = Vec::new();
    let mut lines = Lines::new(limit);
    let mut rest = &bytes[..];
    let mut cuts = cuts.iter().cycle();
    while !rest.is_empty() {
        let size = cuts.next().map_or(rest.len(), |&cut| usize::from(cut) + 1);
        let (read, later) = rest.split_at(size.min(rest.len()));
        lines.buffer().extend_from_slice(read);
        found.extend(std::iter::from_fn(|| lines.next_line()));
        assert!(lines.buffer().len() <= limit);
        rest = later;
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
});

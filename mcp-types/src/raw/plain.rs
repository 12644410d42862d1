//! Which bytes stand for themselves in a JSON string, found many at a time.

/// So many are looked at by words; most strings are short.
const SHORT: usize = 64;
const WORD: usize = size_of::<u64>();

/// Where the first byte is, from `at` on, that ends a JSON string, begins an escape, or may not be
/// in one; the length when there is none.
#[doc(hidden)]
#[inline]
pub fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    let end = bytes.len().min(at + SHORT);
    while let Some(word) = bytes.get(at..end).and_then(<[u8]>::first_chunk) {
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += WORD;
    }
    rest_until(bytes, at)
}

/// The same for what is long, in steps that the processor takes at once, and for the last bytes.
#[inline(never)]
fn rest_until(bytes: &[u8], mut at: usize) -> usize {
    let (chunks, _) = bytes.get(at..).unwrap_or_default().as_chunks::<SHORT>();
    // Without a way out in the middle, so that it takes no branches.
    let is_plain = |chunk: &&[u8; SHORT]| {
        !chunk
            .iter()
            .fold(false, |found, byte| found | is_special(*byte))
    };
    at += chunks.iter().take_while(is_plain).count() * SHORT;
    let mut rest = bytes.get(at..).unwrap_or_default();
    while let Some((word, after)) = rest.split_first_chunk() {
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        (rest, at) = (after, at + WORD);
    }
    match bytes.last_chunk::<WORD>() {
        // The last bytes have the end of a word to themselves, and a zero behind them.
        Some(word) if !rest.is_empty() => {
            let known = 8 * (WORD - rest.len());
            let found = special(u64::from_le_bytes(*word) >> known);
            at + found.trailing_zeros() as usize / 8
        }
        _ => {
            let found = rest.iter().position(|byte| is_special(*byte));
            at + found.unwrap_or(rest.len())
        }
    }
}

fn is_special(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// Marks the highest bit of the first byte of a word that is special; of the ones behind it perhaps
/// too many.
const fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    const fn below(word: u64, limit: u8) -> u64 {
        word.wrapping_sub(ONES * limit as u64) & !word
    }
    let quote = below(word ^ (ONES * b'"' as u64), 1);
    let backslash = below(word ^ (ONES * b'\\' as u64), 1);
    (below(word, b' ') | quote | backslash) & HIGH
}

#[cfg(test)]
mod tests {
    use super::plain_until;

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=u8::MAX {
            let is_special = byte < b' ' || byte == b'"' || byte == b'\\';
            for before in (0..=20).chain([63, 64, 65, 127, 128, 129, 192]) {
                for after in [0, 1, 6, 7, 8, 63, 64] {
                    // What stands before the place where it begins is not looked at.
                    for at in [0, 1, 9] {
                        let mut text = vec![b'"'; at];
                        text.resize(at + before, b'x');
                        text.push(byte);
                        text.resize(at + before + 1 + after, b'y');
                        let expected = if is_special { at + before } else { text.len() };
                        assert_eq!(
                            plain_until(&text, at),
                            expected,
                            "{byte} {at} {before} {after}"
                        );
                    }
                }
            }
        }
        assert_eq!(plain_until(b"", 0), 0);
        assert_eq!(plain_until(b"abc", 3), 3);
    }
}

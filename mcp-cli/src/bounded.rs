//! Text of bounded size, from files and standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a text file with at most this number of MiB.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is larger, or is not UTF-8.
pub(crate) fn read_file(path: &Path, mebibytes: u64) -> io::Result<String> {
    read(File::open(path)?, mebibytes)
}

/// Reads text with at most this number of MiB. The size is checked first: at the limit, a character may be cut.
///
/// # Errors
///
/// As [`read_file`].
pub(crate) fn read(from: impl Read, mebibytes: u64) -> io::Result<String> {
    let limit = mebibytes << 20;
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let reason = format!("it has more than {mebibytes} MiB");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    String::from_utf8(bytes).map_err(|error| {
        let reason = format!("it is not UTF-8: {}", error.utf8_error());
        io::Error::new(io::ErrorKind::InvalidData, reason)
    })
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::read;

    #[test]
    fn size_is_checked_before_the_characters() {
        let text = "é".repeat(1 << 19);
        assert_eq!(read(text.as_bytes(), 1).unwrap(), text);
        // The limit is inside of the last character.
        let cut = read(format!("a{text}").as_bytes(), 1).unwrap_err();
        assert_eq!(cut.kind(), ErrorKind::FileTooLarge);
        assert_eq!(cut.to_string(), "it has more than 1 MiB");
        assert_eq!(
            read(&[0xff][..], 1).unwrap_err().kind(),
            ErrorKind::InvalidData
        );
    }
}

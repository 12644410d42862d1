//! Text files of bounded size.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of names that are tried for a new file.
const MAX_ATTEMPTS: usize = 1000;

/// Reads a text file with at most `max` bytes, without a byte order mark.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is longer, or is not UTF-8.
pub fn read(path: &Path, max: u64) -> io::Result<String> {
    read_from(File::open(path)?, max)
}

/// Opens a file that is neither a pipe nor a device, in which a reader would wait or find what the user types.
///
/// # Errors
///
/// Returns an error if it is another kind of file, or cannot be opened.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let check = |found: fs::Metadata| {
        let error = || io::Error::other("it is not a file");
        found.is_file().then_some(()).ok_or_else(error)
    };
    // Opening a pipe waits for its other end.
    check(fs::metadata(path)?)?;
    let file = File::open(path)?;
    check(file.metadata()?)?;
    Ok(file)
}

/// Reads text with at most `max` bytes. The size is checked first: at the limit, a character may be cut.
///
/// # Errors
///
/// As [`read`].
pub fn read_from(from: impl Read, max: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        let reason = format!("it is longer than {max} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, reason));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let reason = format!("it is not UTF-8: {}", error.utf8_error());
        io::Error::new(ErrorKind::InvalidData, reason)
    })?;
    // Some editors write a byte order mark.
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Replaces a file at once: a reader finds the old or the new content. The file keeps its permissions; a new one can be
/// read by the user alone. A link is replaced, not followed.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_with(path, true, |file| file.write_all(content))
}

/// Replaces a file like [`replace`] by one that `write` fills. `is_private`: if it is new, only the user can read it.
///
/// # Errors
///
/// Returns an error if the file cannot be written, or that of `write`.
pub fn replace_with(
    path: &Path,
    is_private: bool,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = is_private;
    let (temporary, mut file) = create_beside(path, &options)?;
    let written = (|| {
        // Not those of a link's target.
        if let Ok(old) = fs::symlink_metadata(path)
            && old.is_file()
        {
            file.set_permissions(old.permissions())?;
        }
        write(&mut file)?;
        file.sync_all()
    })();
    let moved = written.and_then(|()| fs::rename(&temporary, path));
    if moved.is_err() {
        // Best effort: the error of the file itself is reported.
        let _ = fs::remove_file(&temporary);
    }
    moved
}

/// Creates a file for the new content. A program that was killed can have left one of the same name: in a container, all
/// programs have the same process ID.
fn create_beside(path: &Path, options: &OpenOptions) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);

    let mut attempts = 0;
    loop {
        attempts += 1;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
        match options.open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempts < MAX_ATTEMPTS => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;

    use super::{read_from, replace};

    #[test]
    fn file_that_a_killed_program_has_left_blocks_no_replacement() {
        let folder = std::env::temp_dir().join(format!("mcp-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for number in 0..200 {
            let left = format!("pins.{}-{number}.tmp", std::process::id());
            fs::write(folder.join(left), "half").unwrap();
        }
        let path = folder.join("pins.json");
        replace(&path, b"{}").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn size_is_checked_before_the_characters() {
        let text = "\u{feff}é";
        assert_eq!(read_from(text.as_bytes(), 5).unwrap(), "é");
        // The limit is inside of the last character.
        let cut = read_from(text.as_bytes(), 4).unwrap_err();
        assert_eq!(cut.kind(), ErrorKind::FileTooLarge);
        assert_eq!(cut.to_string(), "it is longer than 4 bytes");
        let other = read_from(&[0xff][..], 1).unwrap_err();
        assert_eq!(other.kind(), ErrorKind::InvalidData);
    }
}

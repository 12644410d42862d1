//! Text files of bounded size.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Maximum number of names that are tried for a new file.
const MAX_ATTEMPTS: usize = 1000;
/// Time after which the file of a writer counts as left by one that was killed.
const WRITER_LIMIT: Duration = Duration::from_secs(3600);
/// Files of a folder that are looked at.
const MAX_FILES: usize = 10_000;

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

/// Opens a file like [`open_regular`]. On Unix, only the user of the process and root can have written it, and in a folder that
/// others can write to, a link is not followed.
///
/// # Errors
///
/// Returns an error if others can have written the file, or as [`open_regular`].
pub fn open_own(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    return open_private(path, rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    open_regular(path)
}

#[cfg(unix)]
fn open_private(path: &Path, user: u32) -> io::Result<File> {
    use std::os::unix::fs::MetadataExt as _;

    let refused = |reason: &str| io::Error::new(ErrorKind::PermissionDenied, reason);
    let is_private =
        |found: &fs::Metadata| [user, 0].contains(&found.uid()) && found.mode() & 0o022 == 0;
    let named = fs::symlink_metadata(path)?;
    // A relative path may be a name alone.
    let folder = fs::metadata(std::path::absolute(path)?.parent().unwrap_or(path))?;
    let is_shared = !is_private(&folder);
    if named.is_symlink() && is_shared {
        return Err(refused("it is a link in a folder that others can write to"));
    }
    let file = open_regular(path)?;
    let opened = file.metadata()?;
    // Another user can have put a link there meanwhile.
    let is_same = (opened.dev(), opened.ino()) == (named.dev(), named.ino());
    if !is_private(&opened) || (is_shared && !is_same) {
        return Err(refused("others can have written it"));
    }
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

/// Replaces a file like [`replace`] by one that `write` fills. `is_private`: if it is new, only the user can read it. Until it
/// is complete, only the user can read a file that replaces another one.
///
/// # Errors
///
/// Returns an error if the file cannot be written, or that of `write`.
pub fn replace_with(
    path: &Path,
    is_private: bool,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    // Not that of a link's target.
    let old = fs::symlink_metadata(path)
        .ok()
        .filter(fs::Metadata::is_file);
    let (temporary, mut file) = create_beside(path, is_private || old.is_some())?;
    let written = (|| {
        write(&mut file)?;
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()
    })();
    let moved = written.and_then(|()| fs::rename(&temporary, path));
    if moved.is_err() {
        // Best effort: the error of the file itself is reported.
        let _ = fs::remove_file(&temporary);
    }
    moved
}

/// Creates a file. `is_private`: only the user can open it, from the start. Who has opened it reads also what is written later.
///
/// # Errors
///
/// Returns an error if it is there already, or cannot be created.
pub fn create_new(path: &Path, is_private: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = is_private;
    options.open(path)
}

/// Creates a file for the new content. A program that was killed can have left one of the same name: in a container, all
/// programs have the same process ID.
fn create_beside(path: &Path, is_private: bool) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);

    let mut attempts = 0;
    loop {
        attempts += 1;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
        match create_new(&temporary, is_private) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempts < MAX_ATTEMPTS => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes the files in a folder that killed writers of [`replace`] have left: those that are older than an hour.
pub fn remove_leftovers(folder: &Path) {
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    let is_temporary = |name: &str| {
        let parts = name.strip_suffix(".tmp").and_then(|name| {
            let (_, numbers) = name.rsplit_once('.')?;
            numbers.split_once('-')
        });
        parts.is_some_and(|(process, number)| is_number(process) && is_number(number))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.take(MAX_FILES) {
        let is_old = |found: fs::Metadata| {
            let age = SystemTime::now().duration_since(found.modified()?);
            Ok::<_, io::Error>(age.is_ok_and(|age| age > WRITER_LIMIT))
        };
        if entry.file_name().to_str().is_some_and(is_temporary)
            && entry.metadata().and_then(is_old).unwrap_or(false)
        {
            // Best effort: another process can have removed it.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::ErrorKind;
    use std::time::SystemTime;

    use super::{WRITER_LIMIT, create_new, read_from, remove_leftovers, replace, replace_with};

    #[cfg(unix)]
    #[test]
    fn private_file_is_one_that_others_cannot_have_written() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

        use super::open_private;

        let folder = std::env::temp_dir().join(format!("mcp-private-{}", std::process::id()));
        let set_mode = |name: &str, mode| {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(folder.join(name), mode).unwrap();
        };
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("own"), "{}").unwrap();
        symlink(folder.join("own"), folder.join("link")).unwrap();
        symlink("/nowhere", folder.join("dangling")).unwrap();
        let user = fs::metadata(folder.join("own")).unwrap().uid();
        // Mode of the folder, mode of the file, its name, whether it is opened.
        for (folder_mode, mode, name, is_opened) in [
            (0o700, 0o600, "own", true),
            (0o755, 0o644, "own", true),
            (0o700, 0o660, "own", false),
            (0o700, 0o606, "own", false),
            (0o1777, 0o600, "own", true),
            (0o700, 0o600, "link", true),
            (0o700, 0o660, "link", false),
            (0o1777, 0o600, "link", false),
            (0o770, 0o600, "link", false),
            (0o700, 0o600, "dangling", false),
            (0o700, 0o600, "", false),
        ] {
            set_mode("own", mode);
            set_mode("", folder_mode);
            let opened = open_private(&folder.join(name), user);
            let row = (folder_mode, mode, name);
            assert_eq!(opened.is_ok(), is_opened, "{row:?}: {opened:?}");
        }
        set_mode("", 0o700);
        set_mode("own", 0o600);
        // A file of the present folder is found.
        let opened = open_private("Cargo.toml".as_ref(), user);
        assert_ne!(
            opened.map_err(|error| error.kind()).err(),
            Some(ErrorKind::NotFound)
        );
        // That of another user. Those of root are believed.
        let opened = open_private(&folder.join("own"), user + 1);
        assert_eq!(opened.is_ok(), user == 0, "{opened:?}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn files_of_killed_writers_are_removed_after_an_hour() {
        let folder = std::env::temp_dir().join(format!("mcp-leftovers-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let old = SystemTime::now() - WRITER_LIMIT * 2;
        for (name, is_old) in [
            ("lists.17-0.tmp", true),
            ("lists.18-0.tmp", false),
            ("lists.json", true),
            ("notes.tmp", true),
            ("draft.2-b.tmp", true),
        ] {
            let file = File::create(folder.join(name)).unwrap();
            if is_old {
                file.set_modified(old).unwrap();
            }
        }
        remove_leftovers(&folder);
        let files = fs::read_dir(&folder).unwrap().map(Result::unwrap);
        let mut left: Vec<_> = files.map(|file| file.file_name()).collect();
        left.sort();
        let expected = ["draft.2-b.tmp", "lists.18-0.tmp", "lists.json", "notes.tmp"];
        assert_eq!(left, expected);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn new_content_has_the_mode_of_its_file_only_when_it_is_complete() {
        use std::fs::Permissions;
        use std::os::unix::fs::PermissionsExt as _;

        let mode = |file: &File| file.metadata().unwrap().permissions().mode() & 0o777;
        let folder = std::env::temp_dir().join(format!("mcp-modes-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for old in [0o600, 0o640, 0o644] {
            let path = folder.join("settings.json");
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(old)).unwrap();
            replace_with(&path, false, |file| {
                assert_eq!(mode(file), 0o600);
                Ok(())
            })
            .unwrap();
            assert_eq!(mode(&File::open(&path).unwrap()), old);
        }
        let backup = create_new(&folder.join("backup"), true).unwrap();
        assert_eq!(mode(&backup), 0o600);
        fs::remove_dir_all(&folder).unwrap();
    }

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

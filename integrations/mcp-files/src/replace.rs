//! Files that are replaced at once, and new ones.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Maximum number of names that are tried for a new file.
const MAX_ATTEMPTS: usize = 1000;
/// Time after which the file of a writer counts as left by one that was killed.
const WRITER_LIMIT: Duration = Duration::from_secs(3600);
/// Files of a folder that are looked at.
const MAX_FILES: usize = 10_000;

/// Replaces a file at once: a reader finds the old or the new content. The file keeps its permissions; a new one can be
/// read by the user alone. A link is replaced, not followed.
///
/// # Examples
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("mcp-files-example-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("names.json");
/// mcp_files::replace(&path, br#"["read"]"#)?;
/// // At most 1 KiB, and only if no other user can have written it.
/// let names = mcp_files::read_from(mcp_files::open_own(&path)?, 1 << 10)?;
/// assert_eq!(names, r#"["read"]"#);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<_, std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_with(path, true, |file| file.write_all(content))
}

/// Replaces a file like [`replace`] by one that only the user can read, also if others could read the old one.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_as(path, true, None, |file| file.write_all(content))
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
    // Not those of a link's target.
    let old = fs::symlink_metadata(path)
        .ok()
        .filter(fs::Metadata::is_file);
    replace_as(path, is_private, old.map(|old| old.permissions()), write)
}

/// Replaces a file by one that has the `old` permissions when it is complete.
fn replace_as(
    path: &Path,
    is_private: bool,
    old: Option<Permissions>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let (temporary, mut file) = create_beside(path, is_private || old.is_some())?;
    let written = (|| {
        write(&mut file)?;
        if let Some(old) = old {
            file.set_permissions(old)?;
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

/// Removes the files in a folder that killed writers of [`replace`] have left: those that are older than an hour. At most
/// 10,000 files of the folder are looked at.
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
    use std::time::SystemTime;

    use super::{WRITER_LIMIT, remove_leftovers, replace};

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

        use super::{create_new, replace_private, replace_with};

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
            replace_private(&path, b"new").unwrap();
            assert_eq!(mode(&File::open(&path).unwrap()), 0o600);
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
}

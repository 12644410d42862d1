//! Reading of regular files, with a limit.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Reads a text file with at most `max` bytes, without a byte order mark.
///
/// A pipe is read until its other end closes; [`open_regular`] with [`read_from`] refuses one.
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
    from.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
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

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::read_from;

    #[cfg(unix)]
    #[test]
    fn private_file_is_one_that_others_cannot_have_written() {
        use std::fs;
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

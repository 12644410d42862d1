//! Programs as the operating system finds them, and words of commands to paste.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use mcp::types::escape_line;

/// Returns true if a program is a path, and not the name of a program in `PATH`.
pub(crate) fn is_path(program: &str) -> bool {
    program.contains(std::path::is_separator)
}

/// Returns the first program with this name in the folders of `path`, or in those of the process's `PATH`. Relative
/// folders are below `folder`.
pub(crate) fn find(program: &str, folder: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    let path = path
        .map(OsStr::to_owned)
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
    let mut files = folders.flat_map(|one| {
        let file = folder.join(one).join(program);
        extensions(&file).map(move |extension| {
            let mut name = file.clone().into_os_string();
            name.push(extension);
            PathBuf::from(name)
        })
    });
    files.find(|file| is_program(file))
}

#[cfg(windows)]
fn extensions(file: &Path) -> impl Iterator<Item = &'static str> + use<> {
    let all = [".com", ".exe", ".bat", ".cmd"];
    let count = if file.extension().is_some() {
        0
    } else {
        all.len()
    };
    let own = file.extension().map(|_| "");
    own.into_iter().chain(all.into_iter().take(count))
}

#[cfg(not(windows))]
fn extensions(_: &Path) -> impl Iterator<Item = &'static str> + use<> {
    std::iter::once("")
}

/// Returns true for a file that the operating system would run: it passes over others in `PATH`.
fn is_program(file: &Path) -> bool {
    let Ok(found) = file.metadata() else {
        return false;
    };
    #[cfg(unix)]
    let can_run = {
        use std::os::unix::fs::PermissionsExt as _;
        found.permissions().mode() & 0o111 != 0
    };
    #[cfg(not(unix))]
    let can_run = true;
    found.is_file() && can_run
}

/// Returns the file that runs when a command is started in `folder` with these variables. One that is not found keeps
/// its name.
pub(crate) fn resolve(program: &str, folder: &Path, env: &[(String, String)]) -> String {
    let found = if is_path(program) {
        std::path::absolute(folder.join(program)).ok()
    } else {
        let path = env.iter().rev().find(|(name, _)| name == "PATH");
        find(program, folder, path.map(|(_, path)| OsStr::new(path)))
    };
    found.map_or_else(
        || program.to_owned(),
        |file| file.to_string_lossy().into_owned(),
    )
}

/// Returns a text of others as one word of a command to paste: a shell expands nothing in it.
pub(crate) fn shell_word(word: &str) -> String {
    let word = escape_line(word);
    // Only a zero byte cannot be quoted, and it is escaped.
    let quoted = shlex::try_quote(&word).unwrap_or_default();
    quoted.into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use super::shell_word;

    #[test]
    fn shell_reads_a_pasted_command_word_unchanged() {
        assert_eq!(shell_word("https://a.example/mcp"), "https://a.example/mcp");
        for word in [
            "a b",
            "http://a/$(echo$IFS/x)",
            "`echo x`;echo y&echo z|$HOME",
            "it's",
            "'$(echo x)'\"$(echo y)\"\\",
            "",
            "~",
            "a*{b,c}!!#",
            "-x",
        ] {
            let script = format!("printf %s {}", shell_word(word));
            let run = std::process::Command::new("sh")
                .args(["-c", &script])
                .output();
            let read = String::from_utf8(run.unwrap().stdout).unwrap();
            assert_eq!(read, word);
        }
        assert!(!shell_word("a\n$(x)").contains('\n'));
    }
}

//! A user with a real browser: headless Chromium opens the login pages of the programs under test,
//! fills in their forms and follows their redirects.
//!
//! `playwright-core` of npm drives it: one package without dependencies, for the Node.js that other
//! peers need anyway.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::peers::Peers;
use crate::Result;

/// Names of the program. The first is that of Debian.
const PROGRAMS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// A program that opens a URL like the browser of a user.
#[derive(Debug, Clone)]
pub(super) struct Browser {
    program: PathBuf,
}

impl Browser {
    /// Writes the program to the folder `out`, which gets the log `browser.log`, too. Returns the
    /// reason if no Chromium is installed.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot be written.
    pub(super) fn install(peers: &Peers, out: &Path) -> Result<std::result::Result<Self, String>> {
        if !cfg!(unix) {
            return Ok(Err("the browser is started by a shell script".to_owned()));
        }
        let driver = match peers.node("browser.mjs") {
            Ok(driver) => driver,
            Err(reason) => return Ok(Err(reason)),
        };
        let chromium = match find_chromium() {
            Ok(chromium) => chromium,
            Err(reason) => return Ok(Err(reason)),
        };
        let program = out.join("login-browser");
        let words = driver.words().chain([chromium.as_path()]);
        let words: Vec<String> = words.map(quote).collect();
        let log = quote(&out.join("browser.log"));
        // Some programs wait for the end of their browser before they answer it.
        let script = format!(
            "#!/bin/sh\n{} \"$1\" >>{log} 2>&1 </dev/null &\n",
            words.join(" ")
        );
        fs::write(&program, script)?;
        set_executable(&program)?;
        Ok(Ok(Self { program }))
    }

    /// Makes a program open its pages in this browser: sets `BROWSER`, which `xdg-open` and the `webbrowser`
    /// packages of Rust and Python respect.
    pub(super) fn set<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("BROWSER", &self.program)
            // With a desktop, `xdg-open` would ask that for the browser.
            .env_remove("XDG_CURRENT_DESKTOP")
            .env_remove("DESKTOP_SESSION")
    }
}

/// Finds Chromium, or returns the reason why it cannot be used.
pub(super) fn find_chromium() -> std::result::Result<PathBuf, String> {
    let found = PROGRAMS.into_iter().find_map(on_path);
    found.ok_or_else(|| "Chromium is not installed".to_owned())
}

/// Finds a program in the folders of `PATH`.
fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// Quotes a path for the shell.
fn quote(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

#[cfg(unix)]
fn set_executable(program: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(
        program,
        fs::Permissions::from_mode(0o755),
    )?)
}

#[cfg(not(unix))]
fn set_executable(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::quote;

    #[test]
    fn quoted_path_is_one_word_of_the_shell() {
        assert_eq!(quote(Path::new("/a b/node")), "'/a b/node'");
        assert_eq!(quote(Path::new("it's")), r"'it'\''s'");
    }
}

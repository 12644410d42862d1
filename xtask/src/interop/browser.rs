//! A user with a real browser: headless Chromium opens the login pages of the programs under test,
//! fills in their forms and follows their redirects.
//!
//! `playwright-core` of npm drives it: one package without dependencies, for the Node.js that other
//! peers need anyway.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cases::Cases;
use super::peers::{Obstacle, Started};
use crate::result::Result;

/// The program's names. The first is that of Debian.
const PROGRAMS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// A program that opens a URL like a user's browser.
#[derive(Debug, Clone)]
pub(super) struct Browser {
    program: PathBuf,
}

impl Browser {
    /// Writes the program to the folder for output, which gets the log `browser.log`, too. Returns the
    /// obstacle if no Chromium is installed.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot be written.
    pub(super) fn install(cases: &Cases<'_>) -> Result<Started<Self>> {
        let chromium = find_chromium();
        let mut words = match cases.peers.program("node browser.mjs") {
            Ok(driver) if cfg!(unix) => driver,
            Ok(_) => return Ok(Err(missing("the browser is started by a shell script"))),
            Err(obstacle) => return Ok(Err(obstacle)),
        };
        match chromium {
            Ok(chromium) => words.push(chromium),
            Err(obstacle) => return Ok(Err(obstacle)),
        }
        let program = cases.out.join("login-browser");
        let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
        let log = quote(&cases.out.join("browser.log"));
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

/// Finds Chromium in the folders of `PATH`.
pub(super) fn find_chromium() -> Started<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut files = PROGRAMS
        .into_iter()
        .flat_map(|name| std::env::split_paths(&folders).map(move |folder| folder.join(name)));
    let found = files.find(|file| file.is_file());
    found.ok_or_else(|| missing("Chromium is not installed"))
}

fn missing(reason: &str) -> Obstacle {
    Obstacle::NotInstalled(reason.to_owned())
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
    fn quoted_path_is_one_word_in_the_shell() {
        assert_eq!(quote(Path::new("/a b/node")), "'/a b/node'");
        assert_eq!(quote(Path::new("it's")), r"'it'\''s'");
    }
}

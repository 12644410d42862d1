//! `mcp install` and `mcp uninstall`.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use mcp::group::{ServerSpec, files};
use serde_json::json;
use tokio::process::Command;

use crate::cli::{EntryArgs, InstallArgs, ServerArgs, UninstallArgs};
use crate::config;
use crate::failure::{Failure, usage};
use crate::hosts::{self, EditError, Entry, Host, Launch, is_secret, to_value};
use crate::output::Output;

/// Largest settings file in bytes: 16 MiB.
const MAX_BYTES: u64 = 16 << 20;
/// Time limit of a host's own command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) async fn install(args: &InstallArgs, output: &Output) -> Result<(), Failure> {
    let (launch, default_name) = launch(&args.server)?;
    let name = args.name.clone().unwrap_or(default_name);
    check_name(&name)?;
    let host = args.entry.host;
    let entry = host.entry(&name, &launch).map_err(Failure::usage)?;
    if uses_command(&args.entry) {
        let json = to_value(&entry).to_string();
        let words = ["mcp", "add-json", "--scope", "user", &name, &json];
        return run_claude(&words, &args.entry, output).await;
    }
    let path = path(&args.entry)?;
    let old = read(&path)?;
    let text = old.as_deref().unwrap_or_default();
    let edited = hosts::insert(host, text, &name, &entry, args.replace);
    let edited = edited.map_err(|error| failure(&error, &name, &path))?;
    let change = Change {
        args: &args.entry,
        path: &path,
        name: &name,
        entry: Some(&entry),
    };
    change.apply(old.as_deref(), &edited, output)
}

pub(super) async fn uninstall(args: &UninstallArgs, output: &Output) -> Result<(), Failure> {
    if uses_command(&args.entry) {
        let words = ["mcp", "remove", "--scope", "user", &args.name];
        return run_claude(&words, &args.entry, output).await;
    }
    let path = path(&args.entry)?;
    let old = read(&path)?;
    let text = old.as_deref().unwrap_or_default();
    let edited = hosts::remove(args.entry.host, text, &args.name);
    let edited = edited.map_err(|error| failure(&error, &args.name, &path))?;
    let Some(edited) = edited else {
        return Err(usage!("{} lists no server {:?}", path.display(), args.name));
    };
    let change = Change {
        args: &args.entry,
        path: &path,
        name: &args.name,
        entry: None,
    };
    change.apply(old.as_deref(), &edited, output)
}

/// Reads how the server is started or reached, and its name, from the command line.
fn launch(args: &ServerArgs) -> Result<(Launch, String), Failure> {
    let headers = pairs(&args.header, ':', "header")?;
    if let Some((program, rest)) = args.command.split_first() {
        if let Some(word) = args.words.first() {
            return Err(usage!("unexpected argument {word:?} before the command"));
        }
        let launch = Launch::Program {
            command: absolute_program(program, rest)?,
            args: rest.to_vec(),
            env: pairs(&args.env, '=', "variable")?,
        };
        let stem = Path::new(program).file_stem();
        return Ok((
            launch,
            stem.unwrap_or_default().to_string_lossy().into_owned(),
        ));
    }
    let [target] = args.words.as_slice() else {
        return Err(Failure::usage(
            "pass one server: a URL, a name (`mcp servers` lists them), or a command after `--`",
        ));
    };
    if target.contains("://") {
        let Some(url) = config::parse_url(target) else {
            return Err(usage!("{target:?} is not an http or https URL"));
        };
        if url.password().is_some() {
            return Err(Failure::usage(
                "the URL contains a password; pass it as --header 'Authorization: Basic ${VARIABLE}'",
            ));
        }
        let name = url.host_str().unwrap_or_default().replace('.', "-");
        return Ok((
            Launch::Url {
                url: url.into(),
                headers,
            },
            name,
        ));
    }
    let (_, entry) = config::find(target, args.config.as_deref())?;
    if !entry.variables.is_empty() {
        return Err(usage!(
            "the entry of {target:?} uses the variables {}; pass its URL or command, with `--env NAME` or `--header 'Name: ${{NAME}}'`",
            entry.variables.join(", ")
        ));
    }
    let launch = match entry.spec {
        Ok(ServerSpec::Command {
            command, args, env, ..
        }) => Launch::Program { command, args, env },
        Ok(ServerSpec::Url { url, headers, .. }) => Launch::Url { url, headers },
        Ok(_) => {
            return Err(usage!(
                "the entry of {target:?} is neither a command nor a URL"
            ));
        }
        Err(error) => return Err(usage!("{target}: {error}")),
    };
    let (Launch::Program { env: values, .. }
    | Launch::Url {
        headers: values, ..
    }) = &launch;
    if let Some((name, _)) = values.iter().find(|(name, _)| is_secret(name)) {
        return Err(usage!(
            "the entry of {target:?} has the value of {name:?} in plain text; pass its URL or command, with a reference to a variable"
        ));
    }
    Ok((launch, entry.name))
}

/// Splits `NAME=value` or `Name: value`. A variable without a value becomes a reference to itself. Refuses values of
/// secrets: this command line and the file would show them.
fn pairs(list: &[String], separator: char, what: &str) -> Result<Vec<(String, String)>, Failure> {
    let split = |text: &String| {
        let (name, value) = match text.split_once(separator) {
            Some((name, value)) => (name.trim().to_owned(), value.trim().to_owned()),
            None if separator == '=' => (text.clone(), format!("${{{text}}}")),
            None => return Err(usage!("{text:?} is not `Name: value`")),
        };
        if is_secret(&name) && !value.contains("${") {
            let cure = if separator == '=' {
                format!("--env {name}")
            } else {
                format!("--header '{name}: ${{VARIABLE}}'")
            };
            return Err(usage!(
                "the {what} {name:?} looks like a secret; keep its value in the environment, and pass {cure}"
            ));
        }
        Ok((name, value))
    };
    list.iter().map(split).collect()
}

/// Hosts start programs in folders of their own, so a path must be absolute.
fn absolute_program(program: &str, args: &[String]) -> Result<String, Failure> {
    let is_cargo_run = program == "cargo"
        && args.iter().any(|arg| arg == "run")
        && !args.iter().any(|arg| arg.starts_with("--manifest-path"));
    if is_cargo_run {
        return Err(Failure::usage(
            "hosts start programs in other folders: install target/release/NAME after `cargo build --release`, or add --manifest-path",
        ));
    }
    if !program.contains(['/', '\\']) {
        return Ok(program.to_owned());
    }
    let path = std::path::absolute(program).unwrap_or_else(|_| program.into());
    if path.is_file() {
        return Ok(path.to_string_lossy().into_owned());
    }
    Err(usage!("{} is not a file; build it first", path.display()))
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_valid = !name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_valid {
        return Ok(());
    }
    Err(usage!(
        "{name:?} is not a name that every host accepts: pass --name with letters, digits, `-` and `_`"
    ))
}

fn path(args: &EntryArgs) -> Result<PathBuf, Failure> {
    let path = args.file.clone().or_else(|| args.host.file(args.project));
    path.ok_or_else(|| {
        usage!(
            "{} has no file with servers {}; pass --file",
            args.host.owner(),
            if args.project {
                "in a project"
            } else {
                "of the user"
            },
        )
    })
}

/// Reads a settings file. `None` if it does not exist.
fn read(path: &Path) -> Result<Option<String>, Failure> {
    match files::read(path, MAX_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::unusable(path, error)),
    }
}

fn failure(error: &EditError, name: &str, path: &Path) -> Failure {
    match error {
        EditError::Taken => {
            let file = path.display();
            usage!("{file} lists another server {name:?}; pass --replace, or another --name")
        }
        EditError::Unreadable(reason) => Failure::unusable(path, reason),
    }
}

/// A settings file change.
struct Change<'a> {
    args: &'a EntryArgs,
    path: &'a Path,
    name: &'a str,
    /// `None` removes the server.
    entry: Option<&'a Entry>,
}

impl Change<'_> {
    fn apply(&self, old: Option<&str>, edited: &str, output: &Output) -> Result<(), Failure> {
        let is_changed = old != Some(edited);
        let mut backup = None;
        if is_changed && !self.args.dry_run {
            backup = self
                .write(old, edited)
                .map_err(|error| Failure::unwritable(self.path, &error))?;
        }
        self.print(is_changed, backup.as_deref(), output);
        Ok(())
    }

    /// Copies the old file, and replaces it. Returns the backup's path.
    fn write(&self, old: Option<&str>, edited: &str) -> io::Result<Option<PathBuf>> {
        // A link stays a link.
        let path = fs::canonicalize(self.path).unwrap_or_else(|_| self.path.to_owned());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if old.is_none() {
            fs::write(&path, edited)?;
            return Ok(None);
        }
        let mut backup = path.clone().into_os_string();
        backup.push(".mcp-backup");
        fs::copy(&path, &backup)?;
        files::replace(&path, edited.as_bytes())?;
        Ok(Some(backup.into()))
    }

    fn print(&self, is_changed: bool, backup: Option<&Path>, output: &Output) {
        let owner = self.args.host.owner();
        if output.json {
            return output.document(&json!({
                "host": owner,
                "file": self.path,
                "name": self.name,
                "entry": self.entry.map(to_value),
                "backup": backup,
                "changed": is_changed,
                "dryRun": self.args.dry_run,
            }));
        }
        let path = self.path.display();
        let done = match (is_changed, self.args.dry_run) {
            (false, _) => "has the entry already",
            (true, true) => "would be changed",
            (true, false) => "is changed",
        };
        output.line(&format!("{path} {done} ({owner})"));
        match self.entry {
            Some(entry) => {
                output.line(&format!("+ {}", self.name));
                for (name, value) in entry {
                    output.line(&format!("+   {name}: {value}"));
                }
            }
            None => output.line(&format!("- {}", self.name)),
        }
        if let Some(backup) = backup {
            output.note(&format!("the old file is {}", backup.display()));
        }
        if is_changed && !self.args.dry_run && self.entry.is_some() {
            output.note(&format!("restart {owner} to use the server"));
        }
    }
}

/// Claude Code rewrites its file while it runs, so its own command changes it, if it is installed.
fn uses_command(args: &EntryArgs) -> bool {
    let is_own_file = args.host == Host::ClaudeCode && !args.project && args.file.is_none();
    let path = std::env::var_os("PATH").unwrap_or_default();
    is_own_file && std::env::split_paths(&path).any(|folder| folder.join("claude").is_file())
}

async fn run_claude(words: &[&str], args: &EntryArgs, output: &Output) -> Result<(), Failure> {
    let line = format!("claude {}", words.join(" "));
    if !args.dry_run {
        let run = Command::new("claude")
            .args(words)
            .kill_on_drop(true)
            .output();
        let run = tokio::time::timeout(COMMAND_TIMEOUT, run).await;
        let ended = match run {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => {
                return Err(usage!("claude cannot be started: {error}"));
            }
            Err(_) => return Err(Failure::usage("claude did not end within 60 seconds")),
        };
        if !ended.status.success() {
            let reason = String::from_utf8_lossy(&ended.stderr);
            return Err(usage!("{line}: {}", reason.trim()));
        }
    }
    if output.json {
        let command = [&["claude"], words].concat();
        output.document(&json!({
            "host": args.host.owner(),
            "command": command,
            "dryRun": args.dry_run,
        }));
    } else {
        output.line(&line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check_name, pairs};

    #[test]
    fn secrets_are_references_only() {
        let list = |words: &[&str]| {
            words
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>()
        };
        let env = pairs(&list(&["LEVEL=debug", "SHOP_KEY"]), '=', "variable").unwrap();
        let expected = [("LEVEL", "debug"), ("SHOP_KEY", "${SHOP_KEY}")];
        assert_eq!(
            env,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        let refused = pairs(&list(&["SHOP_KEY=abc"]), '=', "variable").unwrap_err();
        assert!(refused.to_string().contains("--env SHOP_KEY"), "{refused}");
        assert!(!refused.to_string().contains("abc"), "{refused}");
        let header = pairs(&list(&["Authorization: Bearer ${T}"]), ':', "header").unwrap();
        assert_eq!(header[0].1, "Bearer ${T}");
        assert!(pairs(&list(&["Authorization: Bearer abc"]), ':', "header").is_err());
        assert!(pairs(&list(&["Authorization"]), ':', "header").is_err());
    }

    #[test]
    fn names_are_those_that_every_host_accepts() {
        for (name, is_valid) in [
            ("shop", true),
            ("my-shop_2", true),
            ("", false),
            ("a b", false),
            ("a.b", false),
        ] {
            assert_eq!(check_name(name).is_ok(), is_valid, "{name:?}");
        }
    }
}

//! `mcp install` and `mcp uninstall`.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::slice;
use std::time::Duration;

use mcp::group::ServerSpec;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::{sleep, timeout};
use url::Url;

use crate::cli::{EntryArgs, InstallArgs, ServerArgs, UninstallArgs};
use crate::failure::{Failure, usage};
use crate::hosts::{self, EditError, Entry, Host, Launch, Undo, is_secret, to_value};
use crate::output::Output;
use crate::{config, programs, target, written};

/// Largest settings file in bytes: 16 MiB.
const MAX_BYTES: u64 = 16 << 20;
/// Time limit of a host's own command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit for other installs. One waits for at most two commands of a host.
const LOCK_TIMEOUT: Duration = Duration::from_secs(130);
/// Time between two attempts to lock.
const LOCK_RETRY: Duration = Duration::from_millis(20);

pub(super) async fn install(args: &InstallArgs, output: &Output) -> Result<(), Failure> {
    let (launch, default_name) = launch(&args.server, output).await?;
    let name = args.name.clone().unwrap_or(default_name);
    check_name(&name)?;
    let host = args.entry.host;
    let entry = host.entry(&name, &launch).map_err(Failure::usage)?;
    let settings = Settings::open(&args.entry).await?;
    let edited = hosts::insert(host, settings.text(), &name, &entry, args.replace);
    let edited = edited.map_err(|error| failure(&error, &name, &settings.path))?;
    let change = Change {
        args: &args.entry,
        settings: &settings,
        name: &name,
        entry: Some(&entry),
    };
    change.apply(Some(&edited), output).await?;
    for variable in hosts::variables(&launch) {
        let placeholder = hosts::placeholder(&variable);
        let place = edited.lines().position(|line| line.contains(&placeholder));
        if let Some(line) = place {
            let (path, line) = (settings.path.display(), line + 1);
            output.note(&format!(
                "{} cannot read variables: write the value of {variable} in place of {placeholder} in {path}, line {line}",
                host.owner()
            ));
        }
    }
    if let Launch::Program { command, .. } = &launch
        && !programs::is_path(command)
        && programs::find(command, Path::new("."), None).is_none()
    {
        output.note(&format!(
            "no program {command:?} is in PATH: install it, or pass its path; {} may have another PATH",
            host.owner()
        ));
    }
    Ok(())
}

pub(super) async fn uninstall(args: &UninstallArgs, output: &Output) -> Result<(), Failure> {
    let settings = Settings::open(&args.entry).await?;
    let path = &settings.path;
    let edited = hosts::remove(args.entry.host, settings.text(), &args.name);
    let edited = edited.map_err(|error| failure(&error, &args.name, path))?;
    let Some(edited) = edited else {
        return Err(usage!("{} lists no server {:?}", path.display(), args.name));
    };
    // Its own install has left the file so: what was there before comes back.
    let kept = Undo::read(&settings.target, &args.name, settings.text());
    let edited = kept.map_or(Some(edited), |kept| kept.before);
    let change = Change {
        args: &args.entry,
        settings: &settings,
        name: &args.name,
        entry: None,
    };
    change.apply(edited.as_deref(), output).await
}

/// Reads how the server is started or reached, and its name, from the command line.
async fn launch(args: &ServerArgs, output: &Output) -> Result<(Launch, String), Failure> {
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
        check_arguments(&launch)?;
        let stem = Path::new(program).file_stem();
        return Ok((
            launch,
            stem.unwrap_or_default().to_string_lossy().into_owned(),
        ));
    }
    let [word] = args.words.as_slice() else {
        return Err(Failure::usage(
            "pass one server: a URL, a name (`mcp servers` lists them), or a command after `--`",
        ));
    };
    if word.contains("://") {
        let url = url_of(word)?;
        let name = url.host_str().unwrap_or_default().replace('.', "-");
        return Ok((
            Launch::Url {
                url: url.into(),
                headers,
            },
            name,
        ));
    }
    let (location, entry) = config::find(word, args.config.as_deref())?;
    if !entry.variables.is_empty() {
        return Err(usage!(
            "the entry of {word:?} uses the variables {}; pass its URL or command, with `--env NAME` or `--header 'Name: ${{NAME}}'`",
            entry.variables.join(", ")
        ));
    }
    let spec = entry.spec.map_err(|error| usage!("{word}: {error}"))?;
    target::approve_entry(&location, word, &spec, &[], args.yes, output).await?;
    Ok((launch_of(word, spec)?, entry.name))
}

/// Parses a URL, and writes it as it is used: hosts that parse it in another way reach the same server.
fn url_of(text: &str) -> Result<Url, Failure> {
    let url = config::parse_url(text);
    let url = url.ok_or_else(|| usage!("{text:?} is not an http or https URL"))?;
    if url.password().is_some() {
        return Err(Failure::usage(
            "the URL contains a password; pass it as --header 'Authorization: Basic ${VARIABLE}'",
        ));
    }
    Ok(url)
}

/// Refuses arguments with secrets: the settings of the host would show them.
fn check_arguments(launch: &Launch) -> Result<(), Failure> {
    if let Launch::Program { args, .. } = launch
        && let Some(name) = hosts::secret_argument(args)
    {
        return Err(usage!(
            "the argument {name} looks like a secret; keep its value in the environment, and pass --env NAME"
        ));
    }
    Ok(())
}

/// Returns how the server of an entry is started or reached: as the user has approved it, in each folder and with each host.
fn launch_of(word: &str, spec: ServerSpec) -> Result<Launch, Failure> {
    let launch = match spec {
        ServerSpec::Command {
            command,
            args,
            env,
            env_file,
            cwd,
            ..
        } => {
            let members = [("envFile", env_file), ("cwd", cwd)];
            if let Some((member, _)) = members.iter().find(|(_, value)| value.is_some()) {
                return Err(usage!(
                    "the entry of {word:?} has {member:?}, which hosts do not have; pass its command after `--`"
                ));
            }
            let has_path = |value: &str| value.split([':', ';', ' ']).any(is_path_in_folder);
            if let Some((name, _)) = env.iter().find(|(_, value)| has_path(value)) {
                return Err(path_in_folder("variable", name));
            }
            let is_search_path = |name: &str| name.eq_ignore_ascii_case("PATH");
            if env.iter().any(|(name, _)| is_search_path(name)) {
                return Err(usage!(
                    "the entry of {word:?} has the variable \"PATH\", by which a host could start another program than the one \
                     that you approve; pass the command after `--` with its whole path"
                ));
            }
            let command = absolute_program(&command, &args)?;
            Launch::Program { command, args, env }
        }
        ServerSpec::Url { oauth: Some(_), .. } => {
            return Err(usage!(
                "the entry of {word:?} has \"oauth\", without which a host would log in elsewhere; pass its URL"
            ));
        }
        ServerSpec::Url { url, headers, .. } => Launch::Url {
            url: url_of(&url)?.into(),
            headers,
        },
        _ => {
            return Err(usage!(
                "the entry of {word:?} is neither a command nor a URL"
            ));
        }
    };
    check_arguments(&launch)?;
    if let Some(text) = launch.expanded() {
        return Err(usage!(
            "the entry of {word:?} has the text {text:?}, in whose place a host could put a variable or a file; pass its URL or \
             command"
        ));
    }
    let (values, url) = match &launch {
        Launch::Program { env, .. } => (env, None),
        Launch::Url { url, headers } => (headers, Some(url)),
    };
    let mut names = values.iter().map(|(name, _)| name.as_str());
    let in_url = url.and_then(|url| hosts::secret_argument(slice::from_ref(url)));
    if let Some(name) = names.find(|name| is_secret(name)).or(in_url) {
        return Err(usage!(
            "the entry of {word:?} has the value of {name:?} in plain text; pass its URL or command, with a reference to a variable"
        ));
    }
    Ok(launch)
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

/// Hosts start programs in folders of their own, so paths must be absolute. Returns the program's path.
fn absolute_program(program: &str, args: &[String]) -> Result<String, Failure> {
    let is_cargo_run = program == "cargo"
        && args.iter().any(|arg| arg == "run")
        && !args.iter().any(|arg| arg.starts_with("--manifest-path"));
    if is_cargo_run {
        return Err(Failure::usage(
            "hosts start programs in other folders: install target/release/NAME after `cargo build --release`, or add --manifest-path",
        ));
    }
    if let Some(arg) = args.iter().find(|arg| is_path_in_folder(arg)) {
        return Err(path_in_folder("argument", arg));
    }
    if !programs::is_path(program) {
        return Ok(program.to_owned());
    }
    let path = std::path::absolute(program).unwrap_or_else(|_| program.into());
    if path.is_file() {
        return Ok(path.to_string_lossy().into_owned());
    }
    Err(usage!("{} is not a file; build it first", path.display()))
}

fn path_in_folder(what: &str, text: &str) -> Failure {
    usage!(
        "the {what} {text:?} is a path in this folder, and hosts start programs in other folders: pass the command after `--` \
         with the whole path"
    )
}

/// Returns true for an argument, or the value of one, that is a path below the current folder. A folder without a separator in
/// its name is not one: it can be a name of something else, such as a package.
fn is_path_in_folder(arg: &str) -> bool {
    let value = arg
        .strip_prefix('-')
        .and_then(|option| option.split_once('='));
    let text = value.map_or(arg, |(_, value)| value);
    let path = Path::new(text);
    let has_dots = matches!(
        path.components().next(),
        Some(Component::CurDir | Component::ParentDir)
    );
    let is_found = path.is_file() || text.contains(['/', '\\']) && path.exists();
    has_dots || path.is_relative() && is_found
}

fn check_name(name: &str) -> Result<(), Failure> {
    // A host's own command would read it as an option.
    let is_valid = !name.is_empty()
        && !name.starts_with('-')
        && name.len() <= 64
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_valid {
        return Ok(());
    }
    Err(usage!(
        "{name:?} is not a name that every host accepts: pass --name with letters, digits, `_`, and `-` after the first one"
    ))
}

/// A settings file.
struct Settings {
    path: PathBuf,
    /// The file behind the path.
    target: PathBuf,
    is_project: bool,
    /// `None` if the file does not exist.
    old: Option<String>,
    /// The lock that keeps other installs waiting.
    _lock: Option<File>,
}

impl Settings {
    /// Reads the file. Other installs and uninstalls of the user wait until this is dropped.
    async fn open(args: &EntryArgs) -> Result<Self, Failure> {
        let path = args.file.clone().or_else(|| args.host.file(args.project));
        let path = path.ok_or_else(|| {
            usage!(
                "{} has no file with servers {}; pass --file",
                args.host.owner(),
                if args.project {
                    "in a project"
                } else {
                    "of the user"
                },
            )
        })?;
        let is_project = args.project || args.file.as_deref().is_some_and(written::is_in_project);
        let target = written::target(&path, is_project);
        let target = target.map_err(|error| Failure::unusable(&path, error))?;
        let lock = if args.dry_run { None } else { lock().await };
        let old = read(&target).map_err(|error| Failure::unusable(&path, error))?;
        Ok(Self {
            path,
            target,
            is_project,
            old,
            _lock: lock,
        })
    }

    fn text(&self) -> &str {
        self.old.as_deref().unwrap_or_default()
    }

    /// Replaces the file. Keeps its first content beside it, as [`written::keep`]. `None` removes the file.
    fn replace(&self, edited: Option<&str>) -> io::Result<Option<(bool, PathBuf)>> {
        if let Some(folder) = self.target.parent() {
            fs::create_dir_all(folder)?;
        }
        if read(&self.target)? != self.old {
            return Err(io::Error::other(
                "another program has changed it; try again",
            ));
        }
        let old = self.old.as_ref();
        let backup = old.map(|old| written::keep(&self.target, old.as_bytes()));
        let backup = backup.transpose()?;
        match edited {
            Some(edited) => mcp_files::replace_with(&self.target, !self.is_project, |file| {
                file.write_all(edited.as_bytes())
            })?,
            None => fs::remove_file(&self.target)?,
        }
        Ok(backup)
    }
}

/// Waits for other installs. `None` where files cannot be locked, or after [`LOCK_TIMEOUT`]: a change of the file since it
/// was read is refused in any case.
async fn lock() -> Option<File> {
    let folder = config::data_folder()?.join("mcp");
    fs::create_dir_all(&folder).ok()?;
    let mut options = File::options();
    options.create(true).append(true);
    // Whoever can open it can lock it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(folder.join("install.lock")).ok()?;
    let locked = async {
        loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => sleep(LOCK_RETRY).await,
                locked => return locked.is_ok(),
            }
        }
    };
    let is_locked = timeout(LOCK_TIMEOUT, locked).await.unwrap_or(false);
    is_locked.then_some(file)
}

/// Reads a settings file with its byte order mark. `None` if it does not exist.
fn read(path: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    let file = match mcp_files::open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(text))
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
    settings: &'a Settings,
    name: &'a str,
    /// `None` removes the server.
    entry: Option<&'a Entry>,
}

impl Change<'_> {
    async fn apply(&self, edited: Option<&str>, output: &Output) -> Result<(), Failure> {
        let is_changed = self.settings.old.as_deref() != edited;
        let mut backup = None;
        if is_changed && !self.args.dry_run {
            if uses_command(self.args) {
                self.run_claude().await?;
            } else {
                let replaced = self.settings.replace(edited);
                backup =
                    replaced.map_err(|error| Failure::unwritable(&self.settings.path, &error))?;
                if let Err(error) = self.keep(edited) {
                    output.note(&format!("uninstalling will edit the file: {error}"));
                }
            }
        }
        self.print(is_changed, backup.as_ref(), output);
        Ok(())
    }

    /// Keeps what uninstalling the entry puts back.
    fn keep(&self, edited: Option<&str>) -> io::Result<()> {
        let Settings { target, old, .. } = self.settings;
        let text = self.settings.text();
        let mut before = Some(old.as_deref().map(str::to_owned));
        if self.is_listed() {
            // What an earlier install of the entry has replaced.
            before = Undo::read(target, self.name, text).map(|kept| kept.before);
        }
        match (self.entry, edited, before) {
            (Some(_), Some(edited), Some(before)) => {
                Undo::new(edited, before.as_deref()).keep(target, self.name)
            }
            _ => {
                Undo::forget(target, self.name);
                Ok(())
            }
        }
    }

    /// Returns true if the file has an entry of this name.
    fn is_listed(&self) -> bool {
        let removed = hosts::remove(self.args.host, self.settings.text(), self.name);
        removed.is_ok_and(|text| text.is_some())
    }

    /// Lets Claude Code change its file. It refuses to replace an entry, so that an old one is removed first.
    async fn run_claude(&self) -> Result<(), Failure> {
        let name = self.name;
        if self.is_listed() {
            claude(&["mcp", "remove", "--scope", "user", name]).await?;
        }
        if let Some(entry) = self.entry {
            let json = to_value(entry).to_string();
            let added = claude(&["mcp", "add-json", "--scope", "user", name, &json]).await;
            if let Err(problem) = added {
                self.put_back()?;
                return Err(problem);
            }
        }
        let unwritable = |error| Failure::unusable(&self.settings.path, error);
        let now = read(&self.settings.target).map_err(unwritable)?;
        let removed = hosts::remove(self.args.host, now.as_deref().unwrap_or_default(), name);
        if removed.is_ok_and(|text| text.is_some()) == self.entry.is_some() {
            return Ok(());
        }
        let path = self.settings.path.display();
        Err(usage!("claude has not changed {name:?} in {path}"))
    }

    /// Writes the file again from which Claude Code has removed the former entry. It is not an argument of a command, which
    /// other users of the machine see.
    fn put_back(&self) -> Result<(), Failure> {
        let path = &self.settings.target;
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let mut expected = parse(self.settings.text());
        let servers = expected
            .get_mut("mcpServers")
            .and_then(Value::as_object_mut);
        let Some(old) = servers.and_then(|servers| servers.remove(self.name)) else {
            return Ok(());
        };
        let now = read(path).ok().flatten().unwrap_or_default();
        let without = |mut file: Value| {
            let servers = file.get("mcpServers").and_then(Value::as_object);
            if servers.is_some_and(serde_json::Map::is_empty) {
                file.as_object_mut().map(|file| file.remove("mcpServers"));
            }
            file
        };
        let is_same = without(parse(&now)) == without(expected);
        let written = || {
            mcp_files::replace_with(path, true, |file| {
                file.write_all(self.settings.text().as_bytes())
            })
        };
        if is_same && written().is_ok() {
            return Ok(());
        }
        let name = self.name;
        Err(usage!("the former entry of {name:?} is lost: {old}"))
    }

    fn print(&self, is_changed: bool, backup: Option<&(bool, PathBuf)>, output: &Output) {
        let owner = self.args.host.owner();
        if output.json {
            return output.document(&json!({
                "host": owner,
                "file": self.settings.path,
                "name": self.name,
                "entry": self.entry.map(to_value),
                "backup": backup.filter(|(is_new, _)| *is_new).map(|(_, path)| path),
                "changed": is_changed,
                "dryRun": self.args.dry_run,
            }));
        }
        let path = self.settings.path.display();
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
            output.note(&written::describe(backup));
        }
        if is_changed && !self.args.dry_run && self.entry.is_some() {
            output.note(&format!("restart {owner} to use the server"));
        }
    }
}

/// Claude Code rewrites its file while it runs, so its own command changes it, if it is installed.
fn uses_command(args: &EntryArgs) -> bool {
    let is_own_file = args.host == Host::ClaudeCode && !args.project && args.file.is_none();
    is_own_file && programs::find("claude", Path::new("."), None).is_some()
}

async fn claude(words: &[&str]) -> Result<(), Failure> {
    let line = format!("claude {}", words.join(" "));
    // It reads settings of the folder in which it runs, which somebody else may have written.
    let folder = std::env::home_dir().filter(|home| home.is_dir());
    let run = Command::new("claude")
        .args(words)
        .current_dir(folder.unwrap_or_else(|| "/".into()))
        .kill_on_drop(true)
        .output();
    let run = timeout(COMMAND_TIMEOUT, run).await;
    let ended = match run {
        Ok(Ok(ended)) => ended,
        Ok(Err(error)) => return Err(usage!("{line}: claude cannot be started: {error}")),
        Err(_) => return Err(usage!("{line}: claude did not end within 60 seconds")),
    };
    if ended.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&ended.stderr);
    Err(usage!("{line}: {}", reason.trim()))
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
            ("--help", false),
        ] {
            assert_eq!(check_name(name).is_ok(), is_valid, "{name:?}");
        }
    }
}

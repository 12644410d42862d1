//! The command of `mcp dev`, its folder, and the program that cargo builds for it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mcp::ServerCommand;
use url::Url;

use crate::cli::DevArgs;
use crate::failure::{Failure, usage};
use crate::{config, target};

/// The variables that name the address or port of a program over HTTP. Default: a free port, because `mcp dev` may use
/// the usual one.
const ADDRESS: &str = "ADDRESS";
const PORT: &str = "PORT";
/// Time to exit after standard input is closed. A program over HTTP does not read standard input, so it is
/// terminated after this time.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(300);

/// Options of `cargo run` whose value is the next word.
const WITH_VALUE: [&str; 15] = [
    "-p",
    "--package",
    "--bin",
    "--example",
    "-F",
    "--features",
    "-j",
    "--jobs",
    "--profile",
    "--target",
    "--target-dir",
    "--manifest-path",
    "--color",
    "--config",
    "-Z",
];

/// The command, its folder, and how it is built.
pub(super) struct Plan {
    /// The name of the server for clients.
    pub(super) name: String,
    /// The folder in which the command runs.
    pub(super) folder: PathBuf,
    /// The folder that is watched.
    pub(super) sources: PathBuf,
    command: Vec<String>,
    /// The URL at which the program serves HTTP, if the user names it.
    pub(super) url: Option<Url>,
    /// Headers of requests over HTTP.
    pub(super) headers: Vec<(String, String)>,
    /// `None` for a command that cargo does not build.
    pub(super) cargo: Option<CargoRun>,
}

/// The parts of a `cargo run` command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CargoRun {
    pub(super) program: String,
    /// A toolchain, such as `+nightly`.
    pub(super) toolchain: Option<String>,
    /// The options of cargo.
    pub(super) options: Vec<String>,
    /// The arguments of the program that cargo builds.
    arguments: Vec<String>,
}

/// The program to start.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Program {
    path: OsString,
    arguments: Vec<String>,
    /// True if cargo writes the file.
    is_built: bool,
    /// The time at which cargo wrote the program. `None` for a program that cargo does not build: it is restarted after
    /// every change.
    pub(super) built_at: Option<SystemTime>,
}

impl Plan {
    /// Returns the command as one text, for its stored lists.
    pub(super) fn id(&self) -> String {
        format!("{:?} {:?} {:?}", self.command, self.url, self.headers)
    }

    /// # Errors
    ///
    /// Returns a usage [`Failure`] if the folder does not exist, if cargo has nothing to build there, or for an invalid URL.
    pub(super) fn new(args: &DevArgs) -> Result<Self, Failure> {
        let dir = args.dir.as_deref().unwrap_or(Path::new("."));
        let folder = real_path(dir)
            .map_err(|error| usage!("the folder {} cannot be used: {error}", dir.display()))?;
        let mut command = args.command.clone();
        if command.is_empty() {
            command = ["cargo", "run"].map(str::to_owned).to_vec();
        }
        let cargo = CargoRun::parse(&command);
        let sources = match &cargo {
            Some(cargo) => cargo.package(&folder)?,
            None => folder.clone(),
        };
        let named_by = match &cargo {
            Some(_) => sources.file_name(),
            None => command
                .first()
                .and_then(|program| Path::new(program).file_stem()),
        };
        let url = args.url.as_deref().map(|url| {
            let invalid = || usage!("--url: {url:?} is not an http or https URL");
            config::parse_url(url).ok_or_else(invalid)
        });
        Ok(Self {
            name: named_by
                .unwrap_or(OsStr::new("server"))
                .to_string_lossy()
                .into_owned(),
            folder,
            sources,
            command,
            url: url.transpose()?,
            headers: target::headers(&args.header)?,
            cargo,
        })
    }

    /// Returns the program of a command that cargo does not build.
    pub(super) fn program(&self) -> Program {
        let arguments = self.command.get(1..).unwrap_or_default();
        Program {
            path: self.command.first().cloned().unwrap_or_default().into(),
            arguments: arguments.to_vec(),
            is_built: false,
            built_at: None,
        }
    }

    /// Returns the program that cargo has built. If there are several, `cargo run` selects it.
    pub(super) fn built(&self, executables: &[PathBuf]) -> Program {
        let mut program = self.program();
        let Some(cargo) = &self.cargo else {
            return program;
        };
        if let [executable] = executables {
            program.path = executable.into();
            program.arguments.clone_from(&cargo.arguments);
            program.is_built = true;
            let file = std::fs::metadata(executable).and_then(|file| file.modified());
            program.built_at = file.ok();
        } else {
            let after_run = 1 + usize::from(cargo.toolchain.is_some());
            program.arguments.insert(after_run, "--quiet".to_owned());
        }
        program
    }
}

impl CargoRun {
    fn parse(command: &[String]) -> Option<Self> {
        let (program, mut rest) = command.split_first()?;
        if Path::new(program).file_stem()? != "cargo" {
            return None;
        }
        let toolchain = rest.first().filter(|word| word.starts_with('+')).cloned();
        if toolchain.is_some() {
            rest = &rest[1..];
        }
        let ("run" | "r", mut rest) = rest.split_first().map(|(word, rest)| (&**word, rest))?
        else {
            return None;
        };
        let mut options = Vec::new();
        while let Some((word, others)) = rest.split_first() {
            if word == "--" {
                rest = others;
                break;
            }
            if !word.starts_with('-') {
                break;
            }
            options.push(word.clone());
            rest = others;
            if WITH_VALUE.contains(&&**word)
                && let Some((value, others)) = rest.split_first()
            {
                options.push(value.clone());
                rest = others;
            }
        }
        Some(Self {
            program: program.clone(),
            toolchain,
            options,
            arguments: rest.to_vec(),
        })
    }

    /// Returns the package folder.
    fn package(&self, folder: &Path) -> Result<PathBuf, Failure> {
        let mut options = self.options.iter();
        while let Some(option) = options.next() {
            let value = match option.split_once('=') {
                Some(("--manifest-path", value)) => Some(value),
                _ if option == "--manifest-path" => options.next().map(String::as_str),
                _ => None,
            };
            if let Some(value) = value {
                let manifest = real_path(&folder.join(value))
                    .map_err(|error| usage!("--manifest-path: {value} cannot be used: {error}"))?;
                return Ok(manifest.parent().unwrap_or(folder).to_owned());
            }
        }
        let mut folders = folder.ancestors();
        let package = folders.find(|folder| folder.join("Cargo.toml").is_file());
        package.map(Path::to_owned).ok_or_else(|| {
            usage!(
                "there is no Cargo.toml in {} or above it; pass --dir, or a command after `--`",
                folder.display()
            )
        })
    }
}

impl Program {
    /// Returns the port that the program is asked to serve: one of the user's variables, or a free one.
    pub(super) fn port(&self) -> io::Result<u16> {
        let port_of = |name| {
            let value = std::env::var(name).ok()?;
            let port = value.rsplit(':').next()?.parse().ok()?;
            (port != 0).then_some(port)
        };
        if let Some(port) = port_of(ADDRESS).or_else(|| port_of(PORT)) {
            return Ok(port);
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        Ok(listener.local_addr()?.port())
    }

    /// Returns the command that starts the program. `port`: the port that it is asked to serve.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot be copied.
    pub(super) fn command(&self, plan: &Plan, port: u16) -> io::Result<ServerCommand> {
        let path = if cfg!(windows) && self.is_built {
            copy(Path::new(&self.path))?.into()
        } else {
            self.path.clone()
        };
        let command = ServerCommand::new(path)
            .args(&self.arguments)
            .inherit_all_env()
            .current_dir(&plan.folder)
            .close_timeout(CLOSE_TIMEOUT);
        if plan.url.is_some() {
            return Ok(command);
        }
        let address = std::env::var(ADDRESS).ok();
        let host = address
            .as_deref()
            .and_then(|address| address.rsplit_once(':'));
        let host = host.map_or("127.0.0.1", |(host, _)| host);
        let command = command.env(ADDRESS, format!("{host}:{port}"));
        Ok(command.env(PORT, port.to_string()))
    }
}

/// Returns the absolute path without links, as events of the file system have it. On Windows links stay, because programs
/// such as `cmd` do not accept the other form.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    if cfg!(windows) {
        std::path::absolute(path)
    } else {
        std::fs::canonicalize(path)
    }
}

/// Copies a program, because Windows does not let cargo replace a file that runs. Returns the copy.
fn copy(program: &Path) -> io::Result<PathBuf> {
    let copy = program.with_extension("mcp-dev.exe");
    std::fs::copy(program, &copy)?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{CargoRun, Plan, copy};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn cargo_run_is_split_into_options_and_arguments() {
        for (line, options, arguments) in [
            ("cargo run", "", ""),
            ("cargo run -- --fast -p x", "", "--fast -p x"),
            (
                "/opt/cargo +nightly r -q -p shop --bin=shop --features a,b -- one",
                "-q -p shop --bin=shop --features a,b",
                "one",
            ),
            (
                "cargo run --release serve --port 1",
                "--release",
                "serve --port 1",
            ),
            ("cargo run --bin", "--bin", ""),
        ] {
            let cargo = CargoRun::parse(&words(line)).unwrap();
            assert_eq!(cargo.options, words(options), "{line}");
            assert_eq!(cargo.arguments, words(arguments), "{line}");
        }
        for line in ["cargo", "cargo test", "cargo +nightly", "./shop run", ""] {
            assert_eq!(CargoRun::parse(&words(line)), None, "{line}");
        }
    }

    #[test]
    fn cargo_selects_among_several_programs() {
        let command = words("cargo +nightly run --release -- --fast");
        let plan = Plan {
            name: "shop".into(),
            folder: "/shop".into(),
            sources: "/shop".into(),
            url: None,
            headers: Vec::new(),
            cargo: CargoRun::parse(&command),
            command,
        };
        let files: [PathBuf; 2] = ["/target/a".into(), "/target/b".into()];
        let one = plan.built(&files[..1]);
        assert!(one.path == "/target/a" && one.is_built && one.arguments == ["--fast"]);
        let many = plan.built(&files);
        assert_eq!(many.path, "cargo");
        assert_eq!(
            many.arguments,
            words("+nightly run --quiet --release -- --fast")
        );
    }

    #[test]
    fn running_program_is_copied_beside_itself() {
        let program = std::env::temp_dir().join(format!("mcp-dev-copy-{}.exe", std::process::id()));
        std::fs::write(&program, "program").unwrap();
        let copied = copy(&program).unwrap();
        assert_eq!(copied.parent(), program.parent());
        assert_eq!(std::fs::read(&copied).unwrap(), b"program");
        std::fs::remove_file(program).unwrap();
        std::fs::remove_file(copied).unwrap();
    }
}

//! Child processes: commands that must succeed, commands with a deadline, and servers that end with
//! their handle.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::result::Result;

/// Environment variables that would redirect requests or change a program's output.
const REMOVED_VARIABLES: [&str; 10] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "RUST_LOG",
    "NODE_OPTIONS",
];

/// Runs a command, whose output goes to the terminal.
///
/// # Errors
///
/// Returns an error if the command cannot be started or fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .map_err(|error| describe(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{}: {status}", line(command)).into())
    }
}

/// Runs a command and returns its stdout.
///
/// # Errors
///
/// Returns an error with its stderr if the command fails.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .map_err(|error| describe(command, &error))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "{}: {}\n{}",
            line(command),
            output.status,
            stderr.trim_end()
        )
        .into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns true if the program can be started and succeeds with `args`.
pub(crate) fn available(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Waits for a child to end. After `limit`, kills it and returns `None`.
pub(crate) fn wait_with_deadline(
    mut child: ChildGuard,
    limit: Duration,
) -> Result<Option<ExitStatus>> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.0.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(None)
}

/// Removes the variables that a program under test must not inherit.
pub(crate) fn clean_environment(command: &mut Command) -> &mut Command {
    for name in REMOVED_VARIABLES {
        command.env_remove(name);
    }
    command
}

/// A child process that is killed when the value is dropped.
#[derive(Debug)]
pub(crate) struct ChildGuard(pub(crate) Child);

impl ChildGuard {
    pub(crate) fn spawn(command: &mut Command) -> Result<Self> {
        Ok(Self(
            command.spawn().map_err(|error| describe(command, &error))?,
        ))
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // Both fail only if the child has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server process that has printed its address on stderr.
#[derive(Debug)]
pub(crate) struct Server {
    child: ChildGuard,
    url: String,
}

impl Server {
    /// Starts the server, writes its stderr to the file `log`, and waits for the first `http://`
    /// address there.
    ///
    /// # Errors
    ///
    /// Returns an error if no address appears within `limit`.
    pub(crate) fn start(command: &mut Command, log: &Path, limit: Duration) -> Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = ChildGuard::spawn(command)?;
        let stderr = child.0.stderr.take().ok_or("the server has no stderr")?;
        let mut file = std::fs::File::create(log)?;
        let (found, url) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr)
                .lines()
                .map_while(std::io::Result::ok)
            {
                // Errors of the log and the channel are ignored: the pipe must be drained, or the
                // server blocks on it.
                let _ = writeln!(file, "{line}");
                if let Some(url) = address(&line) {
                    let _ = found.send(url);
                }
            }
        });
        match url.recv_timeout(limit) {
            Ok(url) => Ok(Self { child, url }),
            Err(_) => {
                let output = std::fs::read_to_string(log).unwrap_or_default();
                let line = line(command);
                Err(format!("{line} printed no address on stderr; its output:\n{output}").into())
            }
        }
    }

    /// Starts a server that prints no address, writes its output to the file `log`, and waits until it
    /// accepts connections at the port of `url`.
    ///
    /// # Errors
    ///
    /// Returns an error if the server ends or does not listen within `limit`.
    pub(crate) fn start_at(
        command: &mut Command,
        url: &str,
        port: u16,
        log: &Path,
        limit: Duration,
    ) -> Result<Self> {
        let file = std::fs::File::create(log)?;
        command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        let child = ChildGuard::spawn(command)?;
        let url = url.to_owned();
        let mut server = Self { child, url };
        let end = Instant::now() + limit;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if !server.is_running() || Instant::now() > end {
                let output = std::fs::read_to_string(log).unwrap_or_default();
                let line = line(command);
                return Err(format!("{line} does not listen; its output:\n{output}").into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// The address that the server printed.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.0.id()
    }

    /// Returns true if the process has not ended.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.0.try_wait(), Ok(None))
    }
}

/// Returns the first `http://` address in a line.
fn address(line: &str) -> Option<String> {
    let rest = &line[line.find("http://")?..];
    let end = rest.find(|c: char| c.is_whitespace() || c.is_control() || "\"'`,;)".contains(c));
    Some(rest[..end.unwrap_or(rest.len())].to_owned())
}

/// Returns a loopback port that is free at the moment.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Formats the command as a user would type it, without the program's folder.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let words = std::iter::once(program.file_name().unwrap_or_default()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

fn describe(command: &Command, error: &std::io::Error) -> String {
    format!("cannot run {}: {error}", line(command))
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn address_is_found_in_a_line() {
        let url = "http://127.0.0.1:8001/mcp";
        for line in [
            url.to_owned(),
            format!("listening on {url}"),
            format!("url=\"{url}\", ok"),
        ] {
            assert_eq!(address(&line).as_deref(), Some(url), "{line}");
        }
        assert_eq!(address("listening on 127.0.0.1:8001"), None);
    }
}

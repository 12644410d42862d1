//! Running other programs: a step that must succeed, a program with a deadline, a server that
//! dies with its guard.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::Result;

/// Variables that would send a client's requests elsewhere or change what a program prints.
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

/// Runs a command with the terminal's own output and demands success.
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

/// Runs a command silently and returns what it wrote to stdout.
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

/// Whether a program can be started and says yes to `args`.
pub(crate) fn available(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Waits for a child until `limit` is over; then it is killed and the answer is `None`.
pub(crate) fn wait_with_deadline(mut child: Guard, limit: Duration) -> Result<Option<ExitStatus>> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.0.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(None)
}

/// Takes away what a program under test must not inherit.
pub(crate) fn clean_environment(command: &mut Command) -> &mut Command {
    for name in REMOVED_VARIABLES {
        command.env_remove(name);
    }
    command
}

/// A child process that does not outlive this value.
#[derive(Debug)]
pub(crate) struct Guard(pub(crate) Child);

impl Guard {
    pub(crate) fn spawn(command: &mut Command) -> Result<Self> {
        Ok(Self(
            command.spawn().map_err(|error| describe(command, &error))?,
        ))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Both fail only when the child has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that was started here and has said on stderr where it listens.
#[derive(Debug)]
pub(crate) struct Server {
    guard: Guard,
    url: String,
}

impl Server {
    /// Starts the server and waits for the first `http://` address on its stderr, which is kept in
    /// `log`.
    pub(crate) fn start(command: &mut Command, log: &Path, limit: Duration) -> Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut guard = Guard::spawn(command)?;
        let stderr = guard.0.stderr.take().ok_or("the server has no stderr")?;
        let mut file = std::fs::File::create(log)?;
        let (found, url) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr)
                .lines()
                .map_while(std::io::Result::ok)
            {
                // A log that cannot be written and a starter that has gone are no reason to stop
                // draining the pipe: the server would block on it.
                let _ = writeln!(file, "{line}");
                if let Some(url) = address(&line) {
                    let _ = found.send(url);
                }
            }
        });
        match url.recv_timeout(limit) {
            Ok(url) => Ok(Self { guard, url }),
            Err(_) => {
                let said = std::fs::read_to_string(log).unwrap_or_default();
                let line = line(command);
                Err(format!("{line} did not print its address on stderr; it said:\n{said}").into())
            }
        }
    }

    /// The address the server printed.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.guard.0.id()
    }

    /// Whether the process is still there.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.guard.0.try_wait(), Ok(None))
    }
}

/// The first `http://` address in a line.
fn address(line: &str) -> Option<String> {
    let rest = &line[line.find("http://")?..];
    let end = rest.find(|c: char| c.is_whitespace() || c.is_control() || "\"'`,;)".contains(c));
    Some(rest[..end.unwrap_or(rest.len())].to_owned())
}

/// A loopback port that was free a moment ago.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The command as one would type it, without the folder of the program.
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
    fn finds_the_address_in_a_line() {
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

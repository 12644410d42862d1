//! `bench-limit` sends the same responses as `bench-server`, so that both do the same work.

#![allow(missing_docs, clippy::unwrap_used, reason = "test code")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;

use bench::era::{self, Era};
use bench::scenario::Scenario;

const LIMIT: &str = env!("CARGO_BIN_EXE_bench-limit");
const SERVER: &str = env!("CARGO_BIN_EXE_bench-server");

/// A running server process, killed on drop.
struct ServerProcess {
    child: Child,
    port: u16,
}

impl ServerProcess {
    fn start(program: &str, flags: &[&str]) -> Self {
        let mut command = Command::new(program);
        let command = command.args(["http", "0"]).args(flags);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        // Read further output, so that a full pipe does not block the process.
        thread::spawn(move || stderr.read_to_end(&mut Vec::new()));
        let (_, address) = line.split_once("127.0.0.1:").unwrap();
        let port = address.trim_end().trim_end_matches(bench::PATH);
        Self {
            child,
            port: port.parse().unwrap(),
        }
    }

    /// Sends a request and returns the lines of the response head, and the body.
    fn send(&self, request: &[u8]) -> (Vec<String>, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request).unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let length = value(&head, "content-length").unwrap().parse().unwrap();
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        (head, String::from_utf8(body).unwrap())
    }

    /// Returns the response to a call, and in sessions also that to `initialize`, without values that
    /// differ in every run.
    fn responses(&self, era: Era) -> Vec<(Vec<String>, String)> {
        let mut responses = Vec::new();
        let mut session = None;
        if era == Era::Session {
            let opened = self.send(&era::post(self.port, "", &era::initialize()));
            session = value(&opened.0, "mcp-session-id").map(str::to_owned);
            responses.push(opened);
        }
        let mut call = Scenario::Call.request(self.port, era, session.as_deref());
        responses.push(self.send(call.prepare().0));
        for (head, _) in &mut responses {
            head.retain(|line| !line.starts_with("date: "));
            for line in &mut *head {
                if let Some(id) = line.strip_prefix("mcp-session-id: ") {
                    assert_eq!(Some(id), session.as_deref());
                    *line = format!("a session id of {} bytes", id.len());
                }
            }
            head.sort();
        }
        responses
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Returns the value of a header.
fn value<'h>(head: &'h [String], name: &str) -> Option<&'h str> {
    let mut lines = head.iter().filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[test]
fn limit_sends_same_responses_as_server() {
    let cases: [(Era, &[&str], &[&str]); 4] = [
        (Era::Modern, &[], &[]),
        (Era::Session, &[], &[]),
        (Era::Session, &["--sse"], &["--sse"]),
        (Era::Stateless, &[], &["--stateless"]),
    ];
    for (era, limit, server) in cases {
        let limit = ServerProcess::start(LIMIT, limit);
        let server = ServerProcess::start(SERVER, server);
        assert_eq!(limit.responses(era), server.responses(era), "{era:?}");
    }
}

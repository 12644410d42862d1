//! The limit is a limit of the same work: it gives the very answers that the measured server gives.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "what goes wrong here is a failed test"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;

use bench::era::{self, Era};
use bench::scenario::Scenario;

const LIMIT: &str = env!("CARGO_BIN_EXE_bench-limit");
const SERVER: &str = env!("CARGO_BIN_EXE_bench-server");

/// A program that serves, until this is dropped.
struct Serving {
    child: Child,
    port: u16,
}

impl Serving {
    fn start(program: &str, flags: &[&str]) -> Self {
        let mut command = Command::new(program);
        let command = command.args(["http", "0"]).args(flags);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        // Nobody may be stopped by what it tells later.
        thread::spawn(move || told.read_to_end(&mut Vec::new()));
        let (_, address) = line.split_once("127.0.0.1:").unwrap();
        let port = address.trim_end().trim_end_matches(bench::PATH);
        Self {
            child,
            port: port.parse().unwrap(),
        }
    }

    /// What it answers: the lines of the head, and the body.
    fn answer(&self, request: &[u8]) -> (Vec<String>, String) {
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

    /// Its answer to a call, and the one to `initialize` before it where there are sessions. What
    /// is made anew each time is left out.
    fn answers(&self, era: Era) -> Vec<(Vec<String>, String)> {
        let mut answers = Vec::new();
        let mut session = None;
        if era == Era::Session {
            let opened = self.answer(&era::post(self.port, "", &era::initialize()));
            session = value(&opened.0, "mcp-session-id").map(str::to_owned);
            answers.push(opened);
        }
        let mut call = Scenario::Call.request(self.port, era, session.as_deref());
        answers.push(self.answer(call.prepare().0));
        for (head, _) in &mut answers {
            head.retain(|line| !line.starts_with("date: "));
            for line in &mut *head {
                if let Some(id) = line.strip_prefix("mcp-session-id: ") {
                    assert_eq!(Some(id), session.as_deref());
                    *line = format!("a session's id of {} bytes", id.len());
                }
            }
            head.sort();
        }
        answers
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn value<'h>(head: &'h [String], name: &str) -> Option<&'h str> {
    let mut lines = head.iter().filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[test]
fn the_limit_answers_as_the_server_does() {
    let cases: [(Era, &[&str], &[&str]); 4] = [
        (Era::Modern, &[], &[]),
        (Era::Session, &[], &[]),
        (Era::Session, &["--sse"], &["--sse"]),
        (Era::Stateless, &[], &["--stateless"]),
    ];
    for (era, limit, server) in cases {
        let limit = Serving::start(LIMIT, limit);
        let server = Serving::start(SERVER, server);
        assert_eq!(limit.answers(era), server.answers(era), "{era:?}");
    }
}

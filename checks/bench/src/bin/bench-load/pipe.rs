//! Calls to a child process over its pipes, with a constant number of outstanding calls.

use std::collections::HashMap;
use std::io;
use std::process::Stdio;
use std::time::Instant;

use bench::era::{self, Era};
use bench::scenario::{Checker, Request, Scenario};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::outcome::Outcome;
use crate::response::invalid;

pub(crate) async fn drive(
    command: &[String],
    era: Era,
    outstanding: usize,
    end: Instant,
) -> Outcome {
    let mut outcome = Outcome::default();
    let done = match Pipes::start(command, era).await {
        Ok(mut pipes) => pipes.call(era, outstanding, end, &mut outcome).await,
        Err(error) => Err(error),
    };
    if let Err(error) = done {
        outcome.errors += 1;
        outcome.last_error = Some(error.to_string());
    }
    outcome
}

struct Pipes {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Pipes {
    async fn start(command: &[String], era: Era) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(invalid("COMMAND is missing"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = child
            .stdin
            .take()
            .ok_or(invalid("the process has no standard input"))?;
        let output = child
            .stdout
            .take()
            .ok_or(invalid("the process has no standard output"))?;
        let output = BufReader::with_capacity(64 * 1024, output).lines();
        let mut pipes = Self {
            input,
            output,
            _child: child,
        };
        if era == Era::Session {
            pipes.initialize().await?;
        }
        Ok(pipes)
    }

    async fn initialize(&mut self) -> io::Result<()> {
        let first = format!("{}\n", era::initialize());
        self.input.write_all(first.as_bytes()).await?;
        let response = self.next().await?;
        if !response.contains("protocolVersion") {
            return Err(invalid(&response));
        }
        let notification = format!("{}\n", era::INITIALIZED);
        self.input.write_all(notification.as_bytes()).await
    }

    async fn next(&mut self) -> io::Result<String> {
        let line = self.output.next_line().await?;
        line.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Keeps `outstanding` calls pending until `end`; each response triggers a new call.
    async fn call(
        &mut self,
        era: Era,
        outstanding: usize,
        end: Instant,
        outcome: &mut Outcome,
    ) -> io::Result<()> {
        let mut request = Scenario::Call.line(era);
        let mut checker = Scenario::Call.checker(era);
        let mut pending = HashMap::new();
        let mut batch = Vec::new();
        for _ in 0..outstanding.max(1) {
            queue_call(&mut request, &mut batch, &mut pending);
        }
        while !pending.is_empty() {
            self.input.write_all(&batch).await?;
            batch.clear();
            // Read all buffered responses, then send the next calls in one write.
            let mut line = self.next().await?;
            loop {
                handle_response(&line, &mut pending, &mut checker, outcome)?;
                if Instant::now() < end {
                    queue_call(&mut request, &mut batch, &mut pending);
                }
                if !self.output.get_ref().buffer().contains(&b'\n') {
                    break;
                }
                line = self.next().await?;
            }
        }
        Ok(())
    }
}

fn queue_call(request: &mut Request, batch: &mut Vec<u8>, pending: &mut HashMap<u32, Instant>) {
    let (bytes, id) = request.prepare();
    batch.extend_from_slice(bytes);
    pending.insert(id, Instant::now());
}

fn handle_response(
    line: &str,
    pending: &mut HashMap<u32, Instant>,
    checker: &mut Checker,
    outcome: &mut Outcome,
) -> io::Result<()> {
    let digits = line.split_once("\"id\":").map(|(_, rest)| rest);
    let digits = digits.and_then(|rest| rest.get(..7)?.parse().ok());
    let sent = digits.and_then(|id| Some((id, pending.remove(&id)?)));
    match sent {
        Some((id, sent)) if checker.accepts(line.as_bytes(), id) => {
            outcome.record(sent, line.len());
            Ok(())
        }
        _ => Err(invalid(&format!("unexpected response: {line}"))),
    }
}

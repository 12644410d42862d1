//! A child process that is called over its pipes, with some calls outstanding at all times.

use std::collections::HashMap;
use std::io;
use std::process::Stdio;
use std::time::Instant;

use bench::era::{self, Era};
use bench::scenario::{Checker, Request, Scenario};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::Outcome;
use crate::answer::invalid;

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
        let (program, arguments) = command.split_first().ok_or(invalid("no COMMAND"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = child.stdin.take().ok_or(invalid("no input"))?;
        let output = child.stdout.take().ok_or(invalid("no output"))?;
        let output = BufReader::with_capacity(64 * 1024, output).lines();
        let mut pipes = Self {
            input,
            output,
            _child: child,
        };
        if era == Era::Session {
            pipes.shake_hands().await?;
        }
        Ok(pipes)
    }

    async fn shake_hands(&mut self) -> io::Result<()> {
        let first = format!("{}\n", era::initialize());
        self.input.write_all(first.as_bytes()).await?;
        let answer = self.next().await?;
        if !answer.contains("protocolVersion") {
            return Err(invalid(&answer));
        }
        let note = format!("{}\n", era::INITIALIZED);
        self.input.write_all(note.as_bytes()).await
    }

    async fn next(&mut self) -> io::Result<String> {
        let line = self.output.next_line().await?;
        line.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Keeps `outstanding` calls waiting; a new one goes out for each answer.
    async fn call(
        &mut self,
        era: Era,
        outstanding: usize,
        end: Instant,
        outcome: &mut Outcome,
    ) -> io::Result<()> {
        let mut request = Scenario::Call.line(era);
        let mut checker = Scenario::Call.checker(era);
        let mut waiting = HashMap::new();
        let mut batch = Vec::new();
        for _ in 0..outstanding.max(1) {
            add(&mut request, &mut batch, &mut waiting);
        }
        while !waiting.is_empty() {
            self.input.write_all(&batch).await?;
            batch.clear();
            // All lines that are there already, then the next calls in one go.
            let mut line = self.next().await?;
            loop {
                take(&line, &mut waiting, &mut checker, outcome)?;
                if Instant::now() < end {
                    add(&mut request, &mut batch, &mut waiting);
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

fn add(request: &mut Request, batch: &mut Vec<u8>, waiting: &mut HashMap<u32, Instant>) {
    let (bytes, id) = request.prepare();
    batch.extend_from_slice(bytes);
    waiting.insert(id, Instant::now());
}

fn take(
    line: &str,
    waiting: &mut HashMap<u32, Instant>,
    checker: &mut Checker,
    outcome: &mut Outcome,
) -> io::Result<()> {
    let digits = line.split_once("\"id\":").map(|(_, rest)| rest);
    let digits = digits.and_then(|rest| rest.get(..7)?.parse().ok());
    let sent = digits.and_then(|id| Some((id, waiting.remove(&id)?)));
    match sent {
        Some((id, sent)) if checker.accepts(line.as_bytes(), id) => {
            outcome.right(sent, line.len());
            Ok(())
        }
        _ => Err(invalid(&format!("wrong answer: {line}"))),
    }
}

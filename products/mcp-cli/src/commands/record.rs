//! `mcp record`: a session between a client and a server as a JSONL file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::lines;
use crate::cli::RecordArgs;
use crate::config;
use crate::failure::Failure;
use crate::output::Output;
use crate::session_file::{self, Side};
use crate::target::{self, Server};
use crate::written;

/// Largest number of messages that wait to be written.
const QUEUE: usize = 256;

pub(super) async fn run(args: &RecordArgs, output: &Output) -> Result<(), Failure> {
    let server = target::resolve_only(&args.target, output).await?;
    let path = &args.output;
    let failed = |error: io::Error| Failure::unwritable(path, &error);
    let target = match &server {
        Server::Http(remote) => config::public_url(&remote.url),
        Server::Command(_) => "a command".to_owned(),
    };
    let file = Writer::create(path, &target, args.max_bytes).map_err(failed)?;
    let relay = server.relay()?;
    let (sender, receiver) = mpsc::channel(QUEUE);
    let note = *output;
    let writing = tokio::task::spawn_blocking(move || file.write_all(receiver, &note));
    let start = Instant::now();
    let from_client = sender.clone();
    let input = lines::input().then(move |message| {
        let sender = from_client.clone();
        async move {
            if let Ok(message) = &message {
                keep(&sender, start, Side::Client, message).await;
            }
            message
        }
    });
    let to_client = lines::output().with(move |message: Bytes| {
        let sender = sender.clone();
        async move {
            keep(&sender, start, Side::Server, &message).await;
            Ok::<_, io::Error>(message)
        }
    });
    let done = relay.run(input, to_client).await;
    // The streams with the senders are gone, so the writer ends.
    let written = writing.await.map_err(io::Error::other).flatten();
    done?;
    written.map_err(failed)
}

/// A message of the recording.
struct Recorded {
    milliseconds: u64,
    side: Side,
    message: Bytes,
}

/// Queues a message. The session waits while the queue is full, and continues when the file is full.
async fn keep(sender: &mpsc::Sender<Recorded>, start: Instant, side: Side, message: &Bytes) {
    let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let message = message.clone();
    let entry = Recorded {
        milliseconds,
        side,
        message,
    };
    // The writer is gone when the file is full or cannot be written.
    let _ = sender.send(entry).await;
}

/// The file of a recording.
struct Writer {
    file: BufWriter<File>,
    left: u64,
}

impl Writer {
    /// Creates the file, which only the user can read, and writes its first line. A file is replaced,
    /// because its mode could let others read the session.
    ///
    /// # Errors
    ///
    /// Returns an error for a symbolic link, and for one in a path of the project: it could lead to a file of somebody else.
    fn create(path: &Path, target: &str, max_bytes: u64) -> io::Result<Self> {
        let mut options = File::options();
        options.write(true);
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => {
                return Err(io::Error::other(
                    "it is a symbolic link; pass the path of the file itself",
                ));
            }
            // A pipe or a device.
            Ok(found) if !found.is_file() => {}
            found => {
                written::destination(path)?;
                if found.is_ok() {
                    fs::remove_file(path)?;
                }
                options.create_new(true);
            }
        }
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut writer = Self {
            file: BufWriter::new(options.open(path)?),
            left: max_bytes,
        };
        writer.line(&session_file::header(target))?;
        Ok(writer)
    }

    /// Writes messages until the session ends, or the limit is reached.
    fn write_all(
        mut self,
        mut entries: mpsc::Receiver<Recorded>,
        output: &Output,
    ) -> io::Result<()> {
        while let Some(entry) = entries.blocking_recv() {
            // Only JSON is part of a session.
            let Ok(message) = serde_json::from_slice::<&RawValue>(&entry.message) else {
                continue;
            };
            let line = session_file::line(entry.milliseconds, entry.side, message.get());
            if !self.line(&line)? {
                output.note("the recording is full; raise --max-bytes. The session continues");
                return Ok(());
            }
        }
        Ok(())
    }

    /// Writes a line. Returns false if the limit is reached.
    fn line(&mut self, line: &str) -> io::Result<bool> {
        let bytes = line.len() as u64 + 1;
        if bytes > self.left {
            return Ok(false);
        }
        self.left -= bytes;
        writeln!(self.file, "{line}")?;
        // A program that is killed leaves whole lines.
        self.file.flush()?;
        Ok(true)
    }
}

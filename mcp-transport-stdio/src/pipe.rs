//! One task that reads lines and one that writes them. Neither runs code of a user.

use std::io;
use std::sync::Arc;

use bytes::BufMut;
use mcp_core::BoxFuture;
use mcp_core::lines::{Line, Lines};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::outbox::Outbox;

/// How much is read at once.
const READ: usize = 64 * 1024;
/// With less room than this, the buffer grows.
const LEAST_ROOM: usize = 4 * 1024;
/// How many bytes wait to be written before senders do.
const OUTBOX: usize = 256 * 1024;
/// A writer keeps a buffer of this size; a larger one is given back.
const KEEP: usize = 1024 * 1024;

/// The lines of one read: bounded by its size and by the longest line.
pub(crate) type Batch = Vec<Line>;

/// The two directions of a connection, each with its task. Dropping it ends both.
#[derive(Debug)]
pub(crate) struct Pipe {
    /// What comes in; one batch waits at the most.
    pub(crate) incoming: mpsc::Receiver<Batch>,
    pub(crate) outbox: Arc<Outbox>,
    /// Ends with the stream that is read.
    pub(crate) reader: Task,
    /// Ends with the outbox, or when nothing can be written any more.
    pub(crate) writer: Task,
}

/// A task that ends when its handle is dropped.
#[derive(Debug)]
pub(crate) struct Task(JoinHandle<io::Result<()>>);

impl Task {
    pub(crate) fn spawn(future: impl Future<Output = io::Result<()>> + Send + 'static) -> Self {
        Self::of(Box::pin(future))
    }

    /// Of one type of futures, so that a program has the code of one kind of task, and not of each.
    fn of(future: BoxFuture<'static, io::Result<()>>) -> Self {
        Self(tokio::spawn(future))
    }

    /// Waits for its end. Not to be called again after that.
    pub(crate) async fn ended(&mut self) -> io::Result<()> {
        // These tasks do not panic (calls are caught); if one did, its pipe would be broken.
        (&mut self.0)
            .await
            .unwrap_or_else(|error| Err(error.into()))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Pipe {
    /// Begins to read and to write. Lines have `line_limit` bytes at the most.
    pub(crate) fn open(
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
        line_limit: usize,
    ) -> Self {
        let (batches, incoming) = mpsc::channel(1);
        let outbox = Arc::new(Outbox::new(OUTBOX));
        Self {
            incoming,
            reader: Task::spawn(read(reader, line_limit, batches)),
            writer: Task::spawn(write(writer, outbox.clone())),
            outbox,
        }
    }
}

async fn read(from: impl AsyncRead, line_limit: usize, to: mpsc::Sender<Batch>) -> io::Result<()> {
    let mut from = std::pin::pin!(from);
    let mut lines = Lines::new(line_limit);
    loop {
        let buffer = lines.buffer();
        if buffer.capacity() - buffer.len() < LEAST_ROOM {
            buffer.reserve(READ);
        }
        let count = from.read_buf(&mut buffer.limit(READ)).await?;
        let mut batch: Batch = std::iter::from_fn(|| lines.next_line()).collect();
        if count == 0 {
            batch.extend(lines.finish());
        }
        if !batch.is_empty() && to.send(batch).await.is_err() || count == 0 {
            return Ok(());
        }
    }
}

/// Writes all that there is, and flushes once.
async fn write(to: impl AsyncWrite, outbox: Arc<Outbox>) -> io::Result<()> {
    let _end = BreakOff(&outbox);
    let mut to = std::pin::pin!(to);
    let mut bytes = Vec::new();
    while outbox.take(&mut bytes).await {
        to.write_all(&bytes).await?;
        to.flush().await?;
        bytes.clear();
        if bytes.capacity() > KEEP {
            bytes = Vec::new();
        }
    }
    to.shutdown().await
}

/// However the writer ends: nobody waits for it any more.
struct BreakOff<'a>(&'a Outbox);

impl Drop for BreakOff<'_> {
    fn drop(&mut self) {
        self.0.break_off();
    }
}

/// The beginning of a line, for the log.
pub(crate) fn excerpt(line: &[u8]) -> String {
    const LENGTH: usize = 120;
    String::from_utf8_lossy(line.get(..LENGTH).unwrap_or(line)).into_owned()
}

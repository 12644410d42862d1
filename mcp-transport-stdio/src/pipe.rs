//! The reader task and the writer task of a pipe. Neither runs user code.

use std::io;
use std::sync::Arc;

use bytes::BufMut;
use mcp_core::lines::{Line, Lines};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::write_queue::WriteQueue;

/// Largest size of one read in bytes.
const READ_SIZE: usize = 64 * 1024;
/// The read buffer grows when it has less space than this.
const MIN_READ_SPACE: usize = 4 * 1024;
/// Bytes in the write queue at which senders wait.
const WRITE_QUEUE_LIMIT: usize = 256 * 1024;
/// The writer frees a buffer that is larger than this.
const MAX_KEPT_BUFFER: usize = 1024 * 1024;

/// The lines of one read, bounded by the read size and by the line limit.
pub(crate) type Batch = Vec<Line>;

/// Both directions of a pipe, each with its task. Dropping it aborts both tasks.
#[derive(Debug)]
pub(crate) struct Pipe {
    /// Received lines. The channel holds one batch.
    pub(crate) incoming: mpsc::Receiver<Batch>,
    pub(crate) write_queue: Arc<WriteQueue>,
    /// Ends when the input ends.
    pub(crate) reader: Task,
    /// Ends when the write queue is closed and empty, or when a write fails.
    pub(crate) writer: Task,
}

/// A task that is aborted when the handle is dropped.
#[derive(Debug)]
pub(crate) struct Task(JoinHandle<io::Result<()>>);

impl Task {
    pub(crate) fn spawn(future: impl Future<Output = io::Result<()>> + Send + 'static) -> Self {
        Self(tokio::spawn(future))
    }

    /// Waits for the end of the task. Must not be called again after it has returned.
    pub(crate) async fn ended(&mut self) -> io::Result<()> {
        // These tasks do not panic, because panics of handlers are caught. If one did, the pipe
        // would count as broken.
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
    /// Spawns the reader and the writer. Longer lines than `line_limit` bytes are reported as too
    /// long.
    pub(crate) fn open(
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
        line_limit: usize,
    ) -> Self {
        let (batches, incoming) = mpsc::channel(1);
        let write_queue = Arc::new(WriteQueue::new(WRITE_QUEUE_LIMIT));
        Self {
            incoming,
            reader: Task::spawn(read(reader, line_limit, batches)),
            writer: Task::spawn(write(writer, write_queue.clone())),
            write_queue,
        }
    }
}

async fn read(from: impl AsyncRead, line_limit: usize, to: mpsc::Sender<Batch>) -> io::Result<()> {
    let mut from = std::pin::pin!(from);
    let mut lines = Lines::new(line_limit);
    loop {
        let buffer = lines.buffer();
        if buffer.capacity() - buffer.len() < MIN_READ_SPACE {
            buffer.reserve(READ_SIZE);
        }
        let count = from.read_buf(&mut buffer.limit(READ_SIZE)).await?;
        let mut batch: Batch = std::iter::from_fn(|| lines.next_line()).collect();
        if count == 0 {
            batch.extend(lines.finish());
        }
        if !batch.is_empty() && to.send(batch).await.is_err() || count == 0 {
            return Ok(());
        }
    }
}

/// Writes all queued messages at once and flushes after each batch.
async fn write(to: impl AsyncWrite, queue: Arc<WriteQueue>) -> io::Result<()> {
    let _abort = AbortOnDrop(&queue);
    let mut to = std::pin::pin!(to);
    let mut bytes = Vec::new();
    while queue.next_batch(&mut bytes).await {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match to.write(rest).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => rest = rest.get(written..).unwrap_or_default(),
            }
            queue.record_write();
        }
        to.flush().await?;
        bytes.clear();
        if bytes.capacity() > MAX_KEPT_BUFFER {
            bytes = Vec::new();
        }
    }
    to.shutdown().await
}

/// Aborts the queue when the writer ends for any reason, so that no sender waits for it.
struct AbortOnDrop<'a>(&'a WriteQueue);

impl Drop for AbortOnDrop<'_> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Returns the beginning of a line for logs.
pub(crate) fn excerpt(line: &[u8]) -> String {
    const LENGTH: usize = 120;
    String::from_utf8_lossy(line.get(..LENGTH).unwrap_or(line)).into_owned()
}

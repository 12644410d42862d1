//! The reader task and the writer task of a pipe: over byte streams, or over a message transport. Neither
//! runs user code other than the streams or the transport.

use std::error::Error;
use std::io;
use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::lines::{self, Line, Lines};
use crate::message_transport::MessageTransport;
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

/// The outcome of one direction: the error comes from the byte stream or from the transport.
pub(crate) type Ended = Result<(), Box<dyn Error + Send + Sync>>;

/// Both directions of a pipe or of a transport, each with its task. Dropping it aborts both tasks.
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
pub(crate) struct Task(JoinHandle<Ended>);

impl Task {
    pub(crate) fn spawn(future: impl Future<Output = Ended> + Send + 'static) -> Self {
        Self(tokio::spawn(future))
    }

    /// Waits for the end of the task. Must not be called again after it has returned.
    pub(crate) async fn ended(&mut self) -> Ended {
        // Handler panics are caught. If a stream or a transport panics, the pipe counts as broken.
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

    /// Spawns the reader and the writer of a transport. Longer messages than `limit` bytes are reported as
    /// too long.
    pub(crate) fn over_messages(transport: impl MessageTransport, limit: usize) -> Self {
        let (batches, incoming) = mpsc::channel(1);
        let write_queue = Arc::new(WriteQueue::new(WRITE_QUEUE_LIMIT));
        let transport = Arc::new(transport);
        Self {
            incoming,
            reader: Task::spawn(receive(transport.clone(), limit, batches)),
            writer: Task::spawn(send(transport, write_queue.clone())),
            write_queue,
        }
    }
}

/// Passes on the messages of a transport. Each `receive` is polled until it is ready.
async fn receive(from: Arc<impl MessageTransport>, limit: usize, to: mpsc::Sender<Batch>) -> Ended {
    while let Some(message) = from.receive().await.map_err(Into::into)? {
        let line = if message.len() > limit {
            lines::too_long(&message)
        } else {
            Line::Text(message)
        };
        if to.send(vec![line]).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Sends all queued messages one by one, and closes the transport at the end of the queue.
async fn send(to: Arc<impl MessageTransport>, queue: Arc<WriteQueue>) -> Ended {
    let _abort = AbortOnDrop(&queue);
    let mut queued = Vec::new();
    while queue.next_batch(&mut queued).await {
        // Encoded messages contain no line feed.
        let mut rest = Bytes::from(std::mem::take(&mut queued));
        while let Some(end) = memchr::memchr(b'\n', &rest) {
            let message = rest.split_to(end);
            rest.advance(1);
            if !message.is_empty() {
                to.send(message).await.map_err(Into::into)?;
                queue.record_write();
            }
        }
    }
    to.close().await.map_err(Into::into)
}

async fn read(from: impl AsyncRead, line_limit: usize, to: mpsc::Sender<Batch>) -> Ended {
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
async fn write(to: impl AsyncWrite, queue: Arc<WriteQueue>) -> Ended {
    let _abort = AbortOnDrop(&queue);
    let mut to = std::pin::pin!(to);
    let mut bytes = Vec::new();
    while queue.next_batch(&mut bytes).await {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match to.write(rest).await? {
                0 => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
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
    Ok(to.shutdown().await?)
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

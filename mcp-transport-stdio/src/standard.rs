//! This process's standard streams, reserved for the protocol.
//!
//! The client would read everything that a handler or a library prints as a message. A program that
//! a handler starts would read messages of the client from its standard input. Therefore the streams
//! are duplicated to other file descriptors. Standard output is then redirected to standard error,
//! and standard input to `/dev/null`. When the host closes standard error, both outputs are redirected to
//! `/dev/null`: `println!` and `eprintln!` panic when nobody can read them.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_core::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

/// The duplicated streams.
pub(crate) struct Streams {
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
    /// Resolves when the reader of the output has closed its end. Pending forever where the
    /// operating system does not report that.
    pub(crate) hung_up: BoxFuture<'static, ()>,
}

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes the streams. Other code of the process no longer reaches them.
///
/// # Errors
///
/// Returns an error when the streams are taken already, or cannot be duplicated.
pub(crate) fn take() -> io::Result<Streams> {
    if TAKEN.swap(true, Ordering::SeqCst) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "a server uses the standard streams of this process already",
        ));
    }
    system::take()
}

#[cfg(unix)]
mod system {
    use std::fs::{File, FileType, OpenOptions};
    use std::future::pending;
    use std::io::{self, Write};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::FileTypeExt;
    use std::os::unix::net::UnixStream as StdUnixStream;
    use std::thread;

    use mcp_core::BoxFuture;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::{fcntl_dupfd_cloexec, retry_on_intr};
    use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stderr, stdin, stdout};
    use tokio::io::Interest;
    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    use super::{Reader, Streams, Writer};

    /// The lowest file descriptor after the three standard streams.
    const FIRST_FREE: i32 = 3;

    pub(super) fn take() -> io::Result<Streams> {
        // Earlier output must not end up in the middle of a message.
        io::stdout().flush()?;
        let input = fcntl_dupfd_cloexec(stdin(), FIRST_FREE)?;
        let output = fcntl_dupfd_cloexec(stdout(), FIRST_FREE)?;
        dup2_stdin(File::open("/dev/null")?.as_fd())?;
        // spec: STDIO-03
        dup2_stdout(stderr())?;
        discard_unread_output();
        Ok(Streams {
            reader: reader(input)?,
            hung_up: hung_up(&output)?,
            writer: writer(output)?,
        })
    }

    /// Redirects the program's output once nobody reads standard error. A thread waits for that: the stream may be
    /// shared with other processes, so it cannot become non-blocking for a runtime.
    fn discard_unread_output() {
        // The first call may print before the thread has looked at the stream.
        let at_once = Timespec::default();
        if let Ok(false) = discard_output_within(Some(&at_once)) {
            let waiting = thread::Builder::new().name("mcp-stderr".to_owned());
            // Without the thread or the redirection, the program may panic when it prints.
            let _ = waiting.spawn(|| discard_output_within(None));
        }
    }

    /// Redirects the program's output if nobody reads standard error within a time. Returns whether it did.
    fn discard_output_within(limit: Option<&Timespec>) -> io::Result<bool> {
        // Polling always reports errors and the end of the reader.
        let ended =
            retry_on_intr(|| poll(&mut [PollFd::new(&stderr(), PollFlags::empty())], limit));
        if ended? == 0 {
            return Ok(false);
        }
        let null = OpenOptions::new().write(true).open("/dev/null")?;
        dup2_stderr(&null)?;
        dup2_stdout(&null)?;
        Ok(true)
    }

    /// Waits until the reader of a pipe is gone, for example because the client was killed.
    fn hung_up(output: &OwnedFd) -> io::Result<BoxFuture<'static, ()>> {
        if !file_type(output)?.is_fifo() {
            return Ok(Box::pin(pending()));
        }
        let pipe = pipe::Sender::from_owned_fd(output.try_clone()?)?;
        Ok(Box::pin(async move {
            if pipe.ready(Interest::ERROR).await.is_err() {
                pending().await
            }
        }))
    }

    /// Opens pipes and sockets (which some launchers use) for asynchronous IO. Files and terminals
    /// need blocking threads.
    fn reader(input: OwnedFd) -> io::Result<Reader> {
        Ok(match file_type(&input)? {
            kind if kind.is_fifo() => Box::new(pipe::Receiver::from_owned_fd(input)?),
            kind if kind.is_socket() => Box::new(socket(input)?),
            _ => Box::new(tokio::fs::File::from_std(input.into())),
        })
    }

    fn writer(output: OwnedFd) -> io::Result<Writer> {
        Ok(match file_type(&output)? {
            kind if kind.is_fifo() => Box::new(pipe::Sender::from_owned_fd(output)?),
            kind if kind.is_socket() => Box::new(socket(output)?),
            _ => Box::new(tokio::fs::File::from_std(output.into())),
        })
    }

    fn file_type(stream: &OwnedFd) -> io::Result<FileType> {
        Ok(File::from(stream.try_clone()?).metadata()?.file_type())
    }

    fn socket(stream: OwnedFd) -> io::Result<UnixStream> {
        let stream = StdUnixStream::from(stream);
        stream.set_nonblocking(true)?;
        UnixStream::from_std(stream)
    }
}

/// Other systems have no safe way to redirect a stream, so the program must not print.
#[cfg(not(unix))]
mod system {
    use std::io;

    use super::Streams;

    pub(super) fn take() -> io::Result<Streams> {
        Ok(Streams {
            reader: Box::new(tokio::io::stdin()),
            writer: Box::new(tokio::io::stdout()),
            hung_up: Box::pin(std::future::pending()),
        })
    }
}

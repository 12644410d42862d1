//! The standard streams of this process, taken for the protocol alone.
//!
//! What a handler, or a library below it, prints would be read by the client as a message; what a
//! program started by a handler reads from its input would be missing. So the streams of the
//! protocol are moved aside, where nothing else finds them: standard output is the standard error
//! from then on, standard input is empty.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_core::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

/// The streams of the protocol.
pub(crate) struct Streams {
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
    /// Ends when nobody can read what is written any more, where the system tells.
    pub(crate) hung_up: BoxFuture<'static, ()>,
}

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes the streams; once in the life of a process. With `guard` nothing else of the process
/// reaches them any more.
// spec: STDIO-03
pub(crate) fn take(guard: bool) -> io::Result<Streams> {
    if TAKEN.swap(true, Ordering::SeqCst) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "the standard streams of this process are taken by a server already",
        ));
    }
    system::take(guard)
}

#[cfg(unix)]
mod system {
    use std::fs::{File, FileType};
    use std::future::pending;
    use std::io::{self, Write};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::FileTypeExt;
    use std::os::unix::net::UnixStream as StdUnixStream;

    use mcp_core::BoxFuture;
    use rustix::io::fcntl_dupfd_cloexec;
    use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};
    use tokio::io::Interest;
    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    use super::{Reader, Streams, Writer};

    /// The first number that is none of a standard stream.
    const ASIDE: i32 = 3;

    pub(super) fn take(guard: bool) -> io::Result<Streams> {
        // What was printed before belongs to whoever reads the stream, too, but whole.
        io::stdout().flush()?;
        let input = fcntl_dupfd_cloexec(stdin(), ASIDE)?;
        let output = fcntl_dupfd_cloexec(stdout(), ASIDE)?;
        if guard {
            dup2_stdin(File::open("/dev/null")?.as_fd())?;
            dup2_stdout(stderr())?;
        }
        Ok(Streams {
            reader: reader(input)?,
            hung_up: hung_up(&output)?,
            writer: writer(output)?,
        })
    }

    /// A pipe whose reader is gone: a client that was killed leaves nobody whom to answer.
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

    /// Pipes and sockets (some launchers use those) wait without a thread; files and terminals
    /// cannot.
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

/// Elsewhere there is no safe way to move a stream aside: printing is up to the program.
#[cfg(not(unix))]
mod system {
    use std::io;

    use super::Streams;

    pub(super) fn take(_: bool) -> io::Result<Streams> {
        Ok(Streams {
            reader: Box::new(tokio::io::stdin()),
            writer: Box::new(tokio::io::stdout()),
            hung_up: Box::pin(std::future::pending()),
        })
    }
}

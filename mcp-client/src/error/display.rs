//! Messages and sources of [`Error`].

use std::error::Error as StdError;
use std::fmt::{self, Write as _};

use mcp_core::ChannelError;
use mcp_types::escape_block;

use super::{CallContext, Error, ErrorInner, ErrorKind};

/// Shows the call and the cause, with hidden characters escaped and further lines indented. The cause itself,
/// such as the error of a host's own transport or HTTP service, is returned by [`source`](StdError::source).
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&indented(&self.inner.message("")?))
    }
}

impl Error {
    /// Returns the message without the name of `server`, for texts that name it already.
    pub(crate) fn message_at(&self, server: &str) -> String {
        let message = self.inner.message(server);
        indented(&message.unwrap_or_default())
    }
}

impl ErrorInner {
    /// Returns the message. It does not repeat the server `known`'s name.
    fn message(&self, known: &str) -> Result<String, fmt::Error> {
        let mut f = String::new();
        let mut known = known;
        if let Some(CallContext {
            server,
            method,
            item,
        }) = &self.call
        {
            let is_known = **server == *known;
            known = server;
            if method.is_empty() {
                if !is_known {
                    write!(f, "{server}: ")?;
                }
            } else {
                f.push_str(method);
                if let Some(item) = item {
                    write!(f, " {item:?}")?;
                }
                // A connect error contains the server's name.
                let is_connect =
                    matches!(self.kind, ErrorKind::Channel(ChannelError::Connect { .. }));
                if !is_known && !is_connect {
                    write!(f, " at {server}")?;
                }
                f.push_str(": ");
            }
        }
        match &self.kind {
            ErrorKind::Start(cause) => {
                let cause = cause.inner.message(known)?;
                write!(f, "the server could not be started: {cause}")?;
            }
            kind => write!(f, "{kind}")?,
        }
        if let Some(stderr) = &self.stderr_tail {
            write!(f, "; its standard error ends with:\n{stderr}")?;
        }
        Ok(f)
    }
}

/// Escapes hidden characters, and indents all lines but the first, so that standard error of a server
/// cannot imitate lines of a log. Lines that are indented already stay as they are, for errors that
/// contain others.
fn indented(text: &str) -> String {
    let text = escape_block(text);
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push('\n');
        if !line.starts_with(INDENT) {
            out.push_str(INDENT);
        }
        out.push_str(line);
    }
    out
}

/// Start of a further line.
const INDENT: &str = "  ";

/// Shows the message with all causes that it does not contain, for `unwrap` and
/// `fn main() -> Result<(), Error>`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.to_string();
        f.write_str(&message)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = indented(&error.to_string());
            if !message.contains(&text) {
                write!(f, "\n  caused by: {text}")?;
            }
            cause = error.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.inner.kind.root() {
            ErrorKind::Channel(ChannelError::Closed(reason)) => reason.source(),
            ErrorKind::Channel(error) => error.source(),
            ErrorKind::Other(cause) => Some(&**cause),
            ErrorKind::Input(error) => error.source(),
            _ => None,
        }
    }
}

//! Messages and sources of [`Error`].

use std::error::Error as StdError;
use std::fmt;

use mcp_core::ChannelError;

use super::{CallContext, Error, ErrorInner, ErrorKind};

/// Shows the call and the cause. Further causes are returned by [`source`](StdError::source).
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorInner {
            call,
            kind,
            stderr_tail,
        } = &*self.inner;
        if let Some(CallContext {
            server,
            method,
            item,
        }) = call
        {
            if method.is_empty() {
                f.write_str(server)?;
            } else {
                f.write_str(method)?;
                if let Some(item) = item {
                    write!(f, " {item:?}")?;
                }
                // A connect error contains the name of the server.
                if !matches!(kind, ErrorKind::Channel(ChannelError::Connect { .. })) {
                    write!(f, " at {server}")?;
                }
            }
            f.write_str(": ")?;
        }
        kind.fmt(f)?;
        match stderr_tail {
            Some(stderr) => write!(f, "; its standard error ends with:\n{stderr}"),
            None => Ok(()),
        }
    }
}

/// Shows the message with all causes, for `unwrap` and `fn main() -> Result<(), Error>`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, "\n  caused by: {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.inner.kind.root() {
            ErrorKind::Channel(error) => error.source()?.source(),
            ErrorKind::Other(cause) => cause.source(),
            // The message contains the first cause already.
            ErrorKind::Input(error) => error.source()?.source(),
            _ => None,
        }
    }
}

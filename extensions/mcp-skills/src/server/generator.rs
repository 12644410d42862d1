//! Files that a function of the program writes for each read.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use mcp_core::BoxFuture;
use mcp_server::ResourceError;

/// The bytes of a file from code, or the function that writes them.
#[derive(Debug, Clone)]
pub(crate) enum FileBytes {
    Fixed(Bytes),
    Generated(Generator),
}

/// A function that writes a file, and the bytes before its output.
#[derive(Clone)]
pub(crate) struct Generator {
    head: Bytes,
    write: Arc<dyn Fn() -> BoxFuture<'static, Result<Bytes, ResourceError>> + Send + Sync>,
}

impl Generator {
    pub(super) fn new<F, Fut, T>(head: Bytes, write: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, ResourceError>> + Send + 'static,
        T: Into<Bytes>,
    {
        let write = move || -> BoxFuture<'static, Result<Bytes, ResourceError>> {
            let written = write();
            Box::pin(async move { written.await.map(Into::into) })
        };
        Self {
            head,
            write: Arc::new(write),
        }
    }

    /// Returns true for clones of the same function.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.write, &other.write)
    }

    /// Writes the file, if it has at most `limit` bytes.
    // spec: SKILL-15
    pub(crate) async fn bytes(&self, limit: u64) -> Result<Bytes, ResourceError> {
        let written = (self.write)().await?;
        if (self.head.len() + written.len()) as u64 > limit {
            let message = format!("the file of the skill has more than {limit} bytes");
            return Err(ResourceError::new(message));
        }
        if self.head.is_empty() {
            Ok(written)
        } else {
            Ok([&*self.head, &*written].concat().into())
        }
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").finish_non_exhaustive()
    }
}

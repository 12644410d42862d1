//! Errors of Redis.

use std::time::Duration;

use mcp_core::store::StoreError;

/// An error of Redis. Its messages contain no URL, user or password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedisError {
    /// The URL is invalid.
    #[error(
        "the URL of Redis is invalid; use redis://USER:PASSWORD@HOST:PORT/DATABASE, and \
         percent-encode special characters of the password"
    )]
    Url,
    /// Redis cannot be reached, or does not accept the login.
    #[error("cannot connect to Redis: {0}")]
    Connect(String),
    /// Redis did not answer in time.
    #[error("Redis did not answer `{operation}` within {limit:?}")]
    Timeout {
        /// The operation.
        operation: &'static str,
        /// The limit, see [`Redis::timeout`](crate::Redis::timeout).
        limit: Duration,
    },
    /// Redis refused a command, for example because it is out of memory.
    #[error("Redis failed to `{operation}`: {reason}")]
    Command {
        /// The operation.
        operation: &'static str,
        /// The reason that Redis or the connection gave.
        reason: String,
    },
    /// Data in Redis that this version cannot read.
    #[error("the data of `{operation}` in Redis is invalid: {reason}")]
    Malformed {
        /// The operation.
        operation: &'static str,
        /// The first mistake.
        reason: String,
    },
    /// A record that is larger than the limit.
    #[error("a session record of {bytes} bytes is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The size of the record.
        bytes: usize,
        /// The limit, see [`RedisSessions::max_record_bytes`](crate::RedisSessions::max_record_bytes).
        limit: usize,
    },
}

impl RedisError {
    pub(crate) fn malformed(operation: &'static str, reason: impl ToString) -> Self {
        let reason = reason.to_string();
        Self::Malformed { operation, reason }
    }
}

impl From<RedisError> for StoreError {
    fn from(error: RedisError) -> Self {
        Self::new(error)
    }
}

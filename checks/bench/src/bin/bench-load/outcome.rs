//! Results of a run.

use std::time::Instant;

/// The results of one connection or of all connections.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Response time of each request.
    pub(crate) nanoseconds: Vec<u32>,
    /// Total size of the response bodies, after decoding of chunked bodies.
    pub(crate) bytes: usize,
    pub(crate) errors: usize,
    pub(crate) last_error: Option<String>,
}

impl Outcome {
    pub(crate) fn error(message: &str) -> Self {
        Self {
            errors: 1,
            last_error: Some(message.to_owned()),
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, part: Self) {
        self.nanoseconds.extend(part.nanoseconds);
        self.bytes += part.bytes;
        self.errors += part.errors;
        self.last_error = part.last_error.or(self.last_error.take());
    }

    /// Number of requests, without failed ones.
    pub(crate) fn requests(&self) -> usize {
        self.nanoseconds.len()
    }

    pub(crate) fn record(&mut self, sent: Instant, bytes: usize) {
        self.bytes += bytes;
        let time = u32::try_from(sent.elapsed().as_nanos());
        self.nanoseconds.push(time.unwrap_or(u32::MAX));
    }
}

//! A thread that keeps connections served while a handler blocks a worker of the runtime.
//!
//! A call runs inside its connection's task, on the worker that has polled the IO. tokio wakes no other worker
//! for it, so that nobody polls the IO while the handler blocks. This thread wakes one, which finds nothing to
//! do and polls the IO instead.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};

/// The longest wait of other connections.
const INTERVAL: Duration = Duration::from_millis(50);

/// Ends the thread when it is dropped.
pub(super) struct WakerThread {
    _running: Option<Sender<()>>,
}

impl WakerThread {
    /// Starts the thread for the current runtime, unless that has a single thread.
    pub(super) fn start() -> Self {
        let runtime = Handle::current();
        if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            return Self { _running: None };
        }
        let (running, ended) = channel();
        let thread = thread::Builder::new().name("mcp-http-waker".to_owned());
        let started = thread.spawn(move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                runtime.spawn(async {});
            }
        });
        if let Err(error) = started {
            tracing::warn!(error = %mcp_types::escaped(&error), "cannot start a thread that wakes workers");
        }
        Self {
            _running: Some(running),
        }
    }
}

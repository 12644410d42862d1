//! A process and everything that it has started, on Windows: a job.
//!
//! A thread looks every few milliseconds whether it has ended: waiting for it would hold the lock
//! that ending it needs.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use process_wrap::std::{ChildWrapper, CommandWrap, CreationFlags, JobObject};
use tokio::sync::watch;
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

use super::{Life, Pipes, born};

const LOOK: Duration = Duration::from_millis(20);

/// A process and everything that it has started.
pub(super) struct Process {
    child: Mutex<Box<dyn ChildWrapper>>,
    life: watch::Sender<Life>,
}

impl Process {
    pub(super) fn spawn(command: Command) -> io::Result<(Arc<Self>, Pipes)> {
        let mut command = CommandWrap::from(command);
        command
            .wrap(CreationFlags(CREATE_NO_WINDOW))
            .wrap(JobObject);
        let mut child = command.spawn()?;
        let pipes = Pipes::take(
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        );
        let process = Arc::new(Self {
            child: Mutex::new(child),
            life: born(),
        });
        let waiting = process.clone();
        let thread = std::thread::Builder::new().name("mcp-child".to_owned());
        let spawned = thread.spawn(move || waiting.watch()).map(drop);
        // Nothing that was started is left behind.
        spawned
            .and(pipes)
            .inspect_err(|_| process.kill())
            .map(|pipes| (process, pipes))
    }

    fn watch(&self) {
        let status = loop {
            match self.child.lock().try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => break Some(status),
                Err(_) => break None,
            }
            std::thread::sleep(LOOK);
        };
        // What it has left behind ends with it.
        self.kill();
        self.life.send_replace(Life::Ended(status));
    }

    /// There is no way to ask: it is ended.
    pub(super) fn terminate(&self) {
        self.kill();
    }

    /// Ends it.
    pub(super) fn kill(&self) {
        // It may have ended a moment ago.
        let _ = self.child.lock().start_kill();
    }

    pub(super) fn life(&self) -> &watch::Sender<Life> {
        &self.life
    }
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process")
            .field("life", &*self.life.borrow())
            .finish_non_exhaustive()
    }
}

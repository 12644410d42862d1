//! A process and everything that it has started, on Unix: a process group.
//!
//! A thread waits for each one, so that it is reaped whatever becomes of the runtime. Signals go to
//! the group under a lock that is also held while the process is reaped: a number that the operating
//! system may have given to somebody else is never signalled.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::watch;

use super::{Life, Pipes, born};

/// A process and everything that it has started.
#[derive(Debug)]
pub(super) struct Process {
    group: Pid,
    is_reaped: Mutex<bool>,
    life: watch::Sender<Life>,
}

impl Process {
    pub(super) fn spawn(mut command: Command) -> io::Result<(Arc<Self>, Pipes)> {
        command.process_group(0);
        let mut child = command.spawn()?;
        let process = Arc::new(Self {
            group: Pid::from_child(&child),
            is_reaped: Mutex::new(false),
            life: born(),
        });
        let pipes = Pipes::take(child.stdin.take(), child.stdout.take(), child.stderr.take());
        let waiting = process.clone();
        let thread = std::thread::Builder::new().name("mcp-child".to_owned());
        let spawned = thread.spawn(move || waiting.reap(child)).map(drop);
        // Nothing that was started is left behind.
        spawned
            .and(pipes)
            .inspect_err(|_| process.kill())
            .map(|pipes| (process, pipes))
    }

    /// Waits for the end of the process, and ends what it has left behind.
    // spec: STDIO-12
    fn reap(&self, mut child: Child) {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.group), ended) {}
        let mut is_reaped = self.is_reaped.lock();
        // It has ended and is not reaped yet, so the number is still its own.
        let _ = kill_process_group(self.group, Signal::KILL);
        let status = child.wait().ok();
        *is_reaped = true;
        drop(is_reaped);
        self.life.send_replace(Life::Ended(status));
    }

    /// Asks it to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends it.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub(super) fn life(&self) -> &watch::Sender<Life> {
        &self.life
    }

    fn signal(&self, signal: Signal) {
        let is_reaped = self.is_reaped.lock();
        if !*is_reaped {
            // It may have ended a moment ago.
            let _ = kill_process_group(self.group, signal);
        }
    }
}

//! A process with its descendants on Unix: a process group.
//!
//! A thread waits for each process, so that it is reaped even after the runtime has ended. Signals
//! are sent under a lock that is also held while the process is reaped: a process id that the
//! operating system may have reused is never signalled.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::watch;

use super::process::{ProcessPipes, ProcessState, running};

/// A process and its process group.
#[derive(Debug)]
pub(super) struct Process {
    group: Pid,
    is_reaped: Mutex<bool>,
    state: watch::Sender<ProcessState>,
}

impl Process {
    pub(super) fn spawn(mut command: Command) -> io::Result<(Arc<Self>, ProcessPipes)> {
        command.process_group(0);
        let mut child = command.spawn()?;
        let process = Arc::new(Self {
            group: Pid::from_child(&child),
            is_reaped: Mutex::new(false),
            state: running(),
        });
        let pipes = ProcessPipes::new(child.stdin.take(), child.stdout.take(), child.stderr.take());
        let waiting = process.clone();
        let thread = std::thread::Builder::new().name("mcp-child".to_owned());
        let spawned = thread.spawn(move || waiting.reap(child)).map(drop);
        // On an error the started process is killed.
        spawned
            .and(pipes)
            .inspect_err(|_| process.kill())
            .map(|pipes| (process, pipes))
    }

    /// Waits for the end of the process, and then kills the rest of its group.
    // spec: STDIO-12
    fn reap(&self, mut child: Child) {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.group), ended) {}
        let mut is_reaped = self.is_reaped.lock();
        // The process is not reaped yet, so its id is not reused.
        let _ = kill_process_group(self.group, Signal::KILL);
        let status = child.wait().ok();
        *is_reaped = true;
        drop(is_reaped);
        self.state.send_replace(ProcessState::Ended(status));
    }

    /// Sends SIGTERM to the process group.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends SIGKILL to the process group.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub(super) fn state(&self) -> &watch::Sender<ProcessState> {
        &self.state
    }

    fn signal(&self, signal: Signal) {
        let is_reaped = self.is_reaped.lock();
        if !*is_reaped {
            // An error means that the group has ended already.
            let _ = kill_process_group(self.group, signal);
        }
    }
}

//! A process with its descendants on Unix: a process group.
//!
//! A thread waits for each process, so that it is reaped even after the runtime has ended. Signals
//! are sent under a lock that is also held while the process is reaped: a process id that the
//! operating system may have reused is never signalled.
//!
//! Each group has a watchdog ([`watchdog`]), which ends the group when this program drops its channel
//! or ends itself.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::process::{self, ProcessEnd, ProcessPipes};
use super::watchdog;

/// A process and its process group.
#[derive(Debug)]
pub(super) struct Process {
    group: Pid,
    is_reaped: Mutex<bool>,
    /// The pipe to the watchdog, which ends the group when it is closed.
    watchdog_pipe: Mutex<Option<ChildStdin>>,
    pub(super) ended: ProcessEnd,
}

impl Process {
    /// Starts a process and its group's watchdog. The group has `term_timeout` to exit after
    /// SIGTERM when the watchdog ends it.
    pub(super) fn spawn(
        mut command: Command,
        term_timeout: Duration,
    ) -> io::Result<(Arc<Self>, ProcessPipes)> {
        command.process_group(0);
        let mut child = command.spawn()?;
        let group = Pid::from_child(&child);
        let mut watchdog = watchdog::spawn(group, term_timeout)
            .inspect_err(|error| tracing::debug!(error = %mcp_types::escaped(&error), "a server has no watchdog"))
            .ok();
        let process = Arc::new(Self {
            group,
            is_reaped: Mutex::new(false),
            watchdog_pipe: Mutex::new(watchdog.as_mut().and_then(|watchdog| watchdog.stdin.take())),
            ended: ProcessEnd::default(),
        });
        let pipes = ProcessPipes::new(child.stdin.take(), child.stdout.take(), child.stderr.take());
        let waiting = process.clone();
        let watched = process::watch(pipes, move || waiting.reap(child, watchdog));
        // On an error the started process is killed.
        let pipes = watched.inspect_err(|_| process.kill())?;
        Ok((process, pipes))
    }

    /// Waits for the end of the process, and then kills the rest of its group with the watchdog.
    // spec: STDIO-12
    fn reap(&self, mut child: Child, watchdog: Option<Child>) {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.group), ended) {}
        let mut is_reaped = self.is_reaped.lock();
        // The process is not reaped yet, so its id is not reused.
        let _ = kill_process_group(self.group, Signal::KILL);
        let status = child.wait().ok();
        *is_reaped = true;
        drop(is_reaped);
        self.ended.close(status);
        if let Some(mut watchdog) = watchdog {
            // An error means that it is reaped already.
            let _ = watchdog.wait();
        }
    }

    /// Ends the process group without waiting: the watchdog sends SIGTERM, and SIGKILL after
    /// `term_timeout`, also when this program has ended by then. Without a watchdog the group is
    /// killed at once.
    pub(super) fn end_in_background(&self) {
        if self.watchdog_pipe.lock().take().is_none() {
            self.kill();
        }
    }

    /// Sends SIGTERM to the process group.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends SIGKILL to the process group.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        let is_reaped = self.is_reaped.lock();
        if !*is_reaped {
            // An error means that the group has ended already.
            let _ = kill_process_group(self.group, signal);
        }
    }
}

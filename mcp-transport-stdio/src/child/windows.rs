//! A process with its descendants on Windows, in two job objects: one to kill them, and one that the system kills when
//! this program ends, however it ends.
//!
//! A thread polls for the end of the process. A blocking wait would hold the lock that `kill` needs.

use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use process_wrap::std::{ChildWrapper, CommandWrap, CommandWrapper, CreationFlags, JobObject};
use win32job::{ExtendedLimitInfo, Job};
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

use super::process::{self, ProcessEnd, ProcessPipes};

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A process and its job objects.
pub(super) struct Process {
    child: Mutex<Box<dyn ChildWrapper>>,
    /// The system closes the handle when this program ends.
    _ends_with_program: Arc<Job>,
    pub(super) ended: ProcessEnd,
}

impl Process {
    pub(super) fn spawn(command: Command, _: Duration) -> io::Result<(Arc<Self>, ProcessPipes)> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
        let job = Arc::new(job);
        let mut command = CommandWrap::from(command);
        command
            .wrap(CreationFlags(CREATE_NO_WINDOW))
            .wrap(Assign(job.clone()))
            .wrap(JobObject);
        let mut child = command.spawn()?;
        let pipes = ProcessPipes::new(
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        );
        let process = Arc::new(Self {
            child: Mutex::new(child),
            _ends_with_program: job,
            ended: ProcessEnd::default(),
        });
        let waiting = process.clone();
        let watched = process::watch(pipes, move || waiting.watch());
        // On an error the started process is killed.
        let pipes = watched.inspect_err(|_| process.kill())?;
        Ok((process, pipes))
    }

    fn watch(&self) {
        let status = loop {
            match self.child.lock().try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => break Some(status),
                Err(_) => break None,
            }
            std::thread::sleep(POLL_INTERVAL);
        };
        // Kills descendants that still run.
        self.kill();
        self.ended.close(status);
    }

    /// Kills the process: Windows has no equivalent of SIGTERM.
    pub(super) fn terminate(&self) {
        self.kill();
    }

    /// Kills the process, without a wait that this program may not survive.
    pub(super) fn end_in_background(&self) {
        self.kill();
    }

    /// Kills the process and its descendants.
    pub(super) fn kill(&self) {
        // An error means that the process has ended already.
        let _ = self.child.lock().start_kill();
    }
}

/// Adds a new process to a job. [`JobObject`] starts processes suspended, so that none has descendants yet.
#[derive(Debug)]
struct Assign(Arc<Job>);

impl CommandWrapper for Assign {
    fn post_spawn(
        &mut self,
        _: &mut Command,
        child: &mut Child,
        _: &CommandWrap,
    ) -> io::Result<()> {
        let assigned = self.0.assign_process(child.as_raw_handle() as isize);
        assigned.map_err(io::Error::other)
    }
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process")
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

//! Functions that block their thread.
//!
//! They run on threads of their own instead of the runtime's: dropping a runtime waits for its blocking
//! threads, so a process with an endless function would outlive its client. Nobody joins these threads; they
//! end with the process.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tracing::Span;

/// The maximum number of threads. Further functions wait, like those of tokio.
const MAX_THREADS: usize = 512;

/// Time after which an idle thread ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

static POOL: Pool = Pool {
    state: Mutex::new(PoolState {
        jobs: VecDeque::new(),
        threads: 0,
        idle: 0,
    }),
    has_job: Condvar::new(),
};

/// Runs a function with the option `blocking` on a thread for blocking work. Without a tokio runtime it
/// runs here. A call that is cancelled before its function has a thread does not run it.
pub async fn run_blocking<T: Send + 'static>(function: impl FnOnce() -> T + Send + 'static) -> T {
    let Ok(runtime) = Handle::try_current() else {
        return function();
    };
    let span = Span::current();
    let (sender, receiver) = oneshot::channel();
    POOL.run(Box::new(move || {
        if sender.is_closed() {
            return;
        }
        let _runtime = runtime.enter();
        let output = catch_unwind(AssertUnwindSafe(|| span.in_scope(function)));
        // An error means that the call was cancelled meanwhile.
        let _ = sender.send(output);
    }));
    match receiver.await {
        Ok(Ok(output)) => output,
        Ok(Err(panic)) => resume_unwind(panic),
        // Not reachable: each job sends its output.
        Err(_) => std::future::pending().await,
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// Threads that run jobs. A thread is added when all are busy, up to the maximum.
struct Pool {
    state: Mutex<PoolState>,
    has_job: Condvar,
}

struct PoolState {
    /// Jobs without a thread. Each is a running call, whose number the transports limit.
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&'static self, job: Job) {
        {
            let mut state = self.lock();
            state.jobs.push_back(job);
            if state.jobs.len() <= state.idle {
                self.has_job.notify_one();
                return;
            }
            if state.threads == MAX_THREADS {
                return;
            }
            state.threads += 1;
        }
        let thread = thread::Builder::new().name("mcp-blocking".to_owned());
        if let Err(error) = thread.spawn(|| self.work()) {
            let own_job = {
                let mut state = self.lock();
                state.threads -= 1;
                // Other threads take the job when they are free.
                (state.threads == 0)
                    .then(|| state.jobs.pop_back())
                    .flatten()
            };
            tracing::warn!(error = %mcp_types::escaped(&error), "cannot start a thread for a blocking function");
            if let Some(job) = own_job {
                job();
            }
        }
    }

    /// Runs jobs until there is none for the idle timeout.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // The output of a cancelled call may panic when it is dropped.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
                continue;
            }
            state.idle += 1;
            let waited = self.has_job.wait_timeout(state, IDLE_TIMEOUT);
            let timeout;
            (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            if timeout.timed_out() && state.jobs.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}

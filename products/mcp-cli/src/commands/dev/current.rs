//! The program that runs, its process, and whether it is that of the sources.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use mcp::Client;
use mcp::core::{Channel as _, CloseReason};
use mcp::stdio::ChildChannel;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use super::plan::Program;

/// Maximum wait of a call for a build and a start. Clients give up after a minute.
const MAX_WAIT: Duration = Duration::from_secs(45);

/// Time for the end of calls that run when the next program is ready.
pub(super) const MAX_DRAIN: Duration = Duration::from_secs(5);

/// The program that runs. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Current(Arc<watch::Sender<Shared>>);

/// A process.
#[derive(Debug, Clone)]
pub(super) struct Running {
    /// The connection: over the process's standard streams, or over HTTP.
    pub(super) client: Client,
    pub(super) process: ChildChannel,
    /// The printed URL. It changes with each start: clients use the address of this command.
    pub(super) printed: Option<Url>,
}

#[derive(Default)]
struct Shared {
    state: State,
    /// The number of changes of sources.
    changes: u64,
    /// The number of changes before the build.
    built: u64,
    /// The number of calls that run.
    calls: usize,
    /// A call has ended since the build.
    was_called: bool,
    /// A source has changed since the build while a call ran.
    changed_in_call: bool,
    /// The program that was started last. Each start has another number.
    program: Option<Program>,
    number: u64,
    /// The program is to be started.
    is_next: bool,
    /// A program has been ready for calls.
    has_answered: bool,
    running: Option<Running>,
}

#[derive(Debug, Default)]
enum State {
    /// Calls wait for a build.
    #[default]
    Building,
    /// Calls wait for a start.
    Starting,
    /// A call waits for the start of a program that has ended.
    Wanted,
    /// The program answers.
    Ready,
    /// The build has failed.
    Broken(Arc<str>),
    /// The program has ended. The next call starts it again.
    Ended(Arc<str>),
    /// The latest changes are not built. The next call builds them.
    Paused(Arc<str>),
}

/// A call that runs. The next program waits until this is dropped.
pub(super) struct RunningCall<'a>(&'a Current);

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|shared| {
            shared.calls -= 1;
            shared.was_called = true;
        });
    }
}

impl Shared {
    /// Returns true if a call need not wait.
    fn is_settled(&self) -> bool {
        match self.state {
            State::Building | State::Starting | State::Wanted => false,
            State::Paused(_) => true,
            State::Ready | State::Broken(_) | State::Ended(_) => self.changes == self.built,
        }
    }

    /// Returns the reason why the process has ended.
    fn close_reason(&self) -> Option<CloseReason> {
        self.running.as_ref()?.process.closed().now_or_never()
    }
}

impl Current {
    /// Notes a change of a source: calls wait for a program that has it.
    pub(super) fn source_changed(&self) {
        self.0.send_modify(|shared| {
            shared.changes += 1;
            shared.changed_in_call |= shared.calls > 0;
        });
    }

    /// Notes that a build of the sources begins. Calls wait for its program.
    pub(super) fn build_begins(&self) {
        self.0.send_modify(|shared| {
            shared.built = shared.changes;
            shared.state = State::Building;
            shared.was_called = false;
            shared.changed_in_call = false;
        });
    }

    pub(super) fn build_failed(&self, problem: String) {
        self.set_state(State::Broken(problem.into()));
    }

    /// Returns true if a client has called the program since the build, and the sources changed between its calls: it,
    /// and not the program, can have changed them.
    pub(super) fn was_called(&self) -> bool {
        let shared = self.0.borrow();
        shared.was_called && !shared.changed_in_call
    }

    /// Notes that nothing is built for the latest changes, for a time. Returns when a call wants it.
    pub(super) async fn paused(&self, problem: String) {
        self.set_state(State::Paused(problem.into()));
        self.until(|shared| !matches!(shared.state, State::Paused(_)))
            .await;
    }

    /// Waits for the first program. Later, lists are those of the last one.
    pub(super) async fn listed(&self) {
        let listed = self.until(|shared| match shared.state {
            State::Building | State::Starting => shared.has_answered,
            _ => true,
        });
        let _ = timeout(MAX_WAIT, listed).await;
    }

    /// Waits until the program of the sources answers calls. Starts it again if it has ended.
    ///
    /// # Errors
    ///
    /// Returns the reason why it does not answer.
    pub(super) async fn enter(&self) -> Result<RunningCall<'_>, Arc<str>> {
        let mut shared = self.0.subscribe();
        let end = Instant::now() + MAX_WAIT;
        let mut starts_again = true;
        loop {
            // The guard of a value would block the next lines.
            if timeout_at(end, shared.wait_for(Shared::is_settled))
                .await
                .is_err()
            {
                return Err(self.overdue().into());
            }
            let mut entered = None;
            self.0.send_if_modified(|shared| {
                if !shared.is_settled() {
                    return false;
                }
                // The task that reports the end may not have run yet.
                if matches!(shared.state, State::Ready)
                    && let Some(reason) = shared.close_reason()
                {
                    shared.state = State::Ended(end_of_program(&reason).into());
                }
                match &shared.state {
                    State::Ended(_) if starts_again => shared.state = State::Wanted,
                    State::Paused(_) if starts_again => shared.state = State::Building,
                    State::Broken(problem) | State::Ended(problem) | State::Paused(problem) => {
                        entered = Some(Err(problem.clone()));
                        return false;
                    }
                    _ => {
                        shared.calls += 1;
                        entered = Some(Ok(RunningCall(self)));
                        return false;
                    }
                }
                starts_again = false;
                true
            });
            if let Some(entered) = entered {
                return entered;
            }
        }
    }

    /// Describes a wait without end.
    fn overdue(&self) -> String {
        let seconds = MAX_WAIT.as_secs();
        if self.0.borrow().number == 0 {
            return "the server is still being built; call again in a minute".to_owned();
        }
        format!(
            "the sources are newer than the program: it was not asked, and the next one did not start within {seconds} s; \
             call again in a minute"
        )
    }

    /// Waits until a call wants a program that has ended. Returns the program.
    pub(super) async fn wanted(&self) -> Option<Program> {
        self.until(|shared| matches!(shared.state, State::Wanted))
            .await;
        self.0.borrow().program.clone()
    }

    /// Returns true if this program runs, and is ready for calls.
    pub(super) fn continues_with(&self, program: &Program) -> bool {
        self.0.send_if_modified(|shared| {
            let continues = program.built_at.is_some()
                && shared.program.as_ref() == Some(program)
                && shared.running.is_some()
                && shared.close_reason().is_none();
            if continues {
                shared.state = State::Ready;
            }
            continues
        })
    }

    /// Sets the next program, after the calls that run. Those that run for longer are stopped.
    pub(super) async fn set_next(&self, program: Program) {
        self.set_state(State::Starting);
        let _ = timeout(MAX_DRAIN, self.until(|shared| shared.calls == 0)).await;
        self.0.send_modify(|shared| {
            shared.number += 1;
            shared.program = Some(program);
            shared.is_next = true;
        });
    }

    /// Takes the next program with its number. The program is `None` if it was taken before.
    pub(super) fn take_next(&self) -> (u64, Option<Program>) {
        let mut taken = (0, None);
        self.0.send_if_modified(|shared| {
            let is_next = std::mem::take(&mut shared.is_next);
            taken = (shared.number, shared.program.clone().filter(|_| is_next));
            false
        });
        taken
    }

    /// Waits until another program is to be started.
    pub(super) async fn replaced(&self, number: u64) {
        self.until(|shared| shared.number != number).await;
    }

    /// Notes the end of a start. Returns true if the program answers.
    pub(super) fn started(&self, problem: Option<String>) -> bool {
        let mut answers = false;
        self.0.send_if_modified(|shared| {
            let is_starting = matches!(shared.state, State::Starting);
            answers =
                problem.is_none() && (is_starting || matches!(shared.state, State::Paused(_)));
            shared.has_answered |= answers;
            if is_starting {
                shared.state = match problem {
                    None => State::Ready,
                    Some(problem) => State::Ended(problem.into()),
                };
            }
            is_starting
        });
        answers
    }

    /// Notes that a program does not run. Returns false if another one is to be started.
    pub(super) fn ended(&self, number: u64, problem: &str) -> bool {
        let mut is_current = false;
        self.0.send_if_modified(|shared| {
            is_current = shared.number == number;
            let runs = matches!(shared.state, State::Starting | State::Ready);
            if is_current && runs {
                shared.state = State::Ended(problem.into());
            }
            is_current && runs
        });
        is_current
    }

    pub(super) fn running(&self) -> Option<Running> {
        self.0.borrow().running.clone()
    }

    /// Replaces the process. Returns the former one.
    pub(super) fn set_running(&self, running: Option<Running>) -> Option<Running> {
        let mut former = running;
        self.0
            .send_modify(|shared| std::mem::swap(&mut shared.running, &mut former));
        former
    }

    fn set_state(&self, state: State) {
        self.0.send_modify(|shared| shared.state = state);
    }

    async fn until(&self, is_reached: impl FnMut(&Shared) -> bool) {
        // The sender is in `self`.
        let _ = self.0.subscribe().wait_for(is_reached).await;
    }
}

/// Describes the end of a program with its standard error's last lines.
pub(super) fn end_of_program(reason: &CloseReason) -> String {
    match reason {
        CloseReason::Broken(error) => does_not_run(&error.to_string()),
        reason => does_not_run(&reason.to_string()),
    }
}

pub(super) fn does_not_run(text: &str) -> String {
    format!("the server does not run; correct its source and call again: {text}")
}

#[cfg(test)]
mod tests {
    use super::super::plan::Program;
    use super::Current;

    /// Starts a program.
    async fn start(current: &Current) {
        current.build_begins();
        current.set_next(Program::default()).await;
        assert!(current.take_next().1.is_some());
        assert!(current.started(None));
    }

    async fn problem(current: &Current) -> String {
        let entered = current.enter().await;
        entered.map(|_| ()).unwrap_err().to_string()
    }

    #[tokio::test(start_paused = true)]
    async fn call_after_a_change_never_reaches_the_old_program() {
        let current = Current::default();
        assert!(problem(&current).await.contains("still being built"));
        start(&current).await;
        drop(current.enter().await.unwrap());

        current.source_changed();
        let newer = "the sources are newer than the program";
        assert!(problem(&current).await.starts_with(newer));
        // A start that was built before the change answers no call.
        current.build_begins();
        current.source_changed();
        current.set_next(Program::default()).await;
        assert!(current.started(None));
        assert!(problem(&current).await.starts_with(newer));
        start(&current).await;
        drop(current.enter().await.unwrap());

        // The errors of the last build are not those of the source that has changed since.
        current.build_begins();
        current.build_failed("line 1".to_owned());
        assert_eq!(problem(&current).await, "line 1");
        current.source_changed();
        assert!(problem(&current).await.starts_with(newer));
    }

    #[tokio::test(start_paused = true)]
    async fn change_during_a_call_is_not_credited_to_the_client() {
        let current = Current::default();
        start(&current).await;
        assert!(!current.was_called());
        let call = current.enter().await.unwrap();
        drop(call);
        current.source_changed();
        assert!(current.was_called());

        start(&current).await;
        let call = current.enter().await.unwrap();
        current.source_changed();
        drop(call);
        assert!(!current.was_called());
    }

    #[tokio::test(start_paused = true)]
    async fn call_during_a_pause_ends_it_or_is_told() {
        let current = Current::default();
        start(&current).await;
        current.source_changed();
        let call = problem(&current);
        let developer = async {
            current.paused("paused".to_owned()).await;
            // The call has ended the pause, and the program changes its sources again.
            current.build_begins();
            current.source_changed();
            current.paused("paused again".to_owned()).await;
        };
        tokio::select! {
            told = call => assert_eq!(told, "paused again"),
            () = developer => panic!("the call has ended two pauses"),
        }
    }
}

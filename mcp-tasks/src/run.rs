//! A call that becomes a task, and the tokio task that runs it.

use std::sync::Arc;
use std::time::Duration;

use mcp_core::deadline::finite;
use mcp_core::store::{TaskRecord, TaskWrite};
use mcp_core::{
    BoxFuture, Exchange, Fault, Input, Principal, Reply, ServerProfile, TaskCall, TaskMode,
    TaskReply, catch_panic,
};
use mcp_types::RawObject;
use mcp_types::ext::tasks::{RESULT_TYPE, Task};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::Instrument;

use crate::counters::OpenTask;
use crate::link::TaskLink;
use crate::outcome::{Outcome, with_open_questions};
use crate::shared::{Changed, RunningGuard, Shared};
use crate::{clock, ids};

/// The shortest time between two status messages that are stored.
const REPORT_PAUSE: Duration = Duration::from_millis(250);
/// The pause after a store failure.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// The time after which a client whose task was not stored may try again.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// Runs a call. The reply is that of the call, or the created task.
// spec: TASK-02, TASK-03, TASK-04, TASK-10
pub(crate) fn run(
    shared: &Arc<Shared>,
    mut exchange: Exchange,
    mode: TaskMode,
    profile: Arc<ServerProfile>,
    call: TaskCall,
) -> BoxFuture<'static, Reply> {
    if !exchange.facts.declares_tasks() {
        return match mode {
            TaskMode::Required => Box::pin(std::future::ready(Fault::tasks_undeclared().into())),
            _ => call(exchange),
        };
    }
    let delay = match mode {
        TaskMode::Never => return call(exchange),
        TaskMode::After(delay) => Some(finite(delay)),
        _ => None,
    };
    let owner = exchange.principal().cloned();
    let observer = exchange.extensions.get::<TaskReply>().cloned();
    let link = TaskLink::new();
    exchange.notifications = exchange.notifications.for_task(link.clone());
    if let Input::Recorded(recorded) = &mut exchange.input {
        exchange.input = Input::Task {
            recorded: recorded.take(),
            channel: link.clone(),
        };
    }
    let shared = shared.clone();
    Box::pin(async move {
        if Handle::try_current().is_err() {
            return Fault::internal("tasks need a Tokio runtime; call the server in one").into();
        }
        let mut running = call(exchange);
        if let Some(delay) = delay
            && let Ok(reply) = timeout(delay, &mut running).await
        {
            return reply;
        }
        let runner = match Runner::new(shared, link, owner.as_ref(), profile, observer) {
            Ok(runner) => runner,
            Err(fault) => return fault.into(),
        };
        match (runner.spawn(running).await, delay) {
            (Created::Task(task), _) => match RawObject::from_value(&*task) {
                Ok(body) => Reply::Extended {
                    result_type: RESULT_TYPE.into(),
                    body,
                },
                Err(error) => Fault::internal(error.to_string()).into(),
            },
            // The call runs already. It is answered as for a client without the extension.
            (Created::Refused(_, running), Some(_)) => running.await,
            (Created::Refused(fault, _), None) => fault.into(),
        }
    })
}

/// The outcome of starting a task.
enum Created {
    Task(Box<Task>),
    /// The task was not stored. The call continues.
    Refused(Fault, BoxFuture<'static, Reply>),
}

/// The reason why a call does not run to its end.
enum Stopped {
    /// The task has ended in the store, or is gone.
    Over,
    /// The task asks more than one record can hold.
    TooLarge,
}

/// The tokio task that runs a call, and follows the stored record.
struct Runner {
    shared: Arc<Shared>,
    link: Arc<TaskLink>,
    record: TaskRecord,
    profile: Arc<ServerProfile>,
    observer: Option<TaskReply>,
    _guard: RunningGuard,
}

impl Runner {
    fn new(
        shared: Arc<Shared>,
        link: Arc<TaskLink>,
        owner: Option<&Principal>,
        profile: Arc<ServerProfile>,
        observer: Option<TaskReply>,
    ) -> Result<Self, Fault> {
        let id = ids::random()?;
        let node = shared.node()?;
        let guard = shared.start(&id);
        let mut task = Task::new(id, clock::now());
        task.ttl_ms = shared.ttl.map(milliseconds);
        task.poll_interval_ms = Some(milliseconds(shared.poll_interval));
        Ok(Self {
            record: TaskRecord::new(task, owner, node),
            shared,
            link,
            profile,
            observer,
            _guard: guard,
        })
    }

    /// Stores the task and runs the call, in a tokio task. A caller that is dropped before the task was
    /// created cancels the call.
    async fn spawn(self, running: BoxFuture<'static, Reply>) -> Created {
        let (created, confirmed) = oneshot::channel();
        tokio::spawn(self.run(running, created).in_current_span());
        match confirmed.await {
            Ok(created) => created,
            Err(_) => {
                let fault = Fault::internal("the task was not created");
                Created::Refused(fault.clone(), Box::pin(std::future::ready(fault.into())))
            }
        }
    }

    async fn run(mut self, running: BoxFuture<'static, Reply>, created: oneshot::Sender<Created>) {
        let ttl = finite(self.shared.ttl.unwrap_or(Duration::MAX));
        let deadline = Instant::now() + ttl;
        if let Err(fault) = self.create(ttl).await {
            let _ = created.send(Created::Refused(fault, running));
            return;
        }
        let task = Box::new(self.record.task.clone());
        let mut open = self.shared.counters.open();
        // From here on, the task asks and reports.
        self.link.promote();
        let id = self.record.task.task_id.clone();
        if created.send(Created::Task(task)).is_err() {
            // The caller is gone and does not know the id. The error is in the log.
            let _ = self.shared.call(self.shared.store.remove(&id)).await;
            return;
        }
        let running = catch_panic(running);
        let reply: Reply = tokio::select! {
            reply = running => match reply {
                Ok(reply) => reply,
                Err(panic) => {
                    tracing::error!(panic = %mcp_types::escaped(&panic), "a task panicked");
                    Fault::internal("internal error").into()
                }
            },
            stopped = self.follow(&mut open) => match stopped {
                Stopped::Over => return,
                Stopped::TooLarge => Fault::internal("the task asks more than the store can hold").into(),
            },
            () = sleep_until(deadline) => {
                let _ = self.shared.call(self.shared.store.remove(&id)).await;
                return;
            }
        };
        if let Some(observer) = &self.observer {
            (observer.0)(&reply);
        }
        let outcome = Outcome::from_reply(reply, self.profile.clone());
        self.finish(&id, outcome, &mut open).await;
    }

    /// Stores the task. A later `tasks/get` finds it.
    // spec: TASK-09
    async fn create(&self, ttl: Duration) -> Result<(), Fault> {
        let Self { shared, record, .. } = self;
        shared.keep_alive(&record.node).await?;
        let insert = shared.store.insert(record.clone(), ttl, &shared.limits);
        match shared.call(insert).await? {
            TaskWrite::Stored => Ok(()),
            TaskWrite::PrincipalFull => {
                let limit = shared.limits.tasks_per_principal;
                let message = format_args!("you have {limit} tasks already");
                Err(Fault::rate_limited(message, RETRY_AFTER))
            }
            _ => {
                let message = "this server has too many tasks already";
                Err(Fault::overloaded(message, RETRY_AFTER))
            }
        }
    }

    /// Writes questions and progress of the call to the store, and delivers the answers from there.
    async fn follow(&mut self, open: &mut OpenTask) -> Stopped {
        let mut next_report = Instant::now();
        loop {
            let revision = self.record.revision;
            let id = &self.record.task.task_id;
            let reported = async {
                self.link.reported.notified().await;
                sleep_until(next_report).await;
            };
            tokio::select! {
                () = self.link.asked.notified() => {}
                () = reported => {}
                changed = self.shared.store.changed(id, revision) => {
                    if let Err(error) = changed {
                        tracing::error!(error = %mcp_types::escaped(&error), "the store of tasks failed");
                        tokio::time::sleep(RETRY_PAUSE).await;
                    }
                }
            }
            next_report = Instant::now() + REPORT_PAUSE;
            match self.exchange(open).await {
                Ok(None) => {}
                Ok(Some(stopped)) => return stopped,
                // The error is in the log.
                Err(_) => {
                    tokio::time::sleep(RETRY_PAUSE).await;
                    self.link.asked.notify_one();
                }
            }
        }
    }

    /// Delivers answers, then stores the open questions and the status message.
    async fn exchange(&mut self, counted: &mut OpenTask) -> Result<Option<Stopped>, Fault> {
        let link = &self.link;
        let changed = self.shared.change(&self.record.task.task_id, |mut record| {
            link.deliver(&record.answers);
            record.answers.clear();
            let (open, message) = link.snapshot();
            record.task = with_questions(record.task, open, message);
            Ok(record)
        });
        match changed.await? {
            Changed::Stored(record) => {
                counted.set(&record.task.status);
                self.record = *record;
                let is_over = self.record.task.status.is_terminal();
                Ok(is_over.then_some(Stopped::Over))
            }
            Changed::Gone => Ok(Some(Stopped::Over)),
            Changed::Full => Ok(Some(Stopped::TooLarge)),
        }
    }

    /// Stores the outcome with the last progress. A task that was cancelled or has expired stays as it is.
    async fn finish(&self, id: &str, outcome: Outcome, counted: &mut OpenTask) {
        let (_, message) = self.link.snapshot();
        let store = async |outcome: &Outcome| {
            let change = |mut record: TaskRecord| {
                if message.is_some() {
                    record.task.status_message.clone_from(&message);
                }
                Ok(Shared::finished(record, outcome))
            };
            self.shared.change(id, change).await
        };
        let mut stored = store(&outcome).await;
        if stored.is_err() {
            tokio::time::sleep(RETRY_PAUSE).await;
            stored = store(&outcome).await;
        }
        if matches!(stored, Ok(Changed::Full)) {
            tracing::error!(id, "the result of a task does not fit into the store");
            let outcome = Outcome::internal("the result of the task is too large to be stored");
            // The error is in the log.
            stored = store(&outcome).await;
        }
        if let Ok(Changed::Stored(record)) = stored {
            counted.set(&record.task.status);
        }
    }
}

/// Returns the task with these open questions, and with a new time if anything has changed.
fn with_questions(mut task: Task, open: mcp_types::InputRequests, message: Option<String>) -> Task {
    let asked = task.input_requests.clone().unwrap_or_default();
    if asked == open && (message.is_none() || task.status_message == message) {
        return task;
    }
    if message.is_some() {
        task.status_message = message;
    }
    with_open_questions(task, open)
}

/// Converts a duration into an integer that JSON numbers represent exactly.
fn milliseconds(duration: Duration) -> u64 {
    finite(duration).as_millis() as u64
}

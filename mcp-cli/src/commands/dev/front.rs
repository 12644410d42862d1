//! The stable side of `mcp dev`: calls wait, run, or get the reason why they cannot.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp::ClientBuilder;
use mcp::client::Error;
use mcp::core::{Call, CloseReason, Exchange, Fault, Reply};
use mcp::gateway::{GatewayControl, GatewayServer};
use mcp::middleware::Next;
use mcp::prelude::*;
use mcp::types::CallToolResult;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::plan::Program;
use crate::output::Output;

/// The name of the server in the gateway.
pub(super) const SERVER: &str = "server";

/// Longest wait of a call for a build and a start. Clients give up after a minute.
const MAX_WAIT: Duration = Duration::from_secs(45);

/// Time for the end of calls that run when the next program is ready.
const MAX_DRAIN: Duration = Duration::from_secs(5);

/// Calls between the clients and the program.
#[derive(Debug)]
pub(super) struct Front {
    shared: watch::Sender<Shared>,
    /// The connection with the program that runs.
    client: Mutex<Option<Client>>,
    output: Output,
}

#[derive(Debug)]
struct Shared {
    state: State,
    /// The number of calls that run.
    running: usize,
    /// The program to start. Each start has another number.
    program: Option<Program>,
    number: u64,
}

#[derive(Debug)]
enum State {
    /// Calls wait for a build or a start.
    Waiting,
    /// A call waits for the start of a program that has ended.
    Wanted,
    /// The program answers.
    Ready,
    /// The build has failed.
    Broken(Arc<str>),
    /// The program has ended. The next call starts it again.
    Ended(Arc<str>),
}

/// A call that runs. The next program waits until this is dropped.
struct RunningCall<'a>(&'a Front);

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.shared.send_modify(|shared| shared.running -= 1);
    }
}

impl Front {
    pub(super) fn new(output: Output) -> Self {
        Self {
            shared: watch::Sender::new(Shared {
                state: State::Waiting,
                running: 0,
                program: None,
                number: 0,
            }),
            client: Mutex::default(),
            output,
        }
    }

    /// The program as a server of the gateway. All calls share one process: a second one might use the port or the
    /// files of the first.
    pub(super) fn server(self: &Arc<Self>) -> GatewayServer {
        let front = self.clone();
        GatewayServer::new(SERVER, move |client| front.clone().connect(client)).one_session()
    }

    /// Answers a call.
    pub(super) async fn answer(self: Arc<Self>, exchange: Exchange, next: Next) -> Reply {
        let is_tool = match &exchange.call {
            Call::CallTool(_) => true,
            Call::ReadResource(_) | Call::GetPrompt(_) | Call::Complete(_) => false,
            // Lists are those of the last program.
            _ => return next.run(exchange).await,
        };
        let _running = match self.enter().await {
            Ok(running) => running,
            Err(problem) => return refusal(is_tool, &problem),
        };
        let client = self.client().clone();
        let reply = next.run(exchange).await;
        let reason = client.and_then(|client| client.close_reason());
        match (reply, reason) {
            (Reply::Fault(_), Some(CloseReason::Local)) => {
                let seconds = MAX_DRAIN.as_secs();
                let text = format!(
                    "the source of the server has changed; the call did not end within {seconds} s and was stopped, \
                     and the server started again: call again"
                );
                refusal(is_tool, &text)
            }
            (Reply::Fault(_), Some(reason)) => refusal(is_tool, &end_of_program(&reason)),
            (reply, _) => reply,
        }
    }

    /// Waits until the program answers calls. Starts it again if it has ended.
    ///
    /// # Errors
    ///
    /// Returns the reason why it does not answer.
    async fn enter(&self) -> Result<RunningCall<'_>, Arc<str>> {
        let mut shared = self.shared.subscribe();
        let end = Instant::now() + MAX_WAIT;
        let mut starts_again = true;
        loop {
            let is_settled =
                |shared: &Shared| !matches!(shared.state, State::Waiting | State::Wanted);
            if timeout_at(end, shared.wait_for(is_settled)).await.is_err() {
                return Err("the server is still being built; call again in a minute".into());
            }
            // The task that reports the end may not have run yet.
            if let Some(reason) = self.close_reason() {
                let is_ready = |state: &State| matches!(state, State::Ready);
                self.set_if(State::Ended(end_of_program(&reason).into()), is_ready);
            }
            let mut entered = None;
            self.shared.send_if_modified(|shared| {
                match &shared.state {
                    State::Waiting | State::Wanted => {}
                    State::Ready => {
                        shared.running += 1;
                        entered = Some(Ok(RunningCall(self)));
                    }
                    State::Ended(_) if starts_again => {
                        starts_again = false;
                        shared.state = State::Wanted;
                        return true;
                    }
                    State::Broken(problem) | State::Ended(problem) => {
                        entered = Some(Err(problem.clone()));
                    }
                }
                false
            });
            if let Some(entered) = entered {
                return entered;
            }
        }
    }

    /// Waits until a call wants a program that has ended.
    pub(super) async fn wanted(&self) {
        let mut shared = self.shared.subscribe();
        let is_wanted = |shared: &Shared| matches!(shared.state, State::Wanted);
        // The sender is in `self`.
        let _ = shared.wait_for(is_wanted).await;
    }

    /// Notes that a build runs. The running program goes on; without one, calls wait.
    pub(super) fn build_begins(&self) {
        self.set_if(State::Waiting, |state| !matches!(state, State::Ready));
    }

    pub(super) fn build_failed(&self, problem: String) {
        self.set_if(State::Broken(problem.into()), |_| true);
    }

    /// Notes that the running program is up to date. Returns false if it has ended.
    pub(super) fn is_up_to_date(&self) -> bool {
        let runs = self.client().is_some() && self.close_reason().is_none();
        if runs {
            self.set_if(State::Ready, |_| true);
        }
        runs
    }

    /// Starts the next program, after the calls that run. Returns true when it is listed.
    pub(super) async fn start(&self, program: Program, control: &GatewayControl) -> bool {
        self.set_if(State::Waiting, |_| true);
        let mut shared = self.shared.subscribe();
        // Calls that run for longer are stopped.
        let _ = timeout(MAX_DRAIN, shared.wait_for(|shared| shared.running == 0)).await;
        self.shared.send_modify(|shared| {
            shared.number += 1;
            shared.program = Some(program);
        });
        let is_waiting = |state: &State| matches!(state, State::Waiting);
        match control.restart(SERVER).await {
            Ok(()) => self.set_if(State::Ready, is_waiting),
            Err(error) => self.set_if(State::Ended(error.to_string().into()), is_waiting),
        }
        matches!(self.shared.borrow().state, State::Ready)
    }

    /// Ends the former program, and starts the current one. The gateway's own attempts to start one that has ended
    /// fail: the next call starts it.
    async fn connect(self: Arc<Self>, client: ClientBuilder) -> Result<Client, Error> {
        let mut taken = (0, None);
        self.shared.send_if_modified(|shared| {
            taken = (shared.number, shared.program.take());
            false
        });
        let (number, program) = taken;
        let Some(program) = program else {
            if number == 0 {
                // Called again after the first build.
                return pending().await;
            }
            return Err(Error::other("the program has ended"));
        };
        let connecting = async {
            let former = self.client().take();
            if let Some(former) = former {
                // Best effort: the process is killed in any case.
                let _ = former.close().await;
            }
            client
                .connect(program.command().map_err(Error::other)?)
                .await
        };
        let mut shared = self.shared.subscribe();
        let connected = tokio::select! {
            connected = connecting => connected,
            // The process ends with its connection.
            _ = shared.wait_for(|shared| shared.number != number) => {
                return Err(Error::other("a newer program is ready"));
            }
        };
        match &connected {
            Ok(client) => {
                *self.client() = Some(client.clone());
                tokio::spawn(self.clone().watch(number, client.clone()));
            }
            Err(error) if error.is_timeout() => {
                let hint = format!("{error}; does it serve standard streams?");
                self.ended(number, does_not_run(&hint));
            }
            Err(error) => self.ended(number, does_not_run(&error.to_string())),
        }
        connected
    }

    /// Reports the end of a program.
    async fn watch(self: Arc<Self>, number: u64, client: Client) {
        let reason = client.closed().await;
        if reason != CloseReason::Local {
            self.ended(number, end_of_program(&reason));
        }
    }

    fn ended(&self, number: u64, problem: String) {
        if self.shared.borrow().number != number {
            return;
        }
        self.output
            .event(&problem, &json!({"event": "ended", "reason": problem}));
        let is_broken = |state: &State| matches!(state, State::Broken(_));
        self.set_if(State::Ended(problem.into()), |state| !is_broken(state));
    }

    fn set_if(&self, next: State, is_replaced: impl FnOnce(&State) -> bool) {
        self.shared.send_if_modified(|shared| {
            let replaces = is_replaced(&shared.state);
            if replaces {
                shared.state = next;
            }
            replaces
        });
    }

    /// Returns the reason why the current program has ended.
    fn close_reason(&self) -> Option<CloseReason> {
        self.client().as_ref().and_then(Client::close_reason)
    }

    fn client(&self) -> MutexGuard<'_, Option<Client>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Describes the end of a program with the last lines of its standard error.
fn end_of_program(reason: &CloseReason) -> String {
    match reason {
        CloseReason::Broken(error) => does_not_run(&error.to_string()),
        reason => does_not_run(&reason.to_string()),
    }
}

fn does_not_run(text: &str) -> String {
    format!("the server does not run; correct its source and call again: {text}")
}

/// Answers a call that does not run: as an error that a model sees, where the protocol has one.
fn refusal(is_tool: bool, problem: &str) -> Reply {
    if is_tool {
        return CallToolResult::error(problem).into();
    }
    Fault::internal(problem.to_owned()).into()
}

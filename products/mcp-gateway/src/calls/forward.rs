//! A call of the gateway: one call of a server, or several with input between them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_client::{Client, Error, PreparedCall, Step};
use mcp_core::{BackChannelError, Fault};
use mcp_server::AskError;
use mcp_types::meta::keys;
use mcp_types::{ElicitParams, InputRequest, InputRequired, InputResponse};
use tokio::time::timeout;
use uuid::Uuid;

use super::failure::CallFailure;
use super::request::Request;
use super::running::RunningCall;
use super::state::{RequestState, to_fault};
use super::upstream::{Upstream, with_caller, with_tasks};
use crate::sessions::roots::CallerRoots;

/// Longest wait for the end of a visit, as that of clients.
const VISIT_LIMIT: Duration = Duration::from_secs(300);

impl Upstream {
    /// Passes on a call that becomes no task. `prepare` makes it, once more after each round of input.
    pub(crate) async fn call<R, F>(&self, request: &Request, prepare: F) -> Result<R, CallFailure>
    where
        R: Send + 'static,
        F: Fn(&Client) -> PreparedCall<'static, R>,
    {
        let state = request.state()?;
        self.result(self.forward(request, state, false, prepare).await?)
    }

    /// Returns the result of a call that becomes no task.
    pub(crate) fn result<R>(&self, step: Step<'static, R>) -> Result<R, CallFailure> {
        match step {
            Step::Done(result) => Ok(result),
            _ => Err(CallFailure::of_server(Fault::internal(format!(
                "the server {:?} of this gateway has answered with a task, which only tools may do",
                self.server
            )))),
        }
    }

    /// Passes on a call that may become a task. `state` is the part that was done before. Returns a result or a task.
    pub(crate) async fn forward<R, F>(
        &self,
        request: &Request,
        state: Option<RequestState>,
        declares_tasks: bool,
        prepare: F,
    ) -> Result<Step<'static, R>, CallFailure>
    where
        R: Send + 'static,
        F: Fn(&Client) -> PreparedCall<'static, R>,
    {
        let call = Forwarded {
            upstream: self,
            request,
            prepare,
            round: 0,
            former: BTreeSet::new(),
            declares_tasks,
        };
        call.run(state).await
    }
}

/// A call of the gateway: one call of a server, or several with input between them. The route's handler makes it for a
/// request, and it ends with the reply.
struct Forwarded<'a, F> {
    upstream: &'a Upstream,
    request: &'a Request,
    prepare: F,
    /// Number of input rounds so far.
    round: usize,
    /// The keys of all rounds so far.
    former: BTreeSet<String>,
    /// The calls of the server declare tasks.
    declares_tasks: bool,
}

impl<R, F> Forwarded<'_, F>
where
    R: Send + 'static,
    F: Fn(&Client) -> PreparedCall<'static, R>,
{
    async fn run(mut self, state: Option<RequestState>) -> Result<Step<'static, R>, CallFailure> {
        let mut running = self.begin_or_resume(state).await?;
        loop {
            match running.next(self.request).await {
                Err(error) if self.must_declare_tasks(&error) => {
                    self.declares_tasks = true;
                    drop(running);
                    running = self.start(None).await?;
                }
                Err(error) => return Err(self.upstream.failure(&error)),
                Ok(None) => {
                    running.ask()?;
                    running = self.pass_question(running).await?;
                }
                Ok(Some(Step::InputRequired(input))) => {
                    let required = input.required().clone();
                    drop(input);
                    if let Some(fault) = self.required_visits(&running.client, &required) {
                        return Err(CallFailure::of_server(fault));
                    }
                    drop(running);
                    running = self.next_round(required).await?;
                }
                Ok(Some(Step::Extended { .. })) if !self.declares_tasks => {
                    return Err(CallFailure::of_server(Fault::internal(
                        "the server has sent a task that the call does not declare",
                    )));
                }
                Ok(Some(step)) => return Ok(step),
            }
        }
    }

    /// Returns true if the server refuses the call because it runs it as a task only. The gateway then declares
    /// tasks, and follows the task. Other calls are made without, because they have progress then.
    fn must_declare_tasks(&self, error: &Error) -> bool {
        let is_refused = matches!(
            error.fault(),
            Some(Fault::MissingCapability { required })
                if required.has_extension(keys::TASKS_EXTENSION)
        );
        is_refused && !self.declares_tasks && self.round == 0
    }

    /// Starts the call, or continues it with the client's input.
    async fn begin_or_resume(
        &mut self,
        state: Option<RequestState>,
    ) -> Result<RunningCall<R>, CallFailure> {
        match state {
            None | Some(RequestState::Roots { .. }) => self.start(None).await,
            Some(RequestState::Round {
                number,
                required,
                keys,
                former,
                declares_tasks,
                ..
            }) => {
                (self.round, self.former) = (number, former);
                self.declares_tasks |= declares_tasks;
                // Without the answers, the client is asked again: with another state.
                self.answer_round(required, keys).await
            }
            Some(RequestState::Parked { id }) => {
                let running = self.take_parked(id)?;
                self.pass_question(running).await
            }
            Some(RequestState::Task { .. }) => {
                Err(Fault::internal("only tools may have tasks").into())
            }
        }
    }

    async fn start(
        &self,
        input: Option<(InputRequired, BTreeMap<String, InputResponse>)>,
    ) -> Result<RunningCall<R>, CallFailure> {
        let Request { caller, ask, .. } = self.request;
        let capabilities = self.upstream.capabilities(&caller.facts, ask.is_some());
        let in_use = self.upstream.usage.begin();
        let mut key = self.upstream.key(caller, capabilities).await?;
        let lease = loop {
            if self.upstream.needs_roots(&key) {
                key.roots = self.roots().await?;
            }
            let lease = self.upstream.lease(caller, &key, self.declares_tasks);
            let lease = lease.await?;
            // The server may have asked for the first time when the session began.
            if !self.upstream.needs_roots(&key) {
                break lease;
            }
        };
        let headers = self.upstream.headers(&caller.key, key.credentials)?;
        let capabilities = if self.declares_tasks {
            with_tasks(key.capabilities)
        } else {
            key.capabilities
        };
        let prepare = |client: &Client| {
            let call = (self.prepare)(client).capabilities(capabilities);
            let call = with_caller(call, key.client, headers);
            match input {
                Some((required, responses)) => call.resume(required, responses),
                None => call,
            }
        };
        let extensions = self.upstream.settings.extensions.clone();
        RunningCall::start(self.request, lease, in_use, extensions, key.roots, prepare)
            .await
            .map_err(CallFailure::from)
    }

    /// Asks the client for its roots. The session of the call is one with these roots.
    async fn roots(&self) -> Result<CallerRoots, Fault> {
        let Request { caller, ask, .. } = self.request;
        let ask = ask.as_ref();
        let Some(ask) = ask.filter(|_| caller.facts.capabilities.roots.is_some()) else {
            return Ok(CallerRoots::Refused);
        };
        // The call is counted once.
        let state = RequestState::Roots { id: Uuid::new_v4() };
        ask.keep(&state).map_err(to_fault)?;
        match ask.forward("roots", InputRequest::ListRoots).await {
            Ok(InputResponse::ListRoots(list)) => Ok(CallerRoots::Known(list.roots.into())),
            Ok(_) | Err(AskError::NoAnswer(BackChannelError::Refused(_))) => {
                Ok(CallerRoots::Refused)
            }
            Err(error) => Err(to_fault(error)),
        }
    }

    /// Asks the client for the input that the server requires, and repeats the call with it.
    async fn next_round(&mut self, required: InputRequired) -> Result<RunningCall<R>, CallFailure> {
        self.round += 1;
        let requests = required.requests();
        let requests = requests.map_err(|error| Fault::internal(error.to_string()))?;
        let keys: BTreeMap<_, _> = requests.into_keys().map(|key| self.rename(key)).collect();
        self.former.extend(keys.values().cloned());
        self.answer_round(required, keys).await
    }

    /// Returns the fault with the visits that a legacy server requires before it accepts the call, for a client whose
    /// revision has this fault. Other clients are asked.
    // spec: ERR-13
    fn required_visits(&self, client: &Client, required: &InputRequired) -> Option<Fault> {
        let is_passed = !client.protocol_version().is_modern()
            && self
                .request
                .caller
                .facts
                .version
                .has_url_elicitation_error();
        let ask = self.request.ask.as_ref().filter(|_| is_passed)?;
        let requests = required.requests().ok()?.into_iter();
        let elicitations = requests.filter_map(|(key, request)| match request {
            InputRequest::Elicit(params) => match *params {
                ElicitParams::Url(mut url) => {
                    let own = ask.elicitation_id(&key);
                    if let Some(id) = url.elicitation_id.replace(own.clone()) {
                        self.pass_completion(client, &id, own);
                    }
                    Some(url)
                }
                _ => None,
            },
            _ => None,
        });
        let elicitations = elicitations.collect();
        Some(Fault::UrlElicitationRequired { elicitations })
    }

    /// Tells the client when a server's elicitation ends. The client knows it by the id `own`. The report may
    /// come after the call.
    // spec: ELIC-10
    fn pass_completion(&self, client: &Client, id: &str, own: String) {
        let completed = client.elicitation_completed(id);
        let clients = self.upstream.clients.clone();
        tokio::spawn(async move {
            if timeout(VISIT_LIMIT, completed).await.is_ok() {
                clients.elicitation_complete(&own);
            }
        });
    }

    /// Returns the server's key and the key for the client. They differ if an earlier round had the same key, because an
    /// answer counts for all rounds.
    fn rename(&self, key: String) -> (String, String) {
        let own = if self.former.contains(&key) {
            format!("{}/{key}", self.round)
        } else {
            key.clone()
        };
        (key, own)
    }

    /// Asks the client for the input of a round, and repeats the call with it.
    async fn answer_round(
        &self,
        required: InputRequired,
        keys: BTreeMap<String, String>,
    ) -> Result<RunningCall<R>, CallFailure> {
        let ask = self.request.keep(&RequestState::Round {
            id: Uuid::new_v4(),
            number: self.round,
            required: required.clone(),
            keys: keys.clone(),
            former: self.former.clone(),
            declares_tasks: self.declares_tasks,
        })?;
        let requests = required.requests();
        let requests = requests.map_err(|error| Fault::internal(error.to_string()))?;
        let questions = requests.iter().map(|(key, request)| {
            let key = keys.get(key).unwrap_or(key).clone();
            ask.forward(key, request.clone())
        });
        let responses = ask.all(questions.collect::<Vec<_>>()).await;
        let responses = responses.map_err(to_fault)?;
        let responses = requests.into_keys().zip(responses).collect();
        self.start(Some((required, responses))).await
    }

    /// Passes on the question of a server, which waits for the answer. For a client that answers with its next request,
    /// the call is parked meanwhile, and again if the next request has no answer.
    async fn pass_question(
        &self,
        mut running: RunningCall<R>,
    ) -> Result<RunningCall<R>, CallFailure> {
        let Some(question) = &running.question else {
            return Ok(running);
        };
        let (key, request) = (format!("q{}", running.asked), question.request.clone());
        let ask = self.request.asker()?;
        if self.request.runs_again() {
            let owner = self.request.caller.owner();
            let id = self.upstream.parked.park(owner, running)?;
            self.request.keep(&RequestState::Parked { id })?;
            // If the reply contains the question, this future is dropped, and the call stays parked.
            let answer = ask.forward(key, request).await;
            running = self.take_parked(id)?;
            running.answer(answer.map_err(to_fault));
            return Ok(running);
        }
        if let InputRequest::Elicit(params) = &request
            && let ElicitParams::Url(url) = &**params
            && let Some(id) = &url.elicitation_id
        {
            self.pass_completion(&running.client, id, ask.elicitation_id(&key));
        }
        let answer = ask.forward(key, request).await;
        running.answer(answer.map_err(to_fault));
        Ok(running)
    }

    fn take_parked(&self, id: Uuid) -> Result<RunningCall<R>, Fault> {
        let parked = self.upstream.parked.take(&self.request.caller.key, id);
        parked.ok_or_else(|| {
            Fault::Refused(
                "the call has ended meanwhile, or waits at another node of this gateway; make it again"
                    .into(),
            )
        })
    }
}

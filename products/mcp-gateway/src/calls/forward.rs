//! A call of the gateway: one call of a server, or several with input between them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_auth::AccessToken;
use mcp_client::{Client, Error, PreparedCall, Step};
use mcp_core::{BackChannelError, CallerKey, Fault};
use mcp_server::{
    Ask, AskError, CallContext, FromCall, Log, Progress, Rejection, RequestMeta, RouteSpec,
};
use mcp_types::meta::keys;
use mcp_types::{
    ElicitParams, InputRequest, InputRequests, InputRequired, InputResponse, Meta, RawObject,
};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::time::timeout;
use uuid::Uuid;

use super::failure::CallFailure;
use super::running::{CallEvent, Context, UpstreamCall};
use super::upstream::{Upstream, with_caller, with_tasks};
use crate::sessions::questions::{CallerRoots, Question};
use crate::settings::credentials::Caller;
use crate::tasks::ids::TaskSlot;

/// Longest wait for the end of a visit, as that of clients.
const VISIT_LIMIT: Duration = Duration::from_secs(300);

/// A client request, without its arguments.
pub(crate) struct Request {
    /// The name or URI as the client sent it.
    pub(crate) item: String,
    pub(crate) caller: Caller,
    /// Set if the client declares tasks.
    pub(crate) tasks: Option<TaskSlot>,
    pub(crate) ask: Option<Ask>,
    context: Context,
}

impl FromCall for Request {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let meta = <Option<RequestMeta>>::from_call(call)?;
        Ok(Self {
            item: call.item().unwrap_or_default().to_owned(),
            caller: FromCall::from_call(call)?,
            tasks: call.extensions().get().cloned(),
            ask: FromCall::from_call(call)?,
            context: Context {
                meta: meta.map(|RequestMeta(meta)| meta),
                progress: FromCall::from_call(call)?,
                log: FromCall::from_call(call)?,
                notifications: call.notifications().clone(),
                facts: call.facts().clone(),
            },
        })
    }

    fn describe(spec: &mut RouteSpec) {
        <Option<Ask>>::describe(spec);
        <Option<RequestMeta>>::describe(spec);
        Progress::describe(spec);
        Log::describe(spec);
    }
}

impl Request {
    /// Returns the request's `_meta`.
    pub(crate) fn meta(&self) -> Option<&Meta> {
        self.context.meta.as_ref()
    }

    /// Returns the caller, its token and the `_meta` of the request, for further requests to the server.
    pub(crate) fn origin(&self) -> (&CallerKey, Option<&AccessToken>, Option<&Meta>) {
        (&self.caller.key, self.caller.token.as_ref(), self.meta())
    }

    /// Returns the way to ask the client.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Refused`] for a client that cannot be asked.
    pub(crate) fn asker(&self) -> Result<&Ask, Fault> {
        self.ask.as_ref().ok_or(Fault::Refused(
            "this call has to ask its client, which cannot be asked".into(),
        ))
    }

    /// Returns the data that the gateway has kept for a request that its client repeats with input.
    pub(crate) fn kept(&self) -> Result<Option<Kept>, Fault> {
        let kept = self.ask.as_ref().map(Ask::kept);
        Ok(kept.transpose().map_err(to_fault)?.flatten())
    }

    /// Returns the time for which states are valid.
    pub(crate) fn state_lifetime(&self) -> Duration {
        self.ask
            .as_ref()
            .map_or(Duration::ZERO, Ask::state_lifetime)
    }
}

/// Data of one request state. It travels, sealed, through the client.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    /// A state that is sent again has the same id.
    pub(crate) id: Uuid,
    pub(crate) waiting: Waiting,
}

impl Kept {
    /// Returns true if the state continues a parked call, which can be taken once. At another node it continues nothing.
    pub(crate) fn is_parked(&self) -> bool {
        matches!(self.waiting, Waiting::Parked { .. })
    }
}

/// Keeps data for the client's next request, in a new state.
pub(crate) fn keep(ask: &Ask, waiting: Waiting) -> Result<(), Fault> {
    let kept = Kept {
        id: Uuid::new_v4(),
        waiting,
    };
    ask.keep(&kept).map_err(to_fault)
}

/// Data that the gateway needs when the client repeats its request.
#[derive(Serialize, Deserialize)]
pub(crate) enum Waiting {
    /// The server requires input for its next request: no node of the gateway keeps anything.
    Round {
        number: usize,
        required: InputRequired,
        /// The keys of the client's answers, by the server's keys.
        keys: BTreeMap<String, String>,
        /// The keys of earlier rounds.
        former: BTreeSet<String>,
        /// The calls of the server declare tasks.
        #[serde(default)]
        declares_tasks: bool,
    },
    /// The server waits for the answer to a question. This node keeps its call.
    Parked {
        id: Uuid,
        key: String,
        request: InputRequest,
    },
    /// The call has not begun. The gateway has asked its client for its roots.
    Roots,
    /// The gateway follows a task of the server, which requires input.
    Task(FollowedTask),
}

/// A task of a server whose client declares no tasks, while it requires input.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct FollowedTask {
    pub(crate) id: String,
    pub(crate) poll_interval_ms: Option<u64>,
    /// The keys that were answered.
    pub(crate) answered: BTreeSet<String>,
    /// The requests that the client is asked.
    pub(crate) open: InputRequests,
}

/// The end of a call at its server.
pub(crate) enum CallEnd<R> {
    Done(R),
    /// The server has created a task.
    Task(RawObject),
}

/// A call with a question that waits for its answer.
type OpenCall<R> = (
    UpstreamCall<R>,
    oneshot::Sender<Result<InputResponse, Fault>>,
);

impl Upstream {
    /// Passes on a call. `prepare` makes it, once more after each round of input.
    pub(crate) async fn call<R, F>(&self, request: &Request, prepare: F) -> Result<R, CallFailure>
    where
        R: Send + 'static,
        F: Fn(&Client) -> PreparedCall<'static, R>,
    {
        let waiting = request.kept()?.map(|kept| kept.waiting);
        match self.forward(request, waiting, prepare).await? {
            CallEnd::Done(result) => Ok(result),
            CallEnd::Task(_) => Err(CallFailure::of_server(Fault::internal(format!(
                "the server {:?} of this gateway has answered with a task, which only tools may do",
                self.server
            )))),
        }
    }

    /// Passes on a call that may become a task. `waiting` is the part that was done before.
    pub(crate) async fn forward<R, F>(
        &self,
        request: &Request,
        waiting: Option<Waiting>,
        prepare: F,
    ) -> Result<CallEnd<R>, CallFailure>
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
            declares_tasks: request.tasks.is_some(),
        };
        call.run(waiting).await
    }
}

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
    async fn run(mut self, waiting: Option<Waiting>) -> Result<CallEnd<R>, CallFailure> {
        let mut running = self.begin_or_resume(waiting).await?;
        loop {
            let next = running.next(&self.request.context).await;
            match next {
                Err(error) if self.must_declare_tasks(&error) => {
                    self.declares_tasks = true;
                    drop(running);
                    running = self.start(None).await?;
                }
                Err(error) => return Err(self.upstream.failure(&error)),
                Ok(CallEvent::Ended(Step::Done(result))) => return Ok(CallEnd::Done(result)),
                Ok(CallEvent::Ended(Step::Extended { body, .. })) if self.declares_tasks => {
                    return Ok(CallEnd::Task(body));
                }
                Ok(CallEvent::Ended(Step::Extended { .. })) => {
                    return Err(CallFailure::of_server(Fault::internal(
                        "the server has sent a task that the call does not declare",
                    )));
                }
                Ok(CallEvent::Ended(Step::InputRequired(input))) => {
                    let required = input.required().clone();
                    drop(input);
                    if let Some(fault) = self.required_visits(&running.client, &required) {
                        return Err(CallFailure::of_server(fault));
                    }
                    drop(running);
                    running = self.next_round(required).await?;
                }
                Ok(CallEvent::Asked(question)) => {
                    running = self.pass_question(running, question).await?;
                }
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
        waiting: Option<Waiting>,
    ) -> Result<UpstreamCall<R>, CallFailure> {
        match waiting {
            None | Some(Waiting::Roots) => self.start(None).await,
            Some(Waiting::Round {
                number,
                required,
                keys,
                former,
                declares_tasks,
            }) => {
                (self.round, self.former) = (number, former);
                self.declares_tasks |= declares_tasks;
                // Without the answers, the client is asked again: with another state.
                self.keep_round(&required, &keys)?;
                self.answer_round(required, keys).await
            }
            Some(Waiting::Parked { id, key, request }) => {
                let parked = self.upstream.parked.take(&self.request.caller.key, id);
                let parked = parked.ok_or_else(|| {
                    Fault::Refused(
                        "the call has ended meanwhile, or waits at another node of this gateway; make it again"
                            .into(),
                    )
                })?;
                self.answer_parked(parked, key, request).await
            }
            Some(Waiting::Task(_)) => Err(Fault::internal("only tools may have tasks").into()),
        }
    }

    async fn start(
        &self,
        input: Option<(InputRequired, BTreeMap<String, InputResponse>)>,
    ) -> Result<UpstreamCall<R>, CallFailure> {
        let Request { caller, ask, .. } = self.request;
        let capabilities = self.upstream.capabilities(&caller.facts, ask.is_some());
        let in_use = self.upstream.usage.begin();
        let mut key = self.upstream.key(caller, capabilities).await?;
        let session = loop {
            if self.upstream.needs_roots(&key) {
                key.roots = self.roots().await?;
            }
            let session = self.upstream.session(caller, &key, self.declares_tasks);
            let session = session.await?;
            // The server may have asked for the first time when the session began.
            if !self.upstream.needs_roots(&key) {
                break session;
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
        UpstreamCall::start(
            (session, in_use),
            prepare,
            &self.request.context,
            (extensions, key.roots),
        )
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
        keep(ask, Waiting::Roots)?;
        match ask.forward("roots", InputRequest::ListRoots).await {
            Ok(InputResponse::ListRoots(list)) => Ok(CallerRoots::Known(list.roots.into())),
            Ok(_) | Err(AskError::NoAnswer(BackChannelError::Refused(_))) => {
                Ok(CallerRoots::Refused)
            }
            Err(error) => Err(to_fault(error)),
        }
    }

    /// Asks the client for the input that the server requires, and repeats the call with it.
    async fn next_round(
        &mut self,
        required: InputRequired,
    ) -> Result<UpstreamCall<R>, CallFailure> {
        self.round += 1;
        let requests = required.requests();
        let requests = requests.map_err(|error| Fault::internal(error.to_string()))?;
        let keys: BTreeMap<_, _> = requests.into_keys().map(|key| self.rename(key)).collect();
        self.former.extend(keys.values().cloned());
        self.keep_round(&required, &keys)?;
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

    fn keep_round(
        &self,
        required: &InputRequired,
        keys: &BTreeMap<String, String>,
    ) -> Result<(), Fault> {
        let waiting = Waiting::Round {
            number: self.round,
            required: required.clone(),
            keys: keys.clone(),
            former: self.former.clone(),
            declares_tasks: self.declares_tasks,
        };
        keep(self.request.asker()?, waiting)
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

    async fn answer_round(
        &self,
        required: InputRequired,
        keys: BTreeMap<String, String>,
    ) -> Result<UpstreamCall<R>, CallFailure> {
        let ask = self.request.asker()?;
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

    /// Passes on a server question, which waits for the answer.
    async fn pass_question(
        &self,
        mut running: UpstreamCall<R>,
        question: Question,
    ) -> Result<UpstreamCall<R>, CallFailure> {
        let Question { request, response } = question;
        running.ask()?;
        let key = format!("q{}", running.asked);
        let ask = self.request.asker()?;
        if !ask.runs_again() {
            if let InputRequest::Elicit(params) = &request
                && let ElicitParams::Url(url) = &**params
                && let Some(id) = &url.elicitation_id
            {
                self.pass_completion(&running.client, id, ask.elicitation_id(&key));
            }
            let answer = ask.forward(key, request).await;
            // The server may have ended the call.
            let _ = response.send(answer.map_err(to_fault));
            return Ok(running);
        }
        self.answer_parked((running, response), key, request).await
    }

    /// Asks a client that answers with its next request, and passes the answer on. The call is parked meanwhile, and again
    /// if the next request has no answer.
    async fn answer_parked(
        &self,
        call: OpenCall<R>,
        key: String,
        request: InputRequest,
    ) -> Result<UpstreamCall<R>, CallFailure> {
        let ask = self.request.asker()?;
        let guard = self
            .upstream
            .parked
            .guard(self.request.caller.owner(), call)?;
        let waiting = Waiting::Parked {
            id: guard.id(),
            key: key.clone(),
            request: request.clone(),
        };
        keep(ask, waiting)?;
        // If the reply contains the question, this future is dropped, and the guard parks the call.
        let answer = ask.forward(key, request).await;
        let (running, response) = guard
            .into_call()
            .ok_or_else(|| Fault::internal("the call is parked already"))?;
        // The server may have ended the call.
        let _ = response.send(answer.map_err(to_fault));
        Ok(running)
    }
}

/// Returns the fault for a question without an answer.
pub(crate) fn to_fault(error: AskError) -> Fault {
    match error {
        AskError::NoAnswer(BackChannelError::Refused(fault)) => fault,
        error => error
            .to_fault()
            .unwrap_or_else(|| Fault::Refused(error.to_string().into())),
    }
}

//! A call of the gateway: one call of a server, or several with input between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use http::HeaderValue;
use http::header::AUTHORIZATION;
use mcp_client::group::Group;
use mcp_client::{Client, Error, PreparedCall};
use mcp_core::{BackChannelError, Fault};
use mcp_server::{
    Ask, AskError, CallContext, FromCall, Log, Progress, Rejection, RequestMeta, RouteSpec,
};
use mcp_types::{
    ClientCapabilities, CompleteParams, CompleteResult, ExtraFields, InputRequest, InputRequired,
    InputResponse, SamplingCapability,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::audit::{AuditEntry, Caller};
use super::counters::Counters;
use super::credentials::{AccessToken, credentials};
use super::options::ServerSettings;
use super::parked::Parked;
use super::questions::{Question, Questions};
use super::running::{CallSession, Context, Step, UpstreamCall};
use super::sessions::{SessionKey, Sessions};
use super::usage::Usage;

/// One server of the gateway, for its routes.
#[derive(Clone)]
pub(super) struct Upstream {
    pub(super) server: Arc<str>,
    pub(super) group: Group,
    /// The questions of the session that all calls share.
    pub(super) questions: Questions,
    /// The sessions of calls whose client can be asked. `None`: they share one session with all calls.
    pub(super) sessions: Option<Sessions>,
    pub(super) settings: Arc<ServerSettings>,
    pub(super) parked: Parked,
    pub(super) counters: Arc<Counters>,
    pub(super) usage: Usage,
}

/// The token of the caller, where the endpoint keeps it.
pub(super) struct CallerToken(pub(super) Option<AccessToken>);

impl FromCall for CallerToken {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.extensions().get().cloned()))
    }
}

/// The request of a client, without its arguments.
pub(super) struct Request {
    /// The name or URI as the client sent it.
    pub(super) item: String,
    pub(super) caller: Caller,
    token: CallerToken,
    /// The kinds of input that the client provides.
    capabilities: ClientCapabilities,
    ask: Option<Ask>,
    context: Context,
}

impl FromCall for Request {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let meta = <Option<RequestMeta>>::from_call(call)?;
        Ok(Self {
            item: call.item().unwrap_or_default().to_owned(),
            caller: Caller::new(call.extensions()),
            token: FromCall::from_call(call)?,
            capabilities: forwarded(&call.facts().capabilities),
            ask: FromCall::from_call(call)?,
            context: Context {
                meta: meta.map(RequestMeta::into_meta),
                progress: FromCall::from_call(call)?,
                log: FromCall::from_call(call)?,
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
    /// Returns whether the client repeats its request with input.
    pub(super) fn is_continued(&self) -> bool {
        let kept = self.ask.as_ref().map(Ask::kept::<IgnoredAny>);
        matches!(kept, Some(Ok(Some(_))))
    }
}

/// Data that the gateway needs when the client repeats its request. It travels, sealed, through the
/// client.
#[derive(Serialize, Deserialize)]
enum Waiting {
    /// The server requires input for its next request: no node of the gateway keeps anything.
    Round {
        number: usize,
        required: InputRequired,
        /// The keys of the client's answers, by the keys of the server.
        keys: BTreeMap<String, String>,
        /// The keys of earlier rounds.
        former: BTreeSet<String>,
    },
    /// The server waits for the answer to a question. This node keeps its call.
    Parked {
        id: Uuid,
        key: String,
        request: InputRequest,
    },
}

/// A call with a question that waits for its answer.
type OpenCall<R> = (
    UpstreamCall<R>,
    oneshot::Sender<Result<InputResponse, Fault>>,
);

impl Upstream {
    /// Passes a call on. `prepare` makes the call; it is made again after each round of input.
    pub(super) async fn call<R, F>(&self, request: Request, prepare: F) -> Result<R, Fault>
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
        };
        call.run().await
    }

    /// Returns the session for a call. A legacy server asks in a session, so that a call whose client can
    /// be asked needs one of its own, or its turn.
    async fn session(&self, key: &SessionKey) -> Result<CallSession, Fault> {
        let client = self.client().await?;
        let is_modern = client.protocol_version().is_modern();
        let can_be_asked = key.capabilities != ClientCapabilities::default();
        let asks_in_session = can_be_asked && !is_modern;
        // A session belongs to the caller that has opened it.
        let belongs_to_caller = key.credentials.is_some() && !is_modern;
        match &self.sessions {
            Some(sessions) if asks_in_session || belongs_to_caller => {
                let lease = sessions.lease(key).await?;
                let lease = lease.map_err(|error| self.unreachable(&error))?;
                Ok(CallSession::Own(Box::new(lease)))
            }
            _ => Ok(CallSession::Shared {
                client,
                questions: asks_in_session.then(|| self.questions.clone()),
            }),
        }
    }

    /// Returns the header `Authorization` for calls of a caller. `None`: the server knows the gateway only.
    pub(super) async fn credentials(
        &self,
        caller: Option<&AccessToken>,
    ) -> Result<Option<HeaderValue>, Fault> {
        match &self.settings.caller_tokens {
            Some(tokens) => credentials(tokens, caller).await.map(Some),
            None => Ok(None),
        }
    }

    /// Asks the server for completions in the name of a caller.
    pub(super) async fn complete(
        &self,
        caller: Option<&AccessToken>,
        params: CompleteParams,
    ) -> Result<Result<CompleteResult, Error>, Fault> {
        let credentials = self.credentials(caller).await?;
        let key = SessionKey {
            capabilities: ClientCapabilities::default(),
            credentials: credentials.clone(),
        };
        let session = self.session(&key).await?;
        let call = session.client().complete(params);
        let call = match credentials {
            Some(credentials) => call.header(AUTHORIZATION, credentials),
            None => call,
        };
        let completed = call.await;
        session.end();
        Ok(completed)
    }

    /// Returns the client of the server. Starts the server if it does not run.
    pub(super) async fn client(&self) -> Result<Client, Fault> {
        let client = self.group.client(&self.server).await;
        client.map_err(|error| self.unreachable(&error))
    }

    /// The fault for a client whose call fails. Only the log has the details of a connection, which may
    /// be those of an inner network.
    pub(super) fn fault(&self, error: &Error) -> Fault {
        match error.fault() {
            Some(fault) => fault.clone(),
            None if error.is_timeout() => {
                self.counters.add_failure(&error.to_string());
                Fault::Deadline
            }
            None => self.unreachable(error),
        }
    }

    /// Starts the audit entry of a call.
    pub(super) fn audit(
        &self,
        request: &Request,
        kind: &'static str,
        item: impl Into<String>,
    ) -> AuditEntry {
        AuditEntry::new(
            request.caller.clone(),
            &self.server,
            &self.counters,
            kind,
            item,
        )
    }

    fn unreachable(&self, error: &Error) -> Fault {
        let server = &self.server;
        tracing::warn!(%server, %error, "a call of a server behind the gateway failed");
        self.counters.add_failure(&error.to_string());
        if !error.is_auth() {
            return Fault::internal(format!(
                "the server {server:?} of this gateway did not answer"
            ));
        }
        let whose = match self.settings.caller_tokens {
            Some(_) => "this caller",
            None => "the gateway",
        };
        let text = format!("the server {server:?} refuses the credentials of {whose}");
        Fault::Refused(text.into())
    }
}

struct Forwarded<'a, F> {
    upstream: &'a Upstream,
    request: Request,
    prepare: F,
    /// Number of rounds of input so far.
    round: usize,
    /// The keys of all rounds so far.
    former: BTreeSet<String>,
}

impl<R, F> Forwarded<'_, F>
where
    R: Send + 'static,
    F: Fn(&Client) -> PreparedCall<'static, R>,
{
    async fn run(mut self) -> Result<R, Fault> {
        let mut running = self.begin_or_resume().await?;
        loop {
            let step = running.next(&self.request.context).await;
            match step.map_err(|error| self.upstream.fault(&error))? {
                Step::Done(result) => return Ok(result),
                Step::Required(required) => {
                    drop(running);
                    running = self.next_round(required).await?;
                }
                Step::Question(question) => running = self.pass_question(running, question).await?,
            }
        }
    }

    /// Starts the call, or continues it with what the client has sent along.
    async fn begin_or_resume(&mut self) -> Result<UpstreamCall<R>, Fault> {
        let kept = self.request.ask.as_ref().map(Ask::kept::<Waiting>);
        match kept.transpose().map_err(to_fault)?.flatten() {
            None => self.start(|call| call).await,
            Some(Waiting::Round {
                number,
                required,
                keys,
                former,
            }) => {
                (self.round, self.former) = (number, former);
                self.answer_round(required, keys).await
            }
            Some(Waiting::Parked { id, key, request }) => {
                let parked = self.upstream.parked.take(id);
                let parked = parked.ok_or_else(|| {
                    Fault::Refused(
                        "the call has ended meanwhile, or waits at another node of this gateway; make it again"
                            .into(),
                    )
                })?;
                self.answer_parked(parked, key, request).await
            }
        }
    }

    async fn start(
        &self,
        change: impl FnOnce(PreparedCall<'static, R>) -> PreparedCall<'static, R>,
    ) -> Result<UpstreamCall<R>, Fault> {
        let capabilities = match &self.request.ask {
            Some(_) => self.request.capabilities.clone(),
            None => ClientCapabilities::default(),
        };
        let in_use = self.upstream.usage.begin();
        let credentials = self.upstream.credentials(self.request.token.0.as_ref());
        let key = SessionKey {
            capabilities,
            credentials: credentials.await?,
        };
        let session = self.upstream.session(&key).await?;
        let prepare = |client: &Client| {
            let call = (self.prepare)(client).capabilities(key.capabilities);
            change(match key.credentials {
                Some(credentials) => call.header(AUTHORIZATION, credentials),
                None => call,
            })
        };
        UpstreamCall::start((session, in_use), prepare, &self.request.context).await
    }

    fn ask(&self) -> Result<&Ask, Fault> {
        self.request.ask.as_ref().ok_or(Fault::Refused(
            "this call has to ask its client, which cannot be asked".into(),
        ))
    }

    /// Asks the client for the input that the server requires, and repeats the call with it.
    async fn next_round(&mut self, required: InputRequired) -> Result<UpstreamCall<R>, Fault> {
        self.round += 1;
        let requests = required.requests();
        let requests = requests.map_err(|error| Fault::internal(error.to_string()))?;
        let keys: BTreeMap<_, _> = requests.into_keys().map(|key| self.rename(key)).collect();
        self.former.extend(keys.values().cloned());
        let waiting = Waiting::Round {
            number: self.round,
            required: required.clone(),
            keys: keys.clone(),
            former: self.former.clone(),
        };
        self.ask()?.keep(&waiting).map_err(to_fault)?;
        self.answer_round(required, keys).await
    }

    /// Returns the key of a server and the key for the client, which is another one if an earlier round
    /// had the same: an answer counts for all rounds.
    fn rename(&self, key: String) -> (String, String) {
        let own = match self.former.contains(&key) {
            true => format!("{}/{key}", self.round),
            false => key.clone(),
        };
        (key, own)
    }

    async fn answer_round(
        &self,
        required: InputRequired,
        keys: BTreeMap<String, String>,
    ) -> Result<UpstreamCall<R>, Fault> {
        let ask = self.ask()?;
        let requests = required.requests();
        let requests = requests.map_err(|error| Fault::internal(error.to_string()))?;
        let questions = requests.iter().map(|(key, request)| {
            let key = keys.get(key).unwrap_or(key).clone();
            ask.forward(key, request.clone())
        });
        let responses = ask.all(questions.collect::<Vec<_>>()).await;
        let responses = responses.map_err(to_fault)?;
        let responses: BTreeMap<String, InputResponse> =
            requests.into_keys().zip(responses).collect();
        self.start(|call| call.resume(required, responses)).await
    }

    /// Passes a question of a server on that waits for its answer.
    async fn pass_question(
        &self,
        mut running: UpstreamCall<R>,
        question: Question,
    ) -> Result<UpstreamCall<R>, Fault> {
        let Question { request, response } = question;
        running.asked += 1;
        let ask = self.ask()?;
        if !ask.runs_again() {
            let answer = ask.forward(format!("q{}", running.asked), request).await;
            // The server may have ended the call.
            let _ = response.send(answer.map_err(to_fault));
            return Ok(running);
        }
        let key = format!("q{}", running.asked);
        self.answer_parked((running, response), key, request).await
    }

    /// Passes the answer of a client on that answers with its next request. Until then the call is parked,
    /// also if the next request has no answer.
    async fn answer_parked(
        &self,
        call: OpenCall<R>,
        key: String,
        request: InputRequest,
    ) -> Result<UpstreamCall<R>, Fault> {
        let ask = self.ask()?;
        let guard = self.upstream.parked.guard(call)?;
        let waiting = Waiting::Parked {
            id: guard.id(),
            key: key.clone(),
            request: request.clone(),
        };
        ask.keep(&waiting).map_err(to_fault)?;
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

/// Returns the capabilities for input, which a gateway can pass on. Members that this library does not know
/// are left out, so that clients with the same capabilities use the same sessions.
fn forwarded(declared: &ClientCapabilities) -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::default();
    if declared.allows_form() {
        capabilities = capabilities.with_elicitation();
    }
    if declared.allows_url() {
        capabilities = capabilities.with_url_elicitation();
    }
    if let Some(declared) = &declared.sampling {
        let mut sampling = SamplingCapability::default();
        sampling.tools = declared.tools.is_some().then(ExtraFields::default);
        sampling.context = declared.context.is_some().then(ExtraFields::default);
        capabilities.sampling = Some(sampling);
    }
    match declared.roots {
        // Changes of roots do not pass.
        Some(_) => capabilities.with_roots(),
        None => capabilities,
    }
}

/// The fault for a question without an answer.
fn to_fault(error: AskError) -> Fault {
    match error {
        AskError::NoAnswer(BackChannelError::Refused(fault)) => fault,
        error => error
            .to_fault()
            .unwrap_or_else(|| Fault::Refused(error.to_string().into())),
    }
}

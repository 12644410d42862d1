//! Version negotiation: sends `server/discover` and `initialize` as the core's probe decides, and
//! opens a session with legacy servers.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use std::sync::Arc;

use mcp_core::{ChannelError, ClientNotification, ClientRequest, Fault, Reply, ResultBody};
use mcp_types::{DiscoverResult, InitializeResult, Method, ProtocolVersion};

use crate::api;
use crate::client::attempt::{ReceivedReply, send_once};
use crate::client::{Client, ServerInfo};
use crate::error::{Error, ErrorKind};
use crate::negotiation::{
    Evidence, Negotiation, Probe, ProbeError, ProbeMemory, Step, Tried, Verdict,
};
use crate::session;

/// Negotiates the version with the server, and opens a session with a legacy server. Stores in
/// `memory` whether the next start of the server should skip `server/discover`.
pub(crate) async fn negotiate(client: &Client, memory: &ProbeMemory) -> Result<(), Error> {
    let mut negotiator = Negotiator {
        client,
        tried: Vec::new(),
        server: None,
        discovered: None,
        last_failure: None,
        process: ProcessState::Fresh,
        skips_probe: memory.skips_probe(),
    };
    let negotiated = negotiator.run().await;
    // After a failure the next start probes again: the server may have been updated.
    let is_legacy = matches!(&negotiated, Ok(version) if !version.is_modern());
    memory.set_skips_probe(is_legacy && negotiator.skips_probe);
    let version = negotiated?;
    negotiator.finish(version).await
}

struct Negotiator<'a> {
    client: &'a Client,
    tried: Vec<Tried>,
    server: Option<ServerInfo>,
    discovered: Option<Arc<DiscoverResult>>,
    /// The last request that failed or whose answer did not fit, and its error.
    last_failure: Option<(ClientRequest, ErrorKind)>,
    process: ProcessState,
    /// `server/discover` was left unanswered, or the process had to be started again after it.
    skips_probe: bool,
}

/// The state of the process behind a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProcessState {
    Fresh,
    /// The process has received `server/discover`. A server that is older than this method may be
    /// unusable now.
    Probed,
    /// A probed process was replaced. It is replaced once only.
    Restarted,
}

impl Negotiator<'_> {
    /// Runs the detection and returns the negotiated revision.
    async fn run(&mut self) -> Result<ProtocolVersion, Error> {
        let (mut probe, mut step) = Probe::start(&self.client.inner.versions);
        loop {
            step = match step {
                Step::Discover(version) => self.discover(&mut probe, version).await?,
                Step::Initialize(version) => self.initialize(&mut probe, version).await?,
                Step::Done(version) => return Ok(version),
                Step::Fail(error) => return Err(self.fail(error)),
            };
        }
    }

    async fn discover(
        &mut self,
        probe: &mut Probe,
        version: ProtocolVersion,
    ) -> Result<Step, Error> {
        let inner = &self.client.inner;
        inner.channel.set_version(version);
        let timeout = inner.channel.is_pipe().then_some(inner.probe_timeout);
        let request = ClientRequest::Discover;
        if self.process == ProcessState::Fresh {
            self.process = ProcessState::Probed;
        }
        let received = send_once(self.client, &request, version, timeout).await;
        if let Ok(ReceivedReply {
            reply:
                Reply::Complete {
                    body: ResultBody::Discover(result),
                    ..
                },
            ..
        }) = &received
        {
            let versions = result.supported_versions.join(", ");
            self.record(Method::Discover, version, versions);
            self.server = Some(DiscoverResult::clone(result).into());
            self.discovered = Some(result.clone());
            return Ok(probe.next(Evidence::Discovered(result)));
        }
        self.handle_failure(probe, request, version, received).await
    }

    async fn initialize(
        &mut self,
        probe: &mut Probe,
        version: ProtocolVersion,
    ) -> Result<Step, Error> {
        session::prepare(self.client, version);
        let request = session::initialize_request(self.client, version);
        let received = send_once(self.client, &request, version, None).await;
        if let Ok(ReceivedReply {
            reply:
                Reply::Complete {
                    body: ResultBody::Initialize(result),
                    ..
                },
            ..
        }) = &received
        {
            let agreed = result.protocol_version.clone();
            self.record(Method::Initialize, version, agreed);
            self.server = Some(InitializeResult::clone(result).into());
            self.discovered = None;
            let step = probe.next(Evidence::Initialized(result));
            // Does not fit if the negotiation fails now.
            self.last_failure = Some((request, ErrorKind::WrongResult));
            return Ok(step);
        }
        self.handle_failure(probe, request, version, received).await
    }

    /// Passes a failed request to the probe and returns the next step.
    ///
    /// # Errors
    ///
    /// Returns the failure itself when it says nothing about the versions of the server.
    async fn handle_failure(
        &mut self,
        probe: &mut Probe,
        request: ClientRequest,
        version: ProtocolVersion,
        received: Result<ReceivedReply, ErrorKind>,
    ) -> Result<Step, Error> {
        let inner = &self.client.inner;
        let is_pipe = inner.channel.is_pipe();
        let (kind, is_gone) = match received {
            Ok(ReceivedReply {
                reply: Reply::Fault(fault),
                frame,
                ..
            }) => (ErrorKind::of_fault(fault, frame), false),
            Ok(_) => (ErrorKind::WrongResult, false),
            Err(kind) => {
                let is_gone = is_pipe && kind.is_disconnected();
                (kind, is_gone)
            }
        };
        let method = request.method().unwrap_or(Method::Discover);
        self.record(method, version, kind.to_string());
        let is_probe = method == Method::Discover;
        let evidence = match &kind {
            ErrorKind::Fault { fault, status, .. } => Evidence::Fault(fault, *status),
            ErrorKind::Decode(_) | ErrorKind::WrongResult => Evidence::Unreadable,
            // An answer, but not one of a modern server.
            // spec: COMPAT-08, COMPAT-09
            kind if is_probe && lacks_answer(kind, is_pipe) => Evidence::Unreadable,
            ErrorKind::Channel(ChannelError::Status { status, .. }) => Evidence::Status(*status),
            ErrorKind::TimedOut(_) if is_pipe => Evidence::Silence,
            _ if is_gone => Evidence::Gone,
            _ => return Err(self.error(&request, kind)),
        };
        let is_spoiled = method == Method::Initialize && (is_gone || is_refusal(&kind));
        if is_spoiled && self.restart(&kind).await? {
            return Ok(Step::Initialize(version));
        }
        self.skips_probe |= is_probe && matches!(evidence, Evidence::Silence);
        let step = probe.next(evidence);
        if is_gone && matches!(step, Step::Initialize(_)) && !self.restart(&kind).await? {
            return Err(self.error(&request, kind));
        }
        self.last_failure = Some((request, kind));
        Ok(step)
    }

    /// Starts a server again that `server/discover` has made unusable. Returns false when it was not
    /// probed, was started again already, or cannot be started again.
    ///
    /// # Errors
    ///
    /// Returns an error when the second start fails.
    // spec: COMPAT-15
    async fn restart(&mut self, kind: &ErrorKind) -> Result<bool, Error> {
        let channel = &self.client.inner.channel;
        if self.process != ProcessState::Probed || !channel.is_pipe() {
            return Ok(false);
        }
        match channel.reopen().await {
            Ok(()) => {
                tracing::debug!(
                    server = &*channel.peer(),
                    error = %mcp_types::escaped(&kind),
                    "the server is started again without server/discover"
                );
                self.process = ProcessState::Restarted;
                self.skips_probe = true;
                Ok(true)
            }
            // The channel has no process, or the client was closed.
            Err(ChannelError::Closed(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Stores the outcome, and completes `initialize` with a legacy server.
    // spec: LIFE-03
    async fn finish(self, version: ProtocolVersion) -> Result<(), Error> {
        let inner = &self.client.inner;
        let verdict = match self.discovered {
            Some(result) => Verdict::modern(version, Some(Arc::unwrap_or_clone(result))),
            None => Verdict::legacy(version),
        };
        let tried = self.tried;
        let negotiation = Negotiation { tried, verdict };
        inner.update_state(|state| {
            state.version = version;
            state.server = self.server.map(Into::into);
            state.negotiation = negotiation.into();
        });
        inner.channel.set_version(version);
        if !version.is_modern() {
            inner.observe_session(version, false);
            session::notify(inner, &ClientNotification::Initialized).await?;
            if let Some(level) = inner.log_level() {
                api::set_level(self.client, level).await?;
            }
        }
        Ok(())
    }

    fn fail(&mut self, error: ProbeError) -> Error {
        let last_failure = self.last_failure.take();
        let (request, kind) = match (error, last_failure) {
            (ProbeError::NothingInCommon(theirs), last_failure) => {
                let request = last_failure.map_or(ClientRequest::Discover, |(request, _)| request);
                let versions = &self.client.inner.versions;
                (request, ErrorKind::no_common_version(theirs, versions))
            }
            (ProbeError::UnexpectedResponse, Some((request, kind))) => {
                if self.client.inner.channel.is_pipe() && kind.is_disconnected() {
                    (request, ErrorKind::EndedAtStart(Box::new(kind)))
                } else {
                    (request, ErrorKind::UnexpectedResponse(Box::new(kind)))
                }
            }
            // The failure itself is the most specific error.
            (_, Some(last_failure)) => last_failure,
            (_, None) => (ClientRequest::Discover, ErrorKind::WrongResult),
        };
        self.error(&request, kind)
    }

    fn error(&self, request: &ClientRequest, kind: ErrorKind) -> Error {
        Error::in_call(&self.client.inner.channel.peer(), request, kind)
    }

    fn record(&mut self, method: Method, version: ProtocolVersion, outcome: String) {
        self.tried.push(Tried {
            method,
            version,
            outcome,
        });
    }
}

/// Returns whether a server answered something that contains no JSON-RPC response: no message, or not the
/// one that was asked for. Over HTTP that includes a success status without a message, as of a web page. A
/// connection that ends does not count as an answer; on a pipe that includes the end of the stream.
fn lacks_answer(kind: &ErrorKind, is_pipe: bool) -> bool {
    match kind {
        ErrorKind::InvalidMessage(_)
        | ErrorKind::WrongId { .. }
        | ErrorKind::Channel(ChannelError::Malformed(_)) => true,
        ErrorKind::NoResponse => !is_pipe,
        _ => false,
    }
}

/// Returns whether the server refuses `initialize` for another reason than its version.
fn is_refusal(kind: &ErrorKind) -> bool {
    match kind {
        ErrorKind::Fault { fault, .. } => !matches!(fault, Fault::UnsupportedVersion { .. }),
        ErrorKind::WrongResult | ErrorKind::Decode(_) => true,
        _ => false,
    }
}

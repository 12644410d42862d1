//! Which revision is spoken: the questions, the answers, and what follows from them.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use std::sync::Arc;

use mcp_core::versioning::{Evidence, Probe, ProbeError, Step, Verdict};
use mcp_core::{ChannelError, ClientNotification, ClientRequest, Reply, ResultBody};
use mcp_types::{DiscoverResult, InitializeResult, Method, ProtocolVersion};

use crate::attempt::{Answer, once};
use crate::client::ServerFacts;
use crate::error::Kind;
use crate::negotiation::{Negotiation, Tried};
use crate::{Client, Error, api, session};

/// Finds out what the server speaks, and opens a session where it wants one.
pub(crate) async fn negotiate(client: &Client) -> Result<(), Error> {
    let (probe, first) = Probe::start(&client.inner.spoken);
    follow(client, probe, first).await
}

async fn follow(client: &Client, mut probe: Probe, mut step: Step) -> Result<(), Error> {
    let mut asking = Asking {
        client,
        tried: Vec::new(),
        found: None,
        last: None,
    };
    loop {
        step = match step {
            Step::Discover(version) => asking.discover(&mut probe, version).await?,
            Step::Initialize(version) => asking.initialize(&mut probe, version).await?,
            Step::Done(version) => return asking.done(version).await,
            Step::Fail(error) => return Err(asking.failed(error)),
            _ => return Err(Kind::OtherResult.into()),
        };
    }
}

/// What the server said of itself.
enum Found {
    Discovered(Arc<DiscoverResult>),
    Initialized(Arc<InitializeResult>),
}

struct Asking<'a> {
    client: &'a Client,
    tried: Vec<Tried>,
    found: Option<Found>,
    /// The last failure and what was asked.
    last: Option<(ClientRequest, Kind)>,
}

impl Asking<'_> {
    async fn discover(
        &mut self,
        probe: &mut Probe,
        version: ProtocolVersion,
    ) -> Result<Step, Error> {
        let inner = &self.client.inner;
        inner.channel.set_version(version);
        let patience = inner.channel.is_pipe().then_some(inner.probe_timeout);
        let answer = once(self.client, &ClientRequest::Discover, version, patience).await;
        if let Ok(Answer {
            reply:
                Reply::Complete {
                    body: ResultBody::Discover(found),
                    ..
                },
            ..
        }) = &answer
        {
            self.note(
                Method::Discover,
                version,
                found.supported_versions.join(", "),
            );
            self.found = Some(Found::Discovered(found.clone()));
            return Ok(probe.next(Evidence::Discovered(found)));
        }
        self.judge(probe, ClientRequest::Discover, version, answer)
            .await
    }

    async fn initialize(
        &mut self,
        probe: &mut Probe,
        version: ProtocolVersion,
    ) -> Result<Step, Error> {
        session::prepare(self.client, version);
        let asked = session::initialize(self.client, version);
        let answer = once(self.client, &asked, version, None).await;
        if let Ok(Answer {
            reply:
                Reply::Complete {
                    body: ResultBody::Initialize(opened),
                    ..
                },
            ..
        }) = &answer
        {
            self.note(Method::Initialize, version, opened.protocol_version.clone());
            self.found = Some(Found::Initialized(opened.clone()));
            return Ok(probe.next(Evidence::Initialized(opened)));
        }
        self.judge(probe, asked, version, answer).await
    }

    /// What follows from an answer that is not the result.
    async fn judge(
        &mut self,
        probe: &mut Probe,
        asked: ClientRequest,
        version: ProtocolVersion,
        answer: Result<Answer, Kind>,
    ) -> Result<Step, Error> {
        let inner = &self.client.inner;
        let is_pipe = inner.channel.is_pipe();
        let (kind, is_gone) = match answer {
            Ok(Answer {
                reply: Reply::Fault(fault),
                status,
                ..
            }) => (Kind::Fault { fault, status }, false),
            Ok(_) => (Kind::OtherResult, false),
            Err(kind) => {
                let is_gone = is_pipe && kind.is_end();
                (kind, is_gone)
            }
        };
        let method = asked.method().unwrap_or(Method::Discover);
        self.note(method, version, kind.to_string());
        let evidence = match &kind {
            Kind::Fault { fault, status } => Evidence::Fault(fault, *status),
            Kind::Decode(_) | Kind::OtherResult => Evidence::Unreadable,
            Kind::Channel(ChannelError::Status { status, .. }) => Evidence::Status(*status),
            Kind::TimedOut(_) if is_pipe => Evidence::Silence,
            _ if is_gone => Evidence::Gone,
            _ => return Err(self.error(&asked, kind)),
        };
        let step = probe.next(evidence);
        self.last = Some((asked, kind));
        if is_gone && matches!(step, Step::Initialize(_)) {
            // spec: COMPAT-15
            inner.channel.reopen().await?;
        }
        Ok(step)
    }

    async fn done(self, version: ProtocolVersion) -> Result<(), Error> {
        let inner = &self.client.inner;
        let (verdict, server) = match self.found {
            Some(Found::Discovered(found)) => {
                let server = ServerFacts::from((*found).clone());
                (
                    Verdict::modern(version, Some(Arc::unwrap_or_clone(found))),
                    Some(server),
                )
            }
            Some(Found::Initialized(opened)) => (
                Verdict::legacy(version),
                Some(Arc::unwrap_or_clone(opened).into()),
            ),
            None => (Verdict::legacy(version), None),
        };
        let negotiation = Negotiation::new(self.tried, verdict);
        inner.learn(|known| {
            known.version = version;
            known.server = server.map(Into::into);
            known.negotiation = negotiation.into();
        });
        inner.channel.set_version(version);
        if !version.is_modern() {
            begin(self.client).await?;
        }
        Ok(())
    }

    fn failed(mut self, error: ProbeError) -> Error {
        let last = self.last.take();
        let (asked, kind) = match (error, last) {
            (ProbeError::NothingInCommon { theirs, .. }, last) => {
                let asked = last.map_or(ClientRequest::Discover, |(asked, _)| asked);
                (
                    asked,
                    Kind::no_common_version(theirs, &self.client.inner.spoken),
                )
            }
            (ProbeError::UnexpectedResponse(_), Some((asked, kind))) => {
                (asked, Kind::UnexpectedResponse(Box::new(kind)))
            }
            // The failure itself says most.
            (_, Some(last)) => last,
            (_, None) => (ClientRequest::Discover, Kind::OtherResult),
        };
        self.error(&asked, kind)
    }

    fn error(&self, asked: &ClientRequest, kind: Kind) -> Error {
        Error::of(&self.client.inner.channel.peer(), asked, kind)
    }

    fn note(&mut self, method: Method, version: ProtocolVersion, outcome: String) {
        self.tried.push(Tried {
            method,
            version,
            outcome,
        });
    }
}

/// Begins the work of a session that the server has agreed to.
// spec: LIFE-03
async fn begin(client: &Client) -> Result<(), Error> {
    let inner = &client.inner;
    session::tell(inner, &ClientNotification::Initialized).await?;
    if let Some(level) = inner.log_level() {
        api::set_level(client, level).await?;
    }
    Ok(())
}

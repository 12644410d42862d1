//! What an endpoint does with a request when its head is there, and when its body is.

use std::sync::Arc;
use std::task::Context;

use bytes::Bytes;
use http::Method;
use http::request::Parts;
use mcp_core::ReplyTarget;
use mcp_core::wire::MODERN;
use mcp_core::{BoxFuture, ServerProfile, Service};

use super::answer::{self, Begun, Later, Manner};
use super::body::Reading;
use super::config::Config;
use super::future::Step;
use super::guard::{self, Admitted, Head, Refusal};
use super::legacy::{Door, HttpSse, Table, Way};
use super::respond::{self, Answer};
use super::route::{self, Route};
use super::sessions::{AnswerMode, Mode};
use super::source::{LegacyFilter, Source};
use crate::headers::names;

/// What the clones of an endpoint share. It is cloned itself for settings that come later.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) source: Source,
    pub(super) config: Arc<Config>,
    pub(super) table: Arc<Table>,
    filter: Arc<LegacyFilter>,
}

impl From<Source> for Endpoint {
    fn from(source: Source) -> Self {
        Self {
            source,
            config: Arc::default(),
            table: Arc::default(),
            filter: Arc::default(),
        }
    }
}

/// What a head asks for.
enum Asks {
    /// To take the message in its body.
    Message(Admitted),
    /// Something of a session, without a body.
    Tend(SessionVerb),
}

/// What else than POST is served, for the sake of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionVerb {
    Get,
    Delete,
}

impl Endpoint {
    /// Looks at the head of a request.
    pub(super) fn admit(&self, head: Box<Parts>) -> Step {
        match self.check(&head) {
            Ok(Asks::Message(admitted)) => {
                Step::Reading(Some(head), Reading::new(admitted.content_length))
            }
            Ok(Asks::Tend(verb)) => Step::Begun(Later::Boxed(self.tend(verb, head))),
            Err(refusal) => Step::refuse(refusal, &head.headers, self.config.guard.body_limit),
        }
    }

    fn check(&self, parts: &Parts) -> Result<Asks, Refusal> {
        let guard = &self.config.guard;
        let head = Head {
            method: &parts.method,
            uri: &parts.uri,
            headers: &parts.headers,
        };
        if let Some(verb) = self.session_verb(&parts.method) {
            return guard.check_origins(head).map(|()| Asks::Tend(verb));
        }
        let admitted = if self.one_way(parts).is_some() {
            guard.check_message(head)
        } else {
            guard.check(head)
        };
        admitted
            .map(Asks::Message)
            .map_err(|refusal| self.name_verbs(refusal, parts))
    }

    /// Begins with a message.
    pub(super) fn begin(&self, parts: Box<Parts>, text: Bytes, cx: &mut Context<'_>) -> Begun {
        let service = self.source.service(&parts);
        if let Some(transport) = self.one_way(&parts) {
            let door = self.door(service.into_owned());
            return Begun::Answered(transport.post(&door, parts, &text));
        }
        let profile = self.profile(&**service);
        let serves_legacy = self.serves_legacy(&profile);
        let plan = |tool: &str| service.header_plan(tool);
        let (id, inbound) = match route::route(&parts.headers, &text, &profile, serves_legacy, plan)
        {
            Route::Modern { id, inbound } => (id, inbound),
            Route::Legacy(message, mirrored) => {
                return match Way::of(&message, &parts, mirrored, &self.table, &self.config) {
                    Ok(Way::Into(live)) => live.take(profile, parts, &message, cx),
                    Ok(Way::Through(entry)) => {
                        let door = self.door(service.into_owned());
                        door.post(entry, parts, &message, &text, cx)
                    }
                    Err(refused) => Begun::Answered(refused.into_answer()),
                };
            }
            Route::Batch => {
                let door = self.door(service.into_owned());
                return door.post_batch(parts, text, cx);
            }
            Route::Accepted => return Begun::Answered(respond::accepted()),
            Route::Refused { id, fault } => {
                return Begun::Answered(respond::fault(MODERN, id.as_ref(), &fault));
            }
        };
        // It was read. A long one leaves its room to the answer.
        drop(text);
        let to = ReplyTarget {
            id,
            profile,
            wire: MODERN,
        };
        let manner = Manner::alone(AnswerMode::Auto);
        answer::begin(&**service, &self.config, to, inbound, parts, manner, cx)
    }

    /// What is told about the service: without the legacy revisions where they are not served.
    // spec: GAP-07
    fn profile(&self, service: &dyn Service) -> Arc<ServerProfile> {
        let profile = service.profile();
        if self.config.sessions.mode == Mode::Off && profile.has_legacy_versions() {
            return self.filter.apply(&profile);
        }
        profile
    }

    /// Answers another verb.
    #[inline(never)]
    fn tend(&self, verb: SessionVerb, parts: Box<Parts>) -> BoxFuture<'static, Answer> {
        let service = self.source.service(&parts);
        let refuse = |refusal| Box::pin(std::future::ready(respond::refusal(refusal)));
        if !self.serves_legacy(&service.profile()) {
            return refuse(guard::not_served(&parts.method));
        }
        let door = self.door(service.into_owned());
        match verb {
            SessionVerb::Get => match guard::check_accepts_events(&parts.headers) {
                Ok(()) => door.get(parts),
                Err(refusal) => refuse(refusal),
            },
            SessionVerb::Delete => door.delete(parts),
        }
    }

    fn door(&self, service: Arc<dyn Service>) -> Door {
        Door {
            table: Arc::clone(&self.table),
            config: Arc::clone(&self.config),
            service,
        }
    }

    // spec: COMPAT-01
    fn serves_legacy(&self, profile: &ServerProfile) -> bool {
        self.config.sessions.mode != Mode::Off && profile.has_legacy_versions()
    }

    /// What takes a POST whose answer goes out on a connection of HTTP+SSE.
    fn one_way(&self, parts: &Parts) -> Option<HttpSse> {
        let transport = self.config.sessions.http_sse;
        transport.filter(|transport| transport.takes(parts))
    }

    fn session_verb(&self, method: &Method) -> Option<SessionVerb> {
        match *method {
            _ if self.config.sessions.mode != Mode::InMemory => None,
            Method::GET => Some(SessionVerb::Get),
            Method::DELETE => Some(SessionVerb::Delete),
            _ => None,
        }
    }

    /// Tells the verbs that are served.
    fn name_verbs(&self, mut refusal: Refusal, parts: &Parts) -> Refusal {
        if refusal.allow.is_some()
            && self.config.sessions.mode == Mode::InMemory
            && self.serves_legacy(&self.source.service(parts).profile())
        {
            refusal.allow = Some(names::ALLOW_ALL);
        }
        refusal
    }
}

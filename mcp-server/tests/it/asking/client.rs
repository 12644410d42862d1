//! A client that repeats a call with the newest answers as long as the reply asks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::executor::block_on;
use mcp_core::{
    BackChannel, BackChannelError, BoxFuture, Call, ClientContext, Exchange, Fault, Input,
    InputState, MessageSink, Principal, Reply, ResultBody, Service,
};
use mcp_server::Server;
use mcp_types::{
    CallToolParams, ClientCapabilities, InputRequest, InputRequired, InputResponse,
    ProtocolVersion, RawObject,
};
use serde_json::{Value, json};

/// All capabilities that a client can declare.
pub(crate) fn all_capabilities() -> ClientCapabilities {
    ClientCapabilities::default()
        .with_elicitation()
        .with_url_elicitation()
        .with_sampling_tools()
        .with_roots()
}

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) version: ProtocolVersion,
    pub(crate) principal: Option<Principal>,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self {
            capabilities: all_capabilities(),
            version: ProtocolVersion::LATEST,
            principal: None,
        }
    }

    pub(crate) fn authenticated(subject: &str) -> Self {
        let principal = Some(Principal::new("https://a.example", subject));
        Self {
            principal,
            ..Self::new()
        }
    }

    pub(crate) fn exchange(&self, call: &Call, input: impl Into<Input>) -> Exchange {
        let mut facts = ClientContext::new(self.version);
        facts.capabilities = self.capabilities.clone();
        let mut exchange = Exchange::new(call.clone(), Arc::new(facts));
        exchange.input = input.into();
        if let Some(who) = &self.principal {
            exchange.extensions.insert(who.clone());
        }
        exchange
    }

    pub(crate) fn send(&self, server: &Server, call: &Call, input: impl Into<Input>) -> Reply {
        block_on(server.call(self.exchange(call, input)))
    }

    /// Repeats the call until a reply asks nothing. Returns the reply and the keys of each round.
    pub(crate) fn run(
        &self,
        server: &Server,
        call: &Call,
        answers: &Value,
    ) -> (Reply, Vec<Vec<String>>) {
        let mut rounds = Vec::new();
        let mut input = InputState::default();
        loop {
            let asked = match self.send(server, call, input) {
                Reply::InputRequired(asked) => asked,
                other => return (other, rounds),
            };
            let keys: Vec<_> = asked.requests().unwrap().into_keys().collect();
            let newest: serde_json::Map<_, _> = keys
                .iter()
                .filter_map(|key| Some((key.clone(), answers.get(key)?.clone())))
                .collect();
            input = answered(&asked, &newest.into());
            rounds.push(keys);
            assert!(rounds.len() < 10, "asked again and again: {rounds:?}");
        }
    }
}

/// Returns the input for the call after `asked`, with these answers.
pub(crate) fn answered(asked: &InputRequired, answers: &Value) -> InputState {
    let mut input = answers_alone(answers);
    input.state = asked.request_state.as_deref().map(Into::into);
    input
}

pub(crate) fn answers_alone(answers: &Value) -> InputState {
    let mut input = InputState::default();
    input.responses = Some(RawObject::from_value(answers).unwrap());
    input
}

pub(crate) fn tool(name: &str) -> Call {
    tool_with(name, json!({}))
}

pub(crate) fn tool_with(name: &str, arguments: Value) -> Call {
    let arguments = RawObject::from_value(&arguments).unwrap();
    Call::CallTool(CallToolParams::new(name, Some(arguments)))
}

/// Returns the questions of a reply.
pub(crate) fn asked(reply: Reply) -> InputRequired {
    match reply {
        Reply::InputRequired(asked) => asked,
        other => panic!("nothing is asked: {other:?}"),
    }
}

pub(crate) fn text(reply: Reply) -> String {
    match reply {
        Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } => result.text(),
        other => panic!("no result: {other:?}"),
    }
}

pub(crate) fn bad_params(reply: Reply) -> String {
    match reply {
        Reply::Fault(Fault::BadParams { message, .. }) => message.into_owned(),
        other => panic!("no bad parameters: {other:?}"),
    }
}

pub(crate) fn internal(reply: Reply) -> String {
    match reply {
        Reply::Fault(Fault::Internal(message)) => message.into_owned(),
        other => panic!("no internal error: {other:?}"),
    }
}

/// A session that gives prepared answers in order and records the questions.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) asked: Mutex<Vec<InputRequest>>,
    answers: Mutex<VecDeque<Result<InputResponse, BackChannelError>>>,
    /// Other messages to the client.
    pub(crate) sent: Mutex<Vec<Bytes>>,
}

impl Session {
    pub(crate) fn new(
        answers: impl IntoIterator<Item = Result<InputResponse, BackChannelError>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            asked: Mutex::default(),
            answers: Mutex::new(answers.into_iter().collect()),
            sent: Mutex::default(),
        })
    }

    pub(crate) fn input(self: &Arc<Self>) -> Input {
        Input::Live {
            channel: self.clone(),
            sink: self.clone(),
        }
    }
}

impl MessageSink for Session {
    fn send(&self, message: Bytes) -> bool {
        self.sent.lock().unwrap().push(message);
        true
    }
}

impl BackChannel for Session {
    fn ask(
        self: Arc<Self>,
        request: InputRequest,
        _: Arc<dyn MessageSink>,
    ) -> BoxFuture<'static, Result<InputResponse, BackChannelError>> {
        self.asked.lock().unwrap().push(request);
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

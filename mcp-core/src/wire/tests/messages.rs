//! Helpers that encode and decode messages over the wires of all revisions.

use std::sync::Arc;

use crate::connection::{ClientProfile, ServerProfile};
use crate::message::{
    ClientNotification, ClientRequest, ClientResponse, Fault, InputState, Reply,
    ServerNotification, ServerRequest,
};
use crate::wire::{self, ClientRequestContext, ReplyTarget, ServerRequestContext};
use mcp_types::{
    ClientCapabilities, Implementation, LoggingLevel, Message, Notification, ProgressToken,
    ProtocolVersion, Request, RequestId, Response,
};

/// The two sides of a wire.
pub(crate) struct Side {
    pub(crate) version: ProtocolVersion,
    pub(crate) id: RequestId,
    pub(crate) token: Option<ProgressToken>,
    pub(crate) info: Implementation,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) input: InputState,
}

impl Side {
    pub(crate) fn new(version: ProtocolVersion) -> Self {
        Self {
            version,
            id: RequestId::from(7),
            token: None,
            info: Implementation::new("program", "1.0.0"),
            capabilities: ClientCapabilities::default(),
            input: InputState::default(),
        }
    }

    pub(crate) fn call(&self, asked: &ClientRequest) -> Vec<u8> {
        let mut profile = ClientProfile::new(self.info.clone());
        profile.capabilities.clone_from(&self.capabilities);
        let mut from = ClientRequestContext::new(&self.id, &profile);
        from.progress_token = self.token.as_ref();
        let retries = asked
            .method()
            .is_some_and(|method| method.spec().may_require_input);
        from.input = Some(&self.input).filter(|_| retries && self.version.is_modern());
        from.log_level = self.version.is_modern().then_some(LoggingLevel::Info);
        wire::encode_request(asked, &from, self.version)
    }

    pub(crate) fn read_call(&self, text: &[u8]) -> wire::DecodedRequest {
        wire::decode_request(&request(text), self.version).unwrap()
    }

    pub(crate) fn reply(&self, reply: &Reply) -> Vec<u8> {
        let to = ReplyTarget {
            id: self.id.clone(),
            profile: Arc::new(ServerProfile::new(self.info.clone())),
            version: self.version,
        };
        let encoded = to.encode(reply.clone(), Vec::new());
        encoded.into_bytes().to_vec()
    }

    pub(crate) fn read_reply(&self, asked: &ClientRequest, text: &[u8]) -> Reply {
        Reply::decode(asked, &response(text), self.version).unwrap()
    }

    pub(crate) fn read_raw_reply(&self, asked: &ClientRequest, text: &[u8]) -> Reply {
        Reply::decode_raw(asked, &response(text), self.version).unwrap()
    }

    pub(crate) fn note(
        &self,
        note: &ServerNotification,
        of: Option<&RequestId>,
    ) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let written = wire::write_server(note, (of, None), self.version, &mut out);
        assert_eq!(written, !out.is_empty());
        written.then_some(out)
    }

    pub(crate) fn read_note(&self, text: &[u8]) -> (ServerNotification, Option<RequestId>) {
        let note = notification(text);
        let read = ServerNotification::decode(&note, self.version).unwrap();
        (read, wire::subscription_id(&note))
    }

    pub(crate) fn client_note(&self, note: &ClientNotification) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let written = wire::write_client(note, None, self.version, &mut out);
        assert_eq!(written, !out.is_empty());
        written.then_some(out)
    }

    pub(crate) fn read_client_note(&self, text: &[u8]) -> ClientNotification {
        ClientNotification::decode(&notification(text), self.version).unwrap()
    }

    pub(crate) fn ask(&self, ask: &ServerRequest) -> Result<Vec<u8>, Fault> {
        let mut from = ServerRequestContext::new(&self.id);
        from.progress_token = self.token.as_ref();
        wire::write_server_request(ask, &from, self.version)
    }

    pub(crate) fn read_ask(&self, text: &[u8]) -> ServerRequest {
        ServerRequest::decode(&request(text), self.version).unwrap()
    }

    pub(crate) fn answer(&self, answer: &ClientResponse) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(wire::write_response(
            answer,
            &self.id,
            self.version,
            &mut out
        ));
        out
    }

    pub(crate) fn read_answer(&self, asked: &ServerRequest, text: &[u8]) -> ClientResponse {
        wire::read_response(asked, &response(text), self.version).unwrap()
    }
}

fn request(text: &[u8]) -> Request<'_> {
    match Message::parse(text).unwrap() {
        Message::Request(request) => request,
        other => panic!("{other:?}"),
    }
}

fn response(text: &[u8]) -> Response<'_> {
    match Message::parse(text).unwrap() {
        Message::Response(response) => response,
        other => panic!("{other:?}"),
    }
}

fn notification(text: &[u8]) -> Notification<'_> {
    match Message::parse(text).unwrap() {
        Message::Notification(note) => note,
        other => panic!("{other:?}"),
    }
}

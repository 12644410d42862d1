//! Helpers that encode and decode messages over the wires of all revisions.

use crate::wire::{self, ClientRequestContext, ReplyContext, ServerRequestContext};
use crate::{
    ClientNotification, ClientProfile, ClientRequest, ClientResponse, Fault, InputState, Reply,
    ServerNotification, ServerProfile, ServerRequest,
};
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

    fn wire(&self) -> &'static dyn wire::Wire {
        wire::for_version(self.version)
    }

    fn client_wire(&self) -> &'static dyn wire::ClientWire {
        wire::client_for_version(self.version)
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
        self.client_wire().encode_request(asked, &from)
    }

    pub(crate) fn read_call(&self, text: &[u8]) -> wire::DecodedRequest {
        self.wire().decode_request(&request(text)).unwrap()
    }

    pub(crate) fn reply(&self, reply: &Reply) -> Vec<u8> {
        let profile = ServerProfile::new(self.info.clone());
        let to = ReplyContext::new(&self.id, &profile);
        let encoded = self.wire().encode_reply(reply.clone(), &to, Vec::new());
        encoded.into_bytes().to_vec()
    }

    pub(crate) fn read_reply(&self, asked: &ClientRequest, text: &[u8]) -> Reply {
        self.client_wire()
            .decode_reply(asked, &response(text))
            .unwrap()
    }

    pub(crate) fn read_raw_reply(&self, asked: &ClientRequest, text: &[u8]) -> Reply {
        let wire = self.client_wire();
        wire.decode_raw_reply(asked, &response(text)).unwrap()
    }

    pub(crate) fn note(
        &self,
        note: &ServerNotification,
        of: Option<&RequestId>,
    ) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let written = self
            .wire()
            .encode_server_notification(note, of, None, &mut out);
        assert_eq!(written, !out.is_empty());
        written.then_some(out)
    }

    pub(crate) fn read_note(&self, text: &[u8]) -> (ServerNotification, Option<RequestId>) {
        let note = notification(text);
        let read = self
            .client_wire()
            .decode_server_notification(&note)
            .unwrap();
        (read, wire::subscription_id(&note))
    }

    pub(crate) fn client_note(&self, note: &ClientNotification) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let written = self
            .client_wire()
            .encode_client_notification(note, None, &mut out);
        assert_eq!(written, !out.is_empty());
        written.then_some(out)
    }

    pub(crate) fn read_client_note(&self, text: &[u8]) -> ClientNotification {
        self.wire()
            .decode_client_notification(&notification(text))
            .unwrap()
    }

    pub(crate) fn ask(&self, ask: &ServerRequest) -> Result<Vec<u8>, Fault> {
        let mut from = ServerRequestContext::new(&self.id);
        from.progress_token = self.token.as_ref();
        self.wire().encode_server_request(ask, &from)
    }

    pub(crate) fn read_ask(&self, text: &[u8]) -> ServerRequest {
        self.client_wire()
            .decode_server_request(&request(text))
            .unwrap()
    }

    pub(crate) fn answer(&self, answer: &ClientResponse) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(
            self.client_wire()
                .encode_client_response(answer, &self.id, &mut out)
        );
        out
    }

    pub(crate) fn read_answer(&self, asked: &ServerRequest, text: &[u8]) -> ClientResponse {
        self.wire()
            .decode_client_response(asked, &response(text))
            .unwrap()
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

//! The half of clients.
//!
//! It is no part of the trait, and so of no table of functions: what nobody calls is left out of a
//! program that only serves, with all the types that only clients read.
//!
//! For that program it is not even compiled: all of it, down to `results`, is `#[inline]`, which
//! leaves it to the crate that calls it. With the types that it reads it would be a third of this one.

use mcp_types::{Notification, Request, RequestId, Response};

use super::{ClientRequestContext, DecodeError, DecodedServerRequest, Wire, legacy, modern};
use crate::{ClientNotification, ClientRequest, ClientResponse, Fault, Reply, ServerNotification};

impl dyn Wire + '_ {
    /// Client: writes a request. Its method has to be one of this revision; a server refuses others.
    #[inline]
    pub fn encode_request(
        &self,
        asked: &ClientRequest,
        from: &ClientRequestContext<'_>,
    ) -> Vec<u8> {
        match legacy::find(self.version()) {
            Some(wire) => wire.encode_request(asked, from),
            None => modern::Modern.encode_request(asked, from),
        }
    }

    /// Client: reads the answer to `asked`.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] when the answer is none that the method can have.
    #[inline]
    pub fn decode_reply(
        &self,
        asked: &ClientRequest,
        response: &Response<'_>,
    ) -> Result<Reply, DecodeError> {
        match legacy::find(self.version()) {
            Some(wire) => wire.decode_reply(asked, response),
            None => modern::Modern.decode_reply(asked, response),
        }
    }

    /// Client: reads a notification; `None` when no server may say that in this revision.
    #[inline]
    pub fn decode_server_notification(
        &self,
        note: &Notification<'_>,
    ) -> Option<ServerNotification> {
        match legacy::find(self.version()) {
            Some(wire) => wire.decode_server_notification(note),
            None => modern::Modern.decode_server_notification(note),
        }
    }

    /// Client: the `subscriptions/listen` request that a notification belongs to.
    #[inline]
    pub fn subscription_id(&self, note: &Notification<'_>) -> Option<RequestId> {
        match legacy::find(self.version()) {
            Some(wire) => wire.subscription_id(note),
            None => modern::Modern.subscription_id(note),
        }
    }

    /// Client: writes a notification. Tells whether it was written: not when the revision does not
    /// have it.
    #[must_use = "what does not exist is not written"]
    #[inline]
    pub fn encode_client_notification(&self, note: &ClientNotification, out: &mut Vec<u8>) -> bool {
        match legacy::find(self.version()) {
            Some(wire) => wire.encode_client_notification(note, out),
            None => modern::Modern.encode_client_notification(note, out),
        }
    }

    /// Client: reads a request of the server.
    ///
    /// # Errors
    ///
    /// [`Fault::NoSuchMethod`] or [`Fault::BadParams`].
    #[inline]
    pub fn decode_server_request(
        &self,
        request: &Request<'_>,
    ) -> Result<DecodedServerRequest, Fault> {
        match legacy::find(self.version()) {
            Some(wire) => wire.decode_server_request(request),
            None => modern::Modern.decode_server_request(request),
        }
    }

    /// Client: writes the answer to a request of the server. Tells whether it was written: modern
    /// clients answer nothing.
    #[must_use = "what does not exist is not written"]
    #[inline]
    pub fn encode_client_response(
        &self,
        answer: &ClientResponse,
        id: &RequestId,
        out: &mut Vec<u8>,
    ) -> bool {
        match legacy::find(self.version()) {
            Some(wire) => wire.encode_client_response(answer, id, out),
            None => modern::Modern.encode_client_response(answer, id, out),
        }
    }
}

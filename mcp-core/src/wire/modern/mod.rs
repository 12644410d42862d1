//! The wire of 2026-07-28: everything a request needs is in it.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic>

mod decode;
mod encode;
mod envelope;
mod errors;

use mcp_types::{ErrorObject, Notification, ProtocolVersion, Request, RequestId, Response};

use super::{DecodeError, Decoded, Encoded, Outbound, Outgoing, Wire, notes, write_error};
use crate::{Asked, Fault, Reply, ServerNote};

pub use envelope::Envelope;

#[derive(Debug)]
pub(super) struct Modern;

impl Wire for Modern {
    fn version(&self) -> ProtocolVersion {
        VERSION
    }

    fn decode_call(&self, request: &Request<'_>) -> Result<Decoded, Fault> {
        decode::call(request)
    }

    fn encode_reply(&self, reply: Reply, to: &Outbound<'_>, head: Vec<u8>) -> Encoded {
        encode::reply(reply, to, head)
    }

    fn error(&self, fault: &Fault) -> ErrorObject {
        errors::to_error(fault)
    }

    fn encode_error(&self, fault: &Fault, id: Option<&RequestId>, out: &mut Vec<u8>) {
        write_error(out, id, errors::to_error(fault));
    }

    fn encode_note(&self, note: &ServerNote, out: &mut Vec<u8>) {
        notes::write(note, out);
    }

    fn encode_call(&self, asked: &Asked, from: &Outgoing<'_>) -> Vec<u8> {
        encode::call(asked, from)
    }

    fn decode_reply(&self, asked: &Asked, response: &Response<'_>) -> Result<Reply, DecodeError> {
        decode::reply(asked, response)
    }

    fn decode_note(&self, note: &Notification<'_>) -> Option<ServerNote> {
        notes::read(note)
    }
}

/// The revision of this wire.
const VERSION: ProtocolVersion = ProtocolVersion::V2026_07_28;

pub(super) use errors::{to_error as error, to_fault as fault};

/// The kinds of results that the specification itself has.
mod result_type {
    pub(super) const COMPLETE: &str = "complete";
    pub(super) const INPUT_REQUIRED: &str = "input_required";
}

#[cfg(test)]
mod tests;

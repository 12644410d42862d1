//! The wires of the revisions with sessions: 2024-11-05 to 2025-11-25. One value per revision;
//! what an older peer may not see is left out by `narrow`.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic>

mod decode;
mod encode;
mod errors;
mod narrow;

use mcp_types::{ErrorObject, Notification, ProtocolVersion, Request, RequestId, Response};

use super::{DecodeError, Decoded, Encoded, Outbound, Outgoing, Wire, notes, write_error};
use crate::{Asked, Fault, Reply, ServerNote};

/// The wire of one revision.
#[derive(Debug)]
pub(super) struct Legacy {
    version: ProtocolVersion,
}

/// One value per revision, newest first.
static WIRES: [Legacy; 4] = [
    Legacy {
        version: ProtocolVersion::V2025_11_25,
    },
    Legacy {
        version: ProtocolVersion::V2025_06_18,
    },
    Legacy {
        version: ProtocolVersion::V2025_03_26,
    },
    Legacy {
        version: ProtocolVersion::V2024_11_05,
    },
];

/// The wire of a revision, when it is one of this era.
pub(super) fn of(version: ProtocolVersion) -> Option<&'static dyn Wire> {
    let wire = WIRES.iter().find(|wire| wire.version == version)?;
    Some(wire)
}

impl Wire for Legacy {
    fn version(&self) -> ProtocolVersion {
        self.version
    }

    fn decode_call(&self, request: &Request<'_>) -> Result<Decoded, Fault> {
        decode::call(request, self.version)
    }

    fn encode_reply(&self, reply: Reply, to: &Outbound<'_>, head: Vec<u8>) -> Encoded {
        encode::reply(reply, to, self.version, head)
    }

    fn error(&self, fault: &Fault) -> ErrorObject {
        errors::to_error(fault, self.version)
    }

    fn encode_error(&self, fault: &Fault, id: Option<&RequestId>, out: &mut Vec<u8>) {
        write_error(out, id, self.error(fault));
    }

    fn encode_note(&self, note: &ServerNote, out: &mut Vec<u8>) {
        match narrow::note(note, self.version) {
            Some(narrowed) => notes::write(&narrowed, out),
            None => notes::write(note, out),
        }
    }

    fn encode_call(&self, asked: &Asked, from: &Outgoing<'_>) -> Vec<u8> {
        encode::call(asked, from, self.version)
    }

    fn decode_reply(&self, asked: &Asked, response: &Response<'_>) -> Result<Reply, DecodeError> {
        decode::reply(asked, response)
    }

    fn decode_note(&self, note: &Notification<'_>) -> Option<ServerNote> {
        notes::read(note)
    }
}

#[cfg(test)]
mod tests;

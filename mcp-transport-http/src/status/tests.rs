//! The table of statuses.

use std::sync::Arc;

use mcp_types::{ErrorObject, ParseError, codes};

use super::*;

#[test]
fn table() {
    let versions = Fault::UnsupportedVersion {
        requested: "v999".into(),
        supported: vec!["v1".into()],
    };
    let table = [
        (Fault::InvalidMessage(ParseError::Batch), 400, 200),
        (Fault::InvalidRequest("x".into()), 400, 200),
        (Fault::bad_params("x"), 400, 200),
        (Fault::no_such_method("x"), 404, 404),
        (Fault::no_such_tool("x"), 400, 200),
        (
            Fault::MissingCapability {
                required: Arc::default(),
            },
            400,
            400,
        ),
        (versions, 400, 200),
        (Fault::HeaderMismatch("x".into()), 400, 200),
        (Fault::Refused("x".into()), 403, 200),
        (Fault::Deadline, 504, 200),
        (Fault::internal("x"), 500, 200),
        (
            Fault::Protocol(ErrorObject::new(codes::METHOD_NOT_FOUND, "x")),
            400,
            200,
        ),
    ];
    for (fault, refused, replied) in table {
        assert_eq!(of_refusal(&fault).as_u16(), refused, "{fault}");
        let version = ProtocolVersion::LATEST;
        assert_eq!(of_reply(&fault, version).as_u16(), replied, "{fault}");
        // spec: HTTP-SL-15
        let version = ProtocolVersion::LATEST_LEGACY;
        assert_eq!(of_reply(&fault, version).as_u16(), 200, "{fault}");
    }
}

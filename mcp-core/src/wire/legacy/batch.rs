//! Message batches, which only 2025-03-26 has.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-03-26/basic#batching>

use mcp_types::{Message, Method, ParseError, ProtocolVersion};

use crate::message::Fault;

/// Parses a batch. An invalid message is an `Err` in the list, to be answered with its error; the
/// other messages are not affected. An invalid response is an error response in the list, which ends its request.
///
/// # Errors
///
/// Returns [`Fault::InvalidMessage`], the error for the whole batch, when the revision has no batches,
/// when `body` is not an array, when the array is empty or too long, or when it contains a modern
/// request.
///
/// # Examples
///
/// ```
/// use mcp::ProtocolVersion;
/// use mcp::core::legacy::read_batch;
/// use mcp::types::Message;
///
/// let body = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
/// let messages = read_batch(body, ProtocolVersion::V2025_03_26)?;
/// assert!(matches!(messages[..], [Ok(Message::Request(_))]));
/// # Ok::<(), mcp::core::Fault>(())
/// ```
// spec: BASE-14, BASE-15, BASE-16
pub fn read(
    body: &[u8],
    version: ProtocolVersion,
) -> Result<Vec<Result<Message<'_>, ParseError>>, Fault> {
    if !version.allows_batch() {
        return Err(ParseError::Batch.into());
    }
    let texts = Message::split_batch(body)?.into_iter();
    let mut messages: Vec<_> = texts.map(parse).collect();
    if messages.iter().flatten().any(is_modern) {
        return Err(ParseError::Batch.into());
    }
    for message in &mut messages {
        if let Ok(Message::Request(request)) = message
            && request.method == Method::Initialize.as_str()
        {
            *message = Err(ParseError::Invalid {
                id: Some(request.id.clone()),
                reason: "a session begins with a message of its own, not in a batch".into(),
            });
        }
    }
    Ok(messages)
}

/// Parses a message. An invalid response becomes an error response.
fn parse(text: &str) -> Result<Message<'_>, ParseError> {
    let text = text.as_bytes();
    Message::parse(text).or_else(|error| match error.as_response(text) {
        Some(response) => Ok(Message::Response(response)),
        None => Err(error),
    })
}

/// Returns true for a request with a modern envelope.
fn is_modern(message: &Message<'_>) -> bool {
    match message {
        Message::Request(request) => {
            !matches!(crate::wire::Envelope::from_request(request), Ok(None))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::{Message, ProtocolVersion};

    use super::read;

    const R2: ProtocolVersion = ProtocolVersion::V2025_03_26;

    fn error(text: &str, version: ProtocolVersion) -> String {
        let fault = read(text.as_bytes(), version).unwrap_err();
        String::from_utf8(fault.encode(None, version)).unwrap()
    }

    #[test]
    fn invalid_batch_has_one_error() {
        let one = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
        for version in ProtocolVersion::ALL
            .into_iter()
            .filter(|version| *version != R2)
        {
            assert!(error(one, version).contains("-32600"), "{version}");
        }
        let modern = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}]"#;
        for (text, code) in [("[]", "-32600"), (modern, "-32600"), ("[", "-32700")] {
            assert!(error(text, R2).contains(code), "{text}");
        }
    }

    #[test]
    fn invalid_message_does_not_affect_the_others() {
        let text = br#"[
            {"jsonrpc":"2.0","id":1,"method":"ping"},
            {"jsonrpc":"2.0","id":2,"method":"initialize","params":{}},
            {"jsonrpc":"2.0","method":"notifications/initialized"},
            {"jsonrpc":"2.0","id":3,"result":{}},
            7,
            {"id":4,"result":{}}
        ]"#;
        let messages = read(text, R2).unwrap();
        assert!(matches!(messages[0], Ok(Message::Request(_))));
        let refused = messages[1].as_ref().unwrap_err();
        assert_eq!(refused.id(), Some(&2.into()));
        assert_eq!(refused.to_error().code, -32600);
        assert!(matches!(messages[2], Ok(Message::Notification(_))));
        assert!(matches!(messages[3], Ok(Message::Response(_))));
        assert!(messages[4].is_err());
        let Ok(Message::Response(response)) = &messages[5] else {
            panic!("an invalid response is an error response")
        };
        assert_eq!(response.id, Some(4.into()));
        assert_eq!(response.outcome.as_ref().unwrap_err().code, -32600);
    }
}

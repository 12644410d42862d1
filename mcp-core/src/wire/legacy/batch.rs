//! Several messages at once, which only 2025-03-26 knows: apart when they come, together again
//! when they are answered.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-03-26/basic#batching>

use mcp_types::{Message, Method, ParseError, ProtocolVersion};

use crate::Fault;

/// Takes a batch apart. What is wrong with one message does not touch the others; its answer is the
/// error.
///
/// # Errors
///
/// [`Fault::InvalidMessage`] when the revision has no batches, when the text is no array, when the
/// array is empty or too long, or when a message in it is modern: the whole batch gets one answer.
///
/// # Examples
///
/// ```
/// use mcp_core::wire::batch::{self, Answers};
/// use mcp_types::{Message, ProtocolVersion};
///
/// let text = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
/// let messages = batch::read(text, ProtocolVersion::V2025_03_26)?;
/// assert!(matches!(messages[..], [Ok(Message::Request(_))]));
///
/// let mut answers = Answers::new();
/// answers.push(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
/// assert_eq!(answers.into_text().unwrap(), br#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#);
/// # Ok::<(), mcp_core::Fault>(())
/// ```
// spec: BASE-14, BASE-15, BASE-16
pub fn read(
    text: &[u8],
    version: ProtocolVersion,
) -> Result<Vec<Result<Message<'_>, ParseError>>, Fault> {
    if !version.allows_batch() {
        return Err(ParseError::Batch.into());
    }
    let mut messages = Message::parse_batch(text)?;
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

/// A request that says of itself that it is modern.
fn is_modern(message: &Message<'_>) -> bool {
    match message {
        Message::Request(request) => {
            !matches!(crate::wire::Envelope::from_request(request), Ok(None))
        }
        _ => false,
    }
}

/// The answers to a batch, in the order in which they are there.
#[derive(Debug, Clone, Default)]
pub struct Answers(Vec<u8>);

impl Answers {
    /// No answer yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an answer.
    pub fn push(&mut self, answer: &[u8]) {
        self.0.push(if self.0.is_empty() { b'[' } else { b',' });
        self.0.extend_from_slice(answer);
    }

    /// The answers as one array; `None` when there are none, as there are to notifications and
    /// responses alone.
    // spec: BASE-12
    pub fn into_text(mut self) -> Option<Vec<u8>> {
        if self.0.is_empty() {
            return None;
        }
        self.0.push(b']');
        Some(self.0)
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::{Message, ProtocolVersion};

    use super::{Answers, read};
    use crate::wire::{self, Wire};

    const R2: ProtocolVersion = ProtocolVersion::V2025_03_26;

    fn error(text: &str, version: ProtocolVersion) -> String {
        let wire: &dyn Wire = wire::for_version(version);
        let fault = read(text.as_bytes(), version).unwrap_err();
        let mut out = Vec::new();
        wire.encode_error(&fault, None, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_answer_for_what_is_no_batch() {
        let one = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
        for version in ProtocolVersion::ALL.into_iter().filter(|it| *it != R2) {
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
    fn every_message_by_itself() {
        let text = br#"[
            {"jsonrpc":"2.0","id":1,"method":"ping"},
            {"jsonrpc":"2.0","id":2,"method":"initialize","params":{}},
            {"jsonrpc":"2.0","method":"notifications/initialized"},
            {"jsonrpc":"2.0","id":3,"result":{}},
            7
        ]"#;
        let messages = read(text, R2).unwrap();
        assert!(matches!(messages[0], Ok(Message::Request(_))));
        let refused = messages[1].as_ref().unwrap_err();
        assert_eq!(refused.id(), Some(&2.into()));
        assert_eq!(refused.to_error().code, -32600);
        assert!(matches!(messages[2], Ok(Message::Notification(_))));
        assert!(matches!(messages[3], Ok(Message::Response(_))));
        assert!(messages[4].is_err());
    }

    #[test]
    fn answers_become_one_array() {
        assert_eq!(Answers::new().into_text(), None);
        let mut answers = Answers::new();
        answers.push(b"{}");
        answers.push(b"{\"a\":1}");
        assert_eq!(answers.into_text().unwrap(), b"[{},{\"a\":1}]");
    }
}

//! JSON-RPC batches, which only revision 2025-03-26 defines.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-03-26/basic#batching>

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::parse::first_byte;
use super::{Message, ParseError};

impl<'a> Message<'a> {
    /// Maximum number of messages in a batch: 128.
    const MAX_BATCH: usize = 128;

    /// Splits a batch, a JSON array of messages, into its messages as JSON strings.
    ///
    /// Use it when [`parse`](Self::parse) returns [`ParseError::Batch`] and the peer speaks 2025-03-26
    /// ([`ProtocolVersion::allows_batch`](crate::ProtocolVersion::allows_batch)).
    ///
    /// Parse each message on its own: an invalid one does not affect the others. A batch inside a batch is an
    /// invalid message.
    /// The rule that `initialize` is never part of a batch is not checked here.
    ///
    /// # Errors
    ///
    /// Returns [`ParseError`] if the bytes are not valid JSON or not an array, or if the array is empty or
    /// has more than 128 elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::types::Message;
    ///
    /// let text = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}, 7]"#;
    /// let batch = Message::split_batch(text)?;
    /// let first = Message::parse(batch[0].as_bytes())?;
    /// assert!(matches!(first, Message::Request(request) if request.method == "ping"));
    /// assert!(Message::parse(batch[1].as_bytes()).is_err());
    /// # Ok::<(), mcp::types::ParseError>(())
    /// ```
    // spec: BASE-14
    pub fn split_batch(text: &'a [u8]) -> Result<Vec<&'a str>, ParseError> {
        let text = ParseError::utf8(text)?;
        if first_byte(text) != Some(&b'[') {
            return Err(ParseError::unexpected_kind(text, "a batch is a JSON array"));
        }
        let invalid = |reason| ParseError::Invalid {
            id: None,
            reason: Cow::Borrowed(reason),
        };
        match read_elements(text).map_err(|error| ParseError::syntax(&error))? {
            None => Err(invalid("the batch has too many messages")),
            Some(elements) if elements.is_empty() => Err(invalid("the batch has no messages")),
            Some(elements) => Ok(elements),
        }
    }
}

/// Returns the elements of an array, or `None` if there are too many. The rest of the input is read in
/// either case, because a syntax error takes precedence.
fn read_elements(text: &str) -> serde_json::Result<Option<Vec<&str>>> {
    let mut json = serde_json::Deserializer::from_str(text);
    let elements = json.deserialize_seq(ElementsVisitor)?;
    json.end()?;
    Ok(elements)
}

struct ElementsVisitor;

impl<'de> Visitor<'de> for ElementsVisitor {
    type Value = Option<Vec<&'de str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a batch")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Some(Vec::new());
        while let Some(element) = seq.next_element::<&RawValue>()? {
            match &mut elements {
                Some(known) if known.len() < Message::MAX_BATCH => known.push(element.get()),
                _ => elements = None,
            }
        }
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, ParseError};
    use crate::{codes, jsonrpc::RequestId};

    #[test]
    fn invalid_element_does_not_affect_the_others() {
        let text = br#" [ {"jsonrpc":"2.0","id":"a","method":"m","params":{"x":[1]}},
            {"jsonrpc":"2.0","method":"n"}, {"jsonrpc":"2.0","id":2,"result":{}},
            {"jsonrpc":"1.0","id":3,"method":"m"}, [{"jsonrpc":"2.0","method":"n"}], null,
            {"jsonrpc":"2.0","id":1.5,"method":"m"} ] "#;
        let batch = Message::split_batch(text).unwrap();
        let parse = |message: &'static str| Message::parse(message.as_bytes());
        let batch: Vec<_> = batch.into_iter().map(parse).collect();
        assert_eq!(batch.len(), 7);
        assert!(
            matches!(&batch[0], Ok(Message::Request(request)) if request.params.iter().len() == 1)
        );
        assert!(matches!(&batch[1], Ok(Message::Notification(note)) if note.method == "n"));
        assert!(matches!(&batch[2], Ok(Message::Response(_))));
        let error = batch[3].as_ref().unwrap_err();
        assert_eq!(error.id(), Some(&RequestId::from(3)));
        assert_eq!(batch[4].as_ref().unwrap_err(), &ParseError::Batch);
        for broken in &batch[5..] {
            let error = broken.as_ref().unwrap_err().to_error();
            assert_eq!(error.code, codes::INVALID_REQUEST);
        }
    }

    #[test]
    fn text_that_is_not_a_batch_is_refused() {
        for (text, code) in [
            ("[", codes::PARSE_ERROR),
            ("", codes::PARSE_ERROR),
            ("nope", codes::PARSE_ERROR),
            ("[1] x", codes::PARSE_ERROR),
            ("[1,]", codes::PARSE_ERROR),
            ("[]", codes::INVALID_REQUEST),
            ("{}", codes::INVALID_REQUEST),
            ("7", codes::INVALID_REQUEST),
        ] {
            let error = Message::split_batch(text.as_bytes()).unwrap_err();
            assert_eq!(error.to_error().code, code, "{text}: {error}");
        }
        assert!(Message::split_batch(b"[\"\xff\"]").is_err());
    }

    #[test]
    fn batch_with_too_many_messages_is_refused() {
        let of = |count| {
            format!(
                "[{}]",
                vec![r#"{"jsonrpc":"2.0","method":"n"}"#; count].join(",")
            )
        };
        let most = of(Message::MAX_BATCH);
        let batch = Message::split_batch(most.as_bytes()).unwrap();
        assert_eq!(batch.len(), Message::MAX_BATCH);
        let more = of(Message::MAX_BATCH + 1);
        let error = Message::split_batch(more.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("too many"), "{error}");
        // A syntax error takes precedence.
        let error = Message::split_batch(&more.as_bytes()[..more.len() - 1]).unwrap_err();
        assert!(matches!(error, ParseError::Syntax(_)), "{error}");
    }
}

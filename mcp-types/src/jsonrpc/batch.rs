//! Several messages at once, which only 2025-03-26 knows.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-03-26/basic#batching>

use std::borrow::Cow;

use super::{Message, ParseError};
use crate::raw::{Malformed, Scanner};

impl<'a> Message<'a> {
    /// Messages that one batch may have.
    pub const MAX_BATCH: usize = 128;

    /// Parses a JSON array of messages: the way on when [`parse`](Self::parse) has said
    /// [`ParseError::Batch`] and the peer speaks 2025-03-26
    /// ([`ProtocolVersion::allows_batch`](crate::ProtocolVersion::allows_batch)).
    ///
    /// Every element is parsed by itself: what is wrong with one does not touch the others. A batch
    /// inside of a batch is such an error. That `initialize` is never in a batch is not looked at
    /// here.
    ///
    /// # Errors
    ///
    /// [`ParseError`]: no JSON, no array, an array without elements, or with more than
    /// [`MAX_BATCH`](Self::MAX_BATCH).
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_types::Message;
    ///
    /// let text = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}, 7]"#;
    /// let batch = Message::parse_batch(text)?;
    /// assert!(matches!(&batch[0], Ok(Message::Request(request)) if request.method == "ping"));
    /// assert!(batch[1].is_err());
    /// # Ok::<(), mcp_types::ParseError>(())
    /// ```
    // spec: BASE-14
    pub fn parse_batch(text: &'a [u8]) -> Result<Vec<Result<Self, ParseError>>, ParseError> {
        let texts = Self::split_batch(text)?;
        let parse = |text: &'a str| Message::parse(text.as_bytes());
        Ok(texts.into_iter().map(parse).collect())
    }

    /// Cuts a JSON array of messages into their texts, for those who hand them on.
    ///
    /// # Errors
    ///
    /// Those of [`parse_batch`](Self::parse_batch).
    pub fn split_batch(text: &'a [u8]) -> Result<Vec<&'a str>, ParseError> {
        let text = ParseError::utf8(text)?;
        let invalid = |reason| ParseError::Invalid {
            id: None,
            reason: Cow::Borrowed(reason),
        };
        let mut scanner = Scanner::new(text);
        if scanner.peek() != b'[' {
            return Err(ParseError::other_kind(text, "a batch is a JSON array"));
        }
        match elements(scanner) {
            Err(Malformed) => Err(ParseError::syntax(text)),
            Ok(None) => Err(invalid("the batch has too many messages")),
            Ok(Some(elements)) if elements.is_empty() => Err(invalid("the batch has no messages")),
            Ok(Some(elements)) => Ok(elements),
        }
    }
}

/// Finds the elements; `None` when there are too many. The rest of the text is still read, so that
/// broken JSON is told first.
fn elements(mut scanner: Scanner<'_>) -> Result<Option<Vec<&str>>, Malformed> {
    let mut elements = Vec::new();
    let (mut first, mut too_many) = (true, false);
    scanner.expect(b'[')?;
    while let Some(element) = scanner.element(first)? {
        first = false;
        match elements.len() < Message::MAX_BATCH {
            true => elements.push(element.as_str()),
            false => too_many = true,
        }
    }
    scanner.end()?;
    Ok((!too_many).then_some(elements))
}

#[cfg(test)]
mod tests {
    use super::{Message, ParseError};
    use crate::{RequestId, codes};

    #[test]
    fn every_element_by_itself() {
        let text = br#" [ {"jsonrpc":"2.0","id":"a","method":"m","params":{"x":[1]}},
            {"jsonrpc":"2.0","method":"n"}, {"jsonrpc":"2.0","id":2,"result":{}},
            {"jsonrpc":"1.0","id":3,"method":"m"}, [{"jsonrpc":"2.0","method":"n"}], null,
            {"jsonrpc":"2.0","id":1.5,"method":"m"} ] "#;
        let batch = Message::parse_batch(text).unwrap();
        assert_eq!(batch.len(), 7);
        assert!(matches!(&batch[0], Ok(Message::Request(request)) if request.params.len() == 1));
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
    fn batches_that_are_none() {
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
            let error = Message::parse_batch(text.as_bytes()).unwrap_err();
            assert_eq!(error.to_error().code, code, "{text}: {error}");
        }
        assert!(Message::parse_batch(b"[\"\xff\"]").is_err());
    }

    #[test]
    fn batches_have_an_end() {
        let of = |count| {
            format!(
                "[{}]",
                vec![r#"{"jsonrpc":"2.0","method":"n"}"#; count].join(",")
            )
        };
        let most = of(Message::MAX_BATCH);
        let batch = Message::parse_batch(most.as_bytes()).unwrap();
        assert!(batch.len() == Message::MAX_BATCH && batch.iter().all(Result::is_ok));
        let more = of(Message::MAX_BATCH + 1);
        let error = Message::parse_batch(more.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("too many"), "{error}");
        // Broken JSON is told first.
        let error = Message::parse_batch(&more.as_bytes()[..more.len() - 1]).unwrap_err();
        assert!(matches!(error, ParseError::Syntax(_)), "{error}");
    }
}

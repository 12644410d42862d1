//! Messages and classification of errors.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use http::StatusCode;
use mcp_core::{ChannelError, ClientRequest, CloseReason, Fault, Frame};
use mcp_types::{ErrorObject, UnexpectedResult};

use super::{Error, ErrorKind};

/// An error with an optional source.
#[derive(Debug)]
struct Layer(&'static str, Option<Box<Self>>);

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl StdError for Layer {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.1.as_deref().map(|cause| cause as _)
    }
}

#[test]
fn debug_shows_each_cause_once() {
    let chain = Layer(
        "handshake",
        Some(Box::new(Layer(
            "certificate",
            Some(Box::new(Layer("expired", None))),
        ))),
    );
    let error = Error::from(ChannelError::Broken {
        source: Some(chain.into()),
    });
    let text = "the connection broke before the answer was there: handshake";
    assert_eq!(error.to_string(), text);
    // A host finds its own error among the sources, also the one that the message contains.
    assert_eq!(error.source().unwrap().to_string(), "handshake");
    assert_eq!(
        format!("{error:?}"),
        format!("{text}\n  caused by: certificate\n  caused by: expired")
    );
}

#[test]
fn predicates_look_at_innermost_error() {
    let late = || ErrorKind::TimedOut(Duration::from_secs(5));
    let slow = ChannelError::Connect {
        peer: "https://example.com".to_owned(),
        source: std::io::Error::new(std::io::ErrorKind::TimedOut, "slow").into(),
    };
    let status = |status| ChannelError::Status {
        status,
        excerpt: String::new(),
        retry_after: Some(Duration::from_secs(9)),
        challenge: None,
    };
    let request = ClientRequest::Discover;
    let in_group = |kind| {
        let error = Error::in_call("https://example.com", &request, kind);
        Error::for_server("files", ErrorKind::Start(error))
    };
    type Predicate = fn(&Error) -> bool;
    let predicates: [Predicate; 4] = [
        Error::is_timeout,
        Error::is_closed,
        Error::is_auth,
        Error::is_retryable,
    ];
    for (kind, expected) in [
        (late(), [true, false, false, true]),
        (
            ErrorKind::UnexpectedResponse(late().into()),
            [true, false, false, true],
        ),
        (ErrorKind::Channel(slow), [true, false, false, true]),
        (
            ErrorKind::closed(CloseReason::Remote),
            [false, true, false, false],
        ),
        (
            ErrorKind::Channel(status(StatusCode::UNAUTHORIZED)),
            [false, false, true, false],
        ),
        (
            ErrorKind::Channel(ChannelError::Unauthorized {
                source: "no client id".into(),
            }),
            [false, false, true, false],
        ),
        (
            ErrorKind::Channel(status(StatusCode::SERVICE_UNAVAILABLE)),
            [false, false, false, true],
        ),
        (
            ErrorKind::Other(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
            [true, false, false, true],
        ),
        (ErrorKind::Other("x".into()), [false; 4]),
    ] {
        let error = in_group(kind);
        assert_eq!(
            predicates.map(|predicate| predicate(&error)),
            expected,
            "{error}"
        );
        let text = error.to_string();
        let start = "files: the server could not be started: server/discover";
        assert!(text.starts_with(start), "{text}");
    }
    let error = in_group(ErrorKind::Channel(status(StatusCode::TOO_MANY_REQUESTS)));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(9)));
}

#[test]
fn missing_capability_is_named_with_its_setter() {
    let capabilities = mcp_types::ClientCapabilities::default;
    for (required, expected) in [
        (
            capabilities().with_sampling(),
            "`sampling` (it asks the language model); add `.on_sample(…)` to the client",
        ),
        (
            capabilities().with_url_elicitation().with_roots(),
            "; add `.on_elicit_url(…)` and `.roots(…)` to the client",
        ),
        (capabilities(), "capability that this call needs"),
    ] {
        let fault = Fault::MissingCapability {
            required: std::sync::Arc::new(required),
        };
        let kind = ErrorKind::from_fault(fault, Frame::default(), &[]);
        let text = Error::from(kind).to_string();
        assert!(text.ends_with(expected), "{text}");
    }
}

#[test]
fn stderr_tail_ends_message() {
    let late = || Error::from(ErrorKind::TimedOut(Duration::from_secs(5)));
    assert_eq!(late().with_stderr_tail("").to_string(), late().to_string());
    let text = late().with_stderr_tail("no licence").to_string();
    assert_eq!(
        text,
        "no response within 5s; its standard error ends with:\n  no licence"
    );
}

#[test]
fn text_from_server_is_escaped() {
    const HOSTILE: &str = "x\r\n12:00 INFO paid\u{1b}[2K\u{7f}\u{9b}\u{202e}\u{200b}";
    const SHOWN: &str = r"x\r\n12:00 INFO paid\u{1b}[2K\u{7f}\u{9b}\u{202e}\u{200b}";
    let text = || HOSTILE.to_owned();
    let fault = |fault: Fault| ErrorKind::from_fault(fault, Frame::default(), &[]);
    let request = ClientRequest::Discover;
    for kind in [
        fault(Fault::Protocol(ErrorObject::new(-32000, text()))),
        fault(Fault::HeaderMismatch(text().into())),
        fault(Fault::no_such_tool(HOSTILE)),
        ErrorKind::WrongId {
            given: text().into(),
        },
        ErrorKind::MalformedTask(text()),
        ErrorKind::OutputSchema(text()),
        ErrorKind::CustomResult(text()),
        ErrorKind::Result(UnexpectedResult::ToolFailed(text())),
        ErrorKind::no_common_version(vec![text()], &[]),
    ] {
        let kind = ErrorKind::MayHaveRun {
            cause: kind.into(),
            note: "",
        };
        let error = Error::for_server(
            "files",
            ErrorKind::Start(Error::in_call("x", &request, kind)),
        );
        for shown in [error.to_string(), format!("{error:?}")] {
            assert!(shown.contains(SHOWN), "{shown}");
            assert!(!shown.contains(char::is_control), "{shown:?}");
            assert!(!shown.contains(['\u{202e}', '\u{200b}']), "{shown:?}");
        }
    }
    // The lines of standard error stay lines, which cannot imitate a line of a log.
    let closed = ErrorKind::closed(CloseReason::broken(text()));
    let late = Error::from(ErrorKind::TimedOut(Duration::from_secs(5)));
    for error in [
        Error::for_server("files", ErrorKind::Start(Error::from(closed))),
        late.with_stderr_tail(HOSTILE),
    ] {
        let shown = error.to_string();
        let end = r"12:00 INFO paid\u{1b}[2K\u{7f}\u{9b}\u{202e}\u{200b}";
        assert!(shown.ends_with(&format!("x\\r\n  {end}")), "{shown}");
    }
}

#[test]
fn error_for_a_failed_tool_has_its_message() {
    let error = Error::from(UnexpectedResult::ToolFailed("no such file".to_owned()));
    assert_eq!(error.tool_error(), Some("no such file"));
    let error = Error::from(ErrorKind::Cancelled);
    assert_eq!(error.tool_error(), None);
}

#[test]
fn error_is_send_and_pointer_sized() {
    fn assert_send<T: Send + Sync + 'static>() {}
    assert_send::<Error>();
    assert!(size_of::<Error>() <= size_of::<usize>());
}

#[test]
fn no_common_version_lists_versions() {
    let kind = ErrorKind::no_common_version(Vec::new(), &[mcp_types::ProtocolVersion::LATEST]);
    let text = "no common protocol version: the server supports none, this client 2026-07-28";
    assert_eq!(Error::from(kind).to_string(), text);
}

#[test]
fn server_in_a_group_is_named_once() {
    let late = |peer: &str| {
        let kind = ErrorKind::TimedOut(Duration::from_secs(5));
        Error::in_call(peer, &ClientRequest::Discover, kind)
    };
    let start = "files: the server could not be started: server/discover";
    for (peer, rest) in [
        ("files", ""),
        ("https://example.com", " at https://example.com"),
    ] {
        let error = Error::for_server("files", ErrorKind::Start(late(peer)));
        let text = format!("{start}{rest}: no response within 5s");
        assert_eq!(error.to_string(), text);
    }
    let reason = "server/discover: no response within 5s";
    assert_eq!(late("files").message_at("files"), reason);
}

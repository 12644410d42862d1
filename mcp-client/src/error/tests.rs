//! How errors read.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use http::StatusCode;
use mcp_core::{ChannelError, ClientRequest, CloseReason};

use super::{Error, Kind};

/// An error with a cause.
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
fn each_cause_is_told_once() {
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
    assert_eq!(error.source().unwrap().to_string(), "certificate");
    assert_eq!(
        format!("{error:?}"),
        format!("{text}\n  caused by: certificate\n  caused by: expired")
    );
}

/// What it is that went wrong is told through every error around it; the names around it stay.
#[test]
fn questions_look_down_to_the_cause() {
    let late = || Kind::TimedOut(Duration::from_secs(5));
    let slow = ChannelError::Connect {
        peer: "https://example.com".to_owned(),
        source: std::io::Error::new(std::io::ErrorKind::TimedOut, "slow").into(),
    };
    let status = |status| ChannelError::Status {
        status,
        excerpt: String::new(),
        retry_after: Some(Duration::from_secs(9)),
    };
    let asked = ClientRequest::Discover;
    let of_server = |kind| {
        let error = Error::of("https://example.com", &asked, kind);
        Error::of_server("files", Kind::Start(error))
    };
    type Question = fn(&Error) -> bool;
    let questions: [Question; 4] = [
        Error::is_timeout,
        Error::is_closed,
        Error::is_auth,
        Error::is_retryable,
    ];
    for (kind, answers) in [
        (late(), [true, false, false, false]),
        (
            Kind::UnexpectedResponse(late().into()),
            [true, false, false, false],
        ),
        (Kind::Channel(slow), [true, false, false, true]),
        (
            Kind::closed(CloseReason::Remote),
            [false, true, false, false],
        ),
        (
            Kind::Channel(status(StatusCode::UNAUTHORIZED)),
            [false, false, true, false],
        ),
        (
            Kind::Channel(status(StatusCode::SERVICE_UNAVAILABLE)),
            [false, false, false, true],
        ),
        (
            Kind::Other(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
            [true, false, false, false],
        ),
        (Kind::Other("x".into()), [false; 4]),
    ] {
        let error = of_server(kind);
        assert_eq!(
            questions.map(|question| question(&error)),
            answers,
            "{error}"
        );
        let text = error.to_string();
        let start = "files: the server could not be started: server/discover";
        assert!(text.starts_with(start), "{text}");
    }
    let error = of_server(Kind::Channel(status(StatusCode::TOO_MANY_REQUESTS)));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(9)));
}

#[test]
fn last_words_come_last() {
    let late = || Error::from(Kind::TimedOut(Duration::from_secs(5)));
    assert_eq!(late().with_last_words("").to_string(), late().to_string());
    let text = late().with_last_words("no licence").to_string();
    assert_eq!(text, "no answer within 5s; the server says:\nno licence");
}

#[test]
fn errors_travel() {
    fn travels<T: Send + Sync + 'static>() {}
    travels::<Error>();
    assert!(size_of::<Error>() <= size_of::<usize>());
}

#[test]
fn versions_are_listed() {
    let kind = Kind::no_common_version(Vec::new(), &[mcp_types::ProtocolVersion::LATEST]);
    let text = "no protocol version in common: the server speaks none, this client 2026-07-28";
    assert_eq!(Error::from(kind).to_string(), text);
}

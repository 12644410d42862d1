//! How errors read.

use std::error::Error as StdError;
use std::fmt;

use mcp_core::ChannelError;

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

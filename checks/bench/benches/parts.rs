//! Benchmarks of the parts of a call: `cargo bench -p bench`.
//!
//! `cargo test` runs each benchmark once.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::unwrap_used,
    reason = "benchmarks with constant input"
)]

use bench::era::Era;
use bench::scenario::Scenario;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Returns the body of a `tools/call` of `echo`.
fn call(era: Era) -> Vec<u8> {
    let mut line = Scenario::Call.line(era);
    line.prepare().0.trim_ascii_end().to_vec()
}

/// Parsing: from the bytes of a message to the arguments of a tool.
mod read {
    use bench::arguments::Echo;
    use mcp::core::legacy::read_stateless;
    use mcp::core::{ServerProfile, modern};
    use mcp::types::{Implementation, Message, ProtocolVersion, RawObject, Request};

    use super::{Bencher, Era, black_box, call};

    fn request(text: &[u8]) -> Request<'_> {
        match Message::parse(text) {
            Ok(Message::Request(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    #[divan::bench]
    fn parse(bencher: Bencher<'_, '_>) {
        let text = call(Era::Modern);
        bencher.bench(|| Message::parse(black_box(&text)).is_ok());
    }

    #[divan::bench]
    fn parse_1_mib(bencher: Bencher<'_, '_>) {
        let text = bench::scenario::Scenario::Big
            .line(Era::Modern)
            .prepare()
            .0
            .to_vec();
        bencher.bench(|| Message::parse(black_box(&text)).is_ok());
    }

    /// Classification of the era, and decoding of the request.
    #[divan::bench]
    fn decode_modern(bencher: Bencher<'_, '_>) {
        let text = call(Era::Modern);
        let request = request(&text);
        let profile = ServerProfile::new(Implementation::new("bench", "0.0.0"));
        bencher.bench(|| {
            modern::read_request(black_box(&request), None, &profile, true, |_| Ok(())).is_ok()
        });
    }

    #[divan::bench]
    fn decode_session(bencher: Bencher<'_, '_>) {
        let text = call(Era::Session);
        let request = request(&text);
        let profile = ServerProfile::new(Implementation::new("bench", "0.0.0"));
        let version = ProtocolVersion::V2025_11_25;
        bencher.bench(|| read_stateless(black_box(&request), version, &profile).is_ok());
    }

    #[divan::bench]
    fn arguments(bencher: Bencher<'_, '_>) {
        let arguments = RawObject::from_text(r#"{"message":"the quick brown fox"}"#).unwrap();
        bencher.bench(|| black_box(&arguments).parse::<Echo>().is_ok());
    }
}

/// Serialization: from a result to its bytes.
mod write {
    use mcp::core::{Reply, ReplyTarget, ServerProfile};
    use mcp::types::{CallToolResult, Implementation, ProtocolVersion};

    use super::Bencher;

    fn reply(bencher: Bencher<'_, '_>, version: ProtocolVersion) {
        let profile = ServerProfile::new(Implementation::new("bench", "0.0.0"));
        let target = ReplyTarget {
            id: 17.into(),
            profile: profile.into(),
            version,
        };
        bencher
            .with_inputs(|| Reply::from(CallToolResult::from_text("the quick brown fox")))
            .bench_values(|reply| target.encode(reply, Vec::new()));
    }

    #[divan::bench]
    fn modern(bencher: Bencher<'_, '_>) {
        reply(bencher, ProtocolVersion::LATEST);
    }

    #[divan::bench]
    fn session(bencher: Bencher<'_, '_>) {
        reply(bencher, ProtocolVersion::V2025_11_25);
    }
}

/// Event streams.
mod sse {
    use bytes::Bytes;
    use divan::counter::ItemsCount;
    use std::sync::Arc;

    use mcp::core::{Framing, NotificationBuffer, NotificationSender};
    use mcp::http::sse::{Decoder, SseLimits};
    use mcp::types::{LogMessage, LoggingLevel, ProtocolVersion};

    use super::{Bencher, black_box};

    const EVENTS: usize = 100;
    const FRAMING: Framing = Framing {
        prefix: b"event: message\ndata: ",
        suffix: b"\n\n",
    };

    /// Log messages: they are sent without a future.
    fn sender(buffer: &Arc<NotificationBuffer>) -> NotificationSender {
        NotificationSender::new(None, Some(LoggingLevel::Info), buffer.clone())
    }

    fn message() -> LogMessage {
        LogMessage::new(LoggingLevel::Info, "half of the documents")
    }

    fn stream() -> Bytes {
        let buffer = Arc::new(NotificationBuffer::new(ProtocolVersion::LATEST, FRAMING));
        let sender = sender(&buffer);
        for _ in 0..EVENTS {
            sender.log(message());
        }
        buffer.drain()
    }

    #[divan::bench]
    fn frame(bencher: Bencher<'_, '_>) {
        let buffer = Arc::new(NotificationBuffer::new(ProtocolVersion::LATEST, FRAMING));
        let sender = sender(&buffer);
        bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| {
            for _ in 0..EVENTS {
                sender.log(black_box(message()));
            }
            buffer.drain()
        });
    }

    #[divan::bench]
    fn decode(bencher: Bencher<'_, '_>) {
        let stream = stream();
        bencher.counter(ItemsCount::new(EVENTS)).bench(|| {
            let (mut decoder, mut chunk) = (Decoder::new(SseLimits::default()), stream.clone());
            let mut events = 0;
            while let Some(Ok(_)) = decoder.decode(&mut chunk) {
                events += 1;
            }
            assert_eq!(events, EVENTS);
        });
    }
}

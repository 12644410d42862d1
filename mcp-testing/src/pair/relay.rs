//! The wire between two ends of pipes: it writes down what passes, and does to it what it is told.

use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split,
};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::fault::{End, WireFault, end_before, pieces};
use super::transcript::{Direction, Transcript};

/// Carries lines from each end to the other, in two tasks that end with the pipes.
pub(super) fn join(
    client: DuplexStream,
    server: DuplexStream,
    requests: Vec<WireFault>,
    answers: Vec<WireFault>,
    transcript: &Transcript,
) {
    let cut = Arc::new(Notify::new());
    let (from_client, to_client) = split(client);
    let (from_server, to_server) = split(server);
    let start = |from, to, faults: Vec<WireFault>, direction| {
        let (cut, transcript) = (cut.clone(), transcript.clone());
        tokio::spawn(async move {
            tokio::select! {
                // The other direction has found the cut.
                () = cut.notified() => {}
                end = carry(from, to, &faults, direction, &transcript) => {
                    if end == Some(End::Cut) {
                        cut.notify_one();
                    }
                }
            }
        });
    };
    start(from_client, to_server, requests, Direction::ToServer);
    start(from_server, to_client, answers, Direction::ToClient);
}

/// Carries lines until one side closes, or trouble ends it.
async fn carry(
    from: ReadHalf<DuplexStream>,
    mut to: WriteHalf<DuplexStream>,
    faults: &[WireFault],
    direction: Direction,
    transcript: &Transcript,
) -> Option<End> {
    let mut from = BufReader::new(from);
    let mut number = 0;
    let end = loop {
        number += 1;
        if let Some(end) = end_before(faults, number) {
            break Some(end);
        }
        let mut line = Vec::new();
        if !matches!(from.read_until(b'\n', &mut line).await, Ok(count) if count > 0) {
            break None;
        }
        transcript.add(direction, &line);
        let (pieces, pause) = pieces(faults, number, Bytes::from(line));
        for piece in pieces {
            if to.write_all(&piece).await.is_err() {
                return None;
            }
            if !pause.is_zero() {
                sleep(pause).await;
            }
        }
    };
    if end != Some(End::Cut) {
        // When the reader has gone, there is nobody to tell.
        let _ = to.shutdown().await;
    }
    if end == Some(End::HalfClose) {
        // What comes after the end is read by nobody, and holds up nobody.
        let mut rest = Vec::new();
        while matches!(from.read_until(b'\n', &mut rest).await, Ok(count) if count > 0) {
            rest.clear();
        }
    }
    end
}

//! A relay between two pipes, which records the messages and applies faults.

use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split,
};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::fault::{End, WireFault, chunks, end_before};
use super::transcript::{Direction, Transcript};

/// Starts two tasks that forward lines in each direction until the pipes close.
pub(super) fn start(
    client: DuplexStream,
    server: DuplexStream,
    requests: Vec<WireFault>,
    responses: Vec<WireFault>,
    transcript: &Transcript,
) {
    let cut = Arc::new(Notify::new());
    let (from_client, to_client) = split(client);
    let (from_server, to_server) = split(server);
    let spawn_direction = |from, to, faults: Vec<WireFault>, direction| {
        let (cut, transcript) = (cut.clone(), transcript.clone());
        tokio::spawn(async move {
            tokio::select! {
                // The other direction broke the connection.
                () = cut.notified() => {}
                end = forward(from, to, &faults, direction, &transcript) => {
                    if end == Some(End::Cut) {
                        cut.notify_one();
                    }
                }
            }
        });
    };
    spawn_direction(from_client, to_server, requests, Direction::ToServer);
    spawn_direction(from_server, to_client, responses, Direction::ToClient);
}

/// Forwards lines until one side closes or a fault ends the direction. Returns that fault.
async fn forward(
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
        let (chunks, pause) = chunks(faults, number, Bytes::from(line));
        for chunk in chunks {
            if to.write_all(&chunk).await.is_err() {
                return None;
            }
            if !pause.is_zero() {
                sleep(pause).await;
            }
        }
    };
    if end != Some(End::Cut) {
        // Shutdown fails if the reader is closed already.
        let _ = to.shutdown().await;
    }
    if end == Some(End::HalfClose) {
        // Read and discard further lines, so that the writer is not blocked.
        let mut rest = Vec::new();
        while matches!(from.read_until(b'\n', &mut rest).await, Ok(count) if count > 0) {
            rest.clear();
        }
    }
    end
}

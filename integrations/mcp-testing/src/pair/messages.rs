//! A transport of messages between a client and a server, which records the messages and applies faults.

use std::io;

use bytes::Bytes;
use mcp::stdio::MessageTransport;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::sleep;

use super::fault::{End, WireFault, chunks, end_before};
use super::transcript::{Direction, Transcript};

/// Messages that wait for the other side.
const CAPACITY: usize = 16;

/// One end of the transport.
pub(super) struct MessageEnd {
    outgoing: Mutex<Outgoing>,
    incoming: Mutex<mpsc::Receiver<Bytes>>,
    /// Becomes true when a fault breaks both directions. Both ends share it.
    cut: watch::Sender<bool>,
    direction: Direction,
    transcript: Transcript,
}

/// The sending side of an end.
struct Outgoing {
    /// `None` after the side was closed. Further messages are discarded.
    sender: Option<mpsc::Sender<Bytes>>,
    faults: Vec<WireFault>,
    number: usize,
}

/// Returns the ends of the client and of the server.
pub(super) fn pair(
    requests: Vec<WireFault>,
    responses: Vec<WireFault>,
    transcript: &Transcript,
) -> (MessageEnd, MessageEnd) {
    let cut = watch::Sender::new(false);
    let (to_server, from_client) = mpsc::channel(CAPACITY);
    let (to_client, from_server) = mpsc::channel(CAPACITY);
    let end = |sender, incoming, faults, direction| MessageEnd {
        outgoing: Mutex::new(Outgoing {
            sender: Some(sender),
            faults,
            number: 0,
        }),
        incoming: Mutex::new(incoming),
        cut: cut.clone(),
        direction,
        transcript: transcript.clone(),
    };
    (
        end(to_server, from_server, requests, Direction::ToServer),
        end(to_client, from_client, responses, Direction::ToClient),
    )
}

fn broken() -> io::Error {
    io::Error::other("the connection was broken by a `WireFault`")
}

impl MessageTransport for MessageEnd {
    type Error = io::Error;

    async fn send(&self, message: Bytes) -> io::Result<()> {
        let mut outgoing = self.outgoing.lock().await;
        outgoing.number += 1;
        let Outgoing {
            sender,
            faults,
            number,
        } = &mut *outgoing;
        match end_before(faults, *number) {
            Some(End::HalfClose) => *sender = None,
            Some(End::Cut) => {
                self.cut.send_replace(true);
                return Err(broken());
            }
            None => {}
        }
        let Some(sender) = sender else {
            return Ok(());
        };
        self.transcript.add(self.direction, &message);
        let (chunks, pause) = chunks(faults, *number, message);
        for _ in chunks.iter().filter(|_| !pause.is_zero()) {
            sleep(pause).await;
        }
        // An error means that the other end is gone, which `receive` reports.
        let _ = sender.send(Bytes::from(chunks.concat())).await;
        Ok(())
    }

    async fn receive(&self) -> io::Result<Option<Bytes>> {
        let mut cut = self.cut.subscribe();
        let mut incoming = self.incoming.lock().await;
        tokio::select! {
            biased;
            message = incoming.recv() => Ok(message),
            _ = cut.wait_for(|cut| *cut) => Err(broken()),
        }
    }

    async fn close(&self) -> io::Result<()> {
        self.outgoing.lock().await.sender = None;
        Ok(())
    }
}

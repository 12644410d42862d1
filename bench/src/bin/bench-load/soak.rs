//! All that clients do, the polite ones and the others, at once and for a long time: what a server
//! keeps of it by mistake is found by looking at its memory.

mod action;
mod dice;

use std::io;
use std::time::{Duration, Instant};

use action::ACTIONS;
use dice::Dice;

use crate::Outcome;

/// How long one action may take: more than the longest one takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(30);
/// Between two actions of a connection, in milliseconds at the most. The load is bounded: what is
/// looked for is not speed.
const PAUSE: usize = 20;

/// Acts on several connections at once until the end.
pub(crate) async fn run(port: u16, connections: usize, seed: u64, end: Instant) -> Outcome {
    let begin = |number: usize| {
        let dice = Dice::new(seed.wrapping_mul(1000).wrapping_add(number as u64));
        tokio::spawn(act(port, dice, end))
    };
    let tasks: Vec<_> = (0..connections).map(begin).collect();
    let mut total = Outcome::default();
    for task in tasks {
        let part = task.await;
        total.add(part.unwrap_or_else(|panic| Outcome::error(&panic.to_string())));
    }
    total
}

async fn act(port: u16, mut dice: Dice, end: Instant) -> Outcome {
    let mut outcome = Outcome::default();
    while Instant::now() < end {
        let action = ACTIONS[dice.below(ACTIONS.len())];
        let begun = Instant::now();
        let done = tokio::time::timeout(LIMIT, action.run(port, &mut dice, &mut outcome)).await;
        let error = match done {
            Ok(Ok(())) => None,
            // On a machine that stands still for so long, a session's time may be up.
            Ok(Err(error)) if is_gone(&error) && begun.elapsed() >= bench::SHORT_SESSION => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("it hung".to_owned()),
        };
        if let Some(error) = error {
            outcome.add(Outcome::error(&format!("{action:?}: {error}")));
        }
        tokio::time::sleep(dice.pause(PAUSE)).await;
    }
    outcome
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

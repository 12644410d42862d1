//! All kinds of client behavior at the same time, to find memory leaks of a server.

mod action;

use std::io;
use std::time::{Duration, Instant};

use action::ACTIONS;
use bench::random::Random;

use crate::outcome::Outcome;

/// Timeout of one action; longer than any action takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(30);
/// Maximum pause between two actions of a connection in milliseconds. It limits the load, because speed
/// is not measured.
const PAUSE: usize = 20;

/// One of so many actions is cut: its connections are dropped at a random point.
const CUT: usize = 100;
/// Maximum time in milliseconds until the cut.
const MAX_TIME_TO_CUT: usize = 50;

/// Runs actions on several connections until `end`. With `store_fails`, errors that report the
/// failure are expected; wrong results are not.
pub(crate) async fn run(
    port: u16,
    connections: usize,
    seed: u64,
    store_fails: bool,
    end: Instant,
) -> Outcome {
    let start = |number: usize| {
        let random = Random::new(seed.wrapping_mul(1000).wrapping_add(number as u64));
        tokio::spawn(run_actions(port, random, store_fails, end))
    };
    let tasks: Vec<_> = (0..connections).map(start).collect();
    let mut total = Outcome::default();
    for task in tasks {
        let part = task.await;
        total.add(part.unwrap_or_else(|panic| Outcome::error(&panic.to_string())));
    }
    total
}

async fn run_actions(port: u16, mut random: Random, store_fails: bool, end: Instant) -> Outcome {
    let mut outcome = Outcome::default();
    while Instant::now() < end {
        let action = ACTIONS[random.below(ACTIONS.len())];
        if random.below(CUT) == 0 {
            let time = random.pause(MAX_TIME_TO_CUT);
            let mut ignored = Outcome::default();
            let _ = tokio::time::timeout(time, action.run(port, &mut random, &mut ignored)).await;
            continue;
        }
        let started = Instant::now();
        let done = tokio::time::timeout(LIMIT, action.run(port, &mut random, &mut outcome)).await;
        let error = match done {
            Ok(Ok(())) => None,
            // If the machine stalls, a session can reach its idle timeout.
            Ok(Err(error)) if is_gone(&error) && started.elapsed() >= bench::SHORT_SESSION => None,
            Ok(Err(error)) if store_fails && reports_failure(&error) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("timeout".to_owned()),
        };
        if let Some(error) = error {
            outcome.add(Outcome::error(&format!("{action:?}: {error}")));
        }
        tokio::time::sleep(random.pause(PAUSE)).await;
    }
    outcome
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Returns true for a status of 500 or more, a session that is gone, and a JSON-RPC error for a
/// failure of the server. A stream that ends without the response of its call is a mistake: the
/// server repeats a load that failed, and sends an event itself that it cannot store.
fn reports_failure(error: &io::Error) -> bool {
    let kinds = [io::ErrorKind::Other, io::ErrorKind::NotFound];
    kinds.contains(&error.kind()) || error.to_string().contains("\"code\":-32603")
}

//! Cancellation, many sessions, memory.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use mcp::Client;
use mcp::client::Error;

use super::calls::{GoodCall, GoodCalls};
use super::memory::of_children;
use super::report::{Check, Confidence, Finding};
use super::session::{Outcome, TestSession, call};
use crate::failure::Failure;
use crate::target;

/// Number of sessions at the same time.
const SESSIONS: usize = 10;
/// Turns of the runtime between a call and its cancellation: one of them is after the call was sent, and before its
/// response, even if the tool is fast.
const TURNS: [usize; 8] = [0, 1, 2, 3, 4, 6, 8, 12];
/// Longest time between a slow call and its cancellation.
const MAX_RUN: Duration = Duration::from_secs(1);
/// Time limit of a repeated request.
const CALL_LIMIT: Duration = Duration::from_secs(20);
/// Time limit of the memory check's calls.
const MEMORY_LIMIT: Duration = Duration::from_secs(120);
/// Growth that a garbage collector causes, in KiB.
const GROWTH: u64 = 24 << 10;

/// Cancels calls, and asks whether the server still answers.
pub(super) async fn cancellation(
    session: &mut TestSession<'_>,
    good: Option<&GoodCalls>,
    check: &mut Check,
) -> Result<(), Failure> {
    let Some(GoodCalls { fastest, slowest }) = good else {
        check.skip("no call succeeded that could be cancelled");
        return Ok(());
    };
    let turns = TURNS.map(|turns| (fastest, turns, Duration::ZERO));
    // In the middle of its work.
    let half = (slowest, 0, (slowest.took / 2).min(MAX_RUN));
    let mut cancelled = 0;
    for (call, turns, time) in turns.into_iter().chain([half, half]) {
        let running = session.client.call(&*call.tool, &call.args);
        let wait = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            // A sleep of no time takes a millisecond.
            if !time.is_zero() {
                tokio::time::sleep(time).await;
            }
        };
        tokio::select! {
            biased;
            _ = running => {}
            // The dropped call sends the cancellation.
            () = wait => cancelled += 1,
        }
        let mut problem = session.ping().await?;
        if problem.is_none() {
            let (outcome, _) = session.call(&fastest.tool, &fastest.args).await?;
            if !matches!(outcome, Outcome::Result(_)) {
                problem = Some(format!("a call of `{}` fails: {outcome:?}", fastest.tool));
            }
        }
        if let Some(problem) = problem {
            check.add(Finding::new(
                Confidence::Certain,
                "cancel",
                format!("tool `{}`, after its cancellation", call.tool),
                problem,
                "stop the work of the call, and go on with other requests",
            ));
            break;
        }
    }
    let (fast, slow) = (&fastest.tool, &slowest.tool);
    check.detail = format!("{cancelled} calls of `{fast}` and `{slow}`");
    if cancelled == 0 {
        check.skip("every call had ended before it could be cancelled");
    }
    Ok(())
}

/// Opens sessions at the same time. Each lists the tools, and makes a call.
pub(super) async fn sessions(
    session: &TestSession<'_>,
    good: Option<&GoodCall>,
    check: &mut Check,
) {
    let one = async || -> Result<(), Failure> {
        let client = session.further().await?;
        let done = repeat(&client, good).await;
        target::close(&client).await;
        Ok(done?)
    };
    let outcomes = join_all((0..SESSIONS).map(|_| one())).await;
    let failed: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
    let kind = if session.is_command() {
        "processes"
    } else {
        "sessions"
    };
    check.detail = format!("{SESSIONS} {kind} at the same time");
    if let Some(first) = failed.first() {
        check.add(Finding::new(
            Confidence::Likely,
            "sessions",
            format!("{} of {SESSIONS} {kind}", failed.len()),
            first.to_string(),
            "keep state apart for each session: no fixed ports, no lock that one process holds",
        ));
    }
}

/// Sends the good call, or lists the tools.
async fn repeat(client: &Client, good: Option<&GoodCall>) -> Result<(), Error> {
    match good {
        Some(good) => call(client, &good.tool, &good.args, CALL_LIMIT)
            .await
            .map(drop),
        None => client.ping().await,
    }
}

/// Measures the memory of the server before and after many calls.
pub(super) async fn memory(
    session: &mut TestSession<'_>,
    good: Option<&GoodCall>,
    calls: usize,
    check: &mut Check,
) -> Result<(), Failure> {
    if !session.is_command() {
        check.skip("only for a server that this program starts");
        return Ok(());
    }
    if of_children().is_none() {
        check.skip("only on Linux");
        return Ok(());
    }
    let start = Instant::now();
    let mut sizes = Vec::new();
    let mut done = 0;
    let window = calls * 2 / 5;
    // The first calls fill caches and heaps.
    for part in [calls / 5, window, window, window, window] {
        if sizes.len() == 3 && !grows(&sizes) {
            break;
        }
        for _ in 0..part {
            if start.elapsed() > MEMORY_LIMIT {
                break;
            }
            if let Err(error) = repeat(&session.client, good).await {
                check.add(Finding::new(
                    Confidence::Certain,
                    "endurance",
                    format!("call {}", done + 1),
                    error.to_string(),
                    "release what each call uses: files, connections, locks",
                ));
                session.reopen().await?;
                return Ok(());
            }
            done += 1;
        }
        sizes.extend(of_children());
    }
    if start.elapsed() > MEMORY_LIMIT {
        check.skip(format!("the calls were stopped after {MEMORY_LIMIT:?}"));
    }
    let what = good.map_or("pings".to_owned(), |good| {
        format!("calls of `{}`", good.tool)
    });
    let ([first, .., last], true) = (&sizes[..], sizes.len() >= 3) else {
        check.skip("the processes of the server are unknown");
        return Ok(());
    };
    check.detail = format!("{done} {what}: {} to {} MiB", first >> 10, last >> 10);
    // A heap that grows at first is measured for longer.
    if sizes.len() == 5 && grows(&sizes[2..]) {
        let kib = last.saturating_sub(*first) / u64::try_from(done).unwrap_or(1).max(1);
        check.add(Finding::new(
            Confidence::Likely,
            "memory",
            what,
            format!("the memory grows by about {kib} KiB with each call"),
            "release what a call allocates: look for lists and maps that only grow",
        ));
    }
    Ok(())
}

/// Returns true if the memory grows in the second part of the time as in the first. Heaps grow in steps; a leak grows
/// all the time.
fn grows(sizes: &[u64]) -> bool {
    let [first, second, third] = *sizes else {
        return false;
    };
    let (early, late) = (second.saturating_sub(first), third.saturating_sub(second));
    early + late > GROWTH && late > GROWTH / 4 && late > early / 3
}

//! Cancellation, many sessions, memory.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use mcp::Client;
use mcp::client::Error;

use super::calls::GoodCall;
use super::memory::of_children;
use super::report::{Check, Confidence, Finding};
use super::session::{Session, call};
use crate::failure::Failure;
use crate::target;

/// Number of sessions at the same time.
const SESSIONS: usize = 10;
/// Turns of the runtime between a call and its cancellation: one of them is after the call was sent, and before its
/// response, even if the tool is fast.
const TURNS: [usize; 8] = [0, 1, 2, 3, 4, 6, 8, 12];
/// Time limit of a repeated request.
const CALL_LIMIT: Duration = Duration::from_secs(20);
/// Time limit of the memory check's calls.
const MEMORY_LIMIT: Duration = Duration::from_secs(120);
/// Growth that a garbage collector causes, in KiB.
const GROWTH: u64 = 24 << 10;

/// Cancels calls, and asks whether the server still answers.
pub(super) async fn cancellation(
    session: &mut Session<'_>,
    good: Option<&GoodCall>,
    check: &mut Check,
) -> Result<(), Failure> {
    let Some(good) = good else {
        check.skip("no call succeeded that could be cancelled");
        return Ok(());
    };
    let mut cancelled = 0;
    for turns in TURNS {
        let running = session.client.call(&*good.tool, &good.args);
        let wait = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            _ = running => {}
            // The dropped call sends the cancellation.
            () = wait => cancelled += 1,
        }
        if let Some(problem) = session.ping().await? {
            check.add(Finding::new(
                Confidence::Certain,
                "cancel",
                format!("tool `{}`, after its cancellation", good.tool),
                problem,
                "stop the work of the call, and go on with other requests",
            ));
            break;
        }
    }
    check.detail = format!("{cancelled} calls of `{}`", good.tool);
    Ok(())
}

/// Opens sessions at the same time. Each lists the tools, and makes a call.
pub(super) async fn sessions(session: &Session<'_>, good: Option<&GoodCall>, check: &mut Check) {
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
    session: &mut Session<'_>,
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
    // The first calls fill caches and heaps.
    for part in [calls / 5, calls * 2 / 5, calls * 2 / 5] {
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
    let what = good.map_or("pings".to_owned(), |good| {
        format!("calls of `{}`", good.tool)
    });
    if done < calls / 5 * 5 {
        check.skip(format!("the calls were stopped after {MEMORY_LIMIT:?}"));
    }
    let [first, second, third] = sizes[..] else {
        check.skip("the processes of the server are unknown");
        return Ok(());
    };
    check.detail = format!("{done} {what}: {} to {} MiB", first >> 10, third >> 10);
    let (early, late) = (second.saturating_sub(first), third.saturating_sub(second));
    // Heaps grow in steps; a leak grows all the time.
    if early + late > GROWTH && late > GROWTH / 4 && late > early / 3 {
        let kib = (early + late) / u64::try_from(done).unwrap_or(1).max(1);
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

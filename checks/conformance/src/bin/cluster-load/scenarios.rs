//! Faults of Redis and of the nodes, one after the other, while sessions call tools. Each call ends in time.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use conformance::cluster::{Link, Node, Proxy, RedisServer};
use mcp::{ConnectMode, HttpClient};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::options::{Failure, server};
use crate::worker::{Session, Shared};

/// Sessions of the legacy era.
const LEGACY: usize = 32;
/// Clients of the modern era.
const MODERN: usize = 6;
/// Time of the slowest call without a fault, in a debug build on a busy machine.
const OWN_TIME: Duration = Duration::from_secs(2);
/// Time after its own time in which each call ends. With a paused node, it begins at the end of the pause.
const GRACE: Duration = Duration::from_secs(5);
/// Time after a fault in which calls may still fail.
const RECOVERY: Duration = Duration::from_secs(2);
/// Time before each fault, in which every call succeeds.
const CALM: Duration = TURN;
const PAUSE: Duration = Duration::from_millis(150);
/// Calls of different kinds. Each session makes them in turns.
const KINDS: usize = 4;
/// Time of one call of each kind with the pauses.
const TURN: Duration = Duration::from_secs(2);

/// The faults with their lengths.
const FAULTS: [(Fault, Duration); 5] = [
    // Longer than the mark of a node lives.
    (Fault::NodeCutOff, Duration::from_secs(6)),
    (Fault::RedisPaused, Duration::from_secs(4)),
    (Fault::RedisKilled, Duration::from_secs(3)),
    (Fault::RedisRestarted, Duration::ZERO),
    (Fault::NodePaused, Duration::from_secs(5)),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    NodeCutOff,
    RedisPaused,
    RedisKilled,
    RedisRestarted,
    NodePaused,
}

/// A call that has ended.
struct EndedCall {
    start: Instant,
    end: Instant,
    is_modern: bool,
    kind: usize,
    outcome: Outcome,
}

#[derive(Debug)]
enum Outcome {
    Answered,
    Wrong(String),
    Failed(String),
    /// The error says that the call did not run, but it did.
    FalselyNotRun(String),
}

/// Runs the scenarios.
///
/// # Errors
///
/// Returns an error if the processes cannot be started, or if a call ended too late, was answered wrongly or failed
/// without a fault.
pub(crate) async fn run() -> Result<(), Failure> {
    let Some(redis) = RedisServer::start().await? else {
        println!("{}", json!({ "skipped": "redis-server is not installed" }));
        return Ok(());
    };
    let mut cluster = Cluster::start(redis).await?;
    let shared = Arc::<Shared>::default();
    let http = HttpClient::new()?;
    let mut sessions = Vec::new();
    for number in 0..LEGACY + MODERN {
        let is_modern = number >= LEGACY;
        let mode = if is_modern {
            ConnectMode::Auto
        } else {
            ConnectMode::Legacy
        };
        let session = Session::open(number, mode, &cluster.url, http.clone(), shared.clone());
        sessions.push((is_modern, Arc::new(session.await?)));
    }
    let mut rows = Vec::new();
    let mut problems = 0;
    for (fault, length) in FAULTS {
        let (row, count) = observe(&mut cluster, &sessions, fault, length).await?;
        eprintln!("{row}");
        rows.push(row);
        problems += count;
    }
    let lost_sessions = cluster.proxy.opened_sessions().abs_diff(LEGACY);
    println!(
        "{:#}",
        json!({ "rows": rows, "lost_sessions": lost_sessions })
    );
    match problems + lost_sessions {
        0 => Ok(()),
        _ => Err("a call ended too late, was answered wrongly, or failed without a fault".into()),
    }
}

/// Lets all sessions call during one fault. Returns the report, and the number of problems.
async fn observe(
    cluster: &mut Cluster,
    sessions: &[(bool, Arc<Session>)],
    fault: Fault,
    length: Duration,
) -> Result<(Value, usize), Failure> {
    let is_over = Arc::<AtomicBool>::default();
    let calls = Arc::<Mutex<Vec<EndedCall>>>::default();
    let workers: Vec<_> = sessions
        .iter()
        .enumerate()
        .map(|(number, (is_modern, session))| {
            let (session, is_modern) = (session.clone(), *is_modern);
            let (is_over, calls) = (is_over.clone(), calls.clone());
            tokio::spawn(async move {
                // The sessions do not call at the same time.
                sleep(TURN.mul_f64(number as f64 * 0.618 % 1.0)).await;
                let mut turn = number;
                while !is_over.load(Ordering::Relaxed) {
                    turn += 1;
                    let ended = call(&session, is_modern, turn).await;
                    calls
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(ended);
                    sleep(PAUSE).await;
                }
            })
        })
        .collect();
    sleep(CALM).await;
    let begin = Instant::now();
    cluster.set_fault(fault, true).await?;
    sleep(length).await;
    cluster.set_fault(fault, false).await?;
    let end = Instant::now();
    sleep(RECOVERY + TURN).await;
    is_over.store(true, Ordering::Relaxed);
    for worker in workers {
        worker.await?;
    }
    let calls = std::mem::take(&mut *calls.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(report(fault, &calls, begin, end))
}

async fn call(session: &Session, is_modern: bool, turn: usize) -> EndedCall {
    let start = Instant::now();
    let outcome = match session.call(turn % KINDS, turn).await {
        Ok(None) => Outcome::Answered,
        Ok(Some(wrong)) => Outcome::Wrong(wrong),
        Err(error) if !error.may_have_run() && session.was_asked(turn) => {
            Outcome::FalselyNotRun(error.to_string())
        }
        Err(error) => Outcome::Failed(error.to_string()),
    };
    let end = Instant::now();
    EndedCall {
        start,
        end,
        is_modern,
        kind: turn % KINDS,
        outcome,
    }
}

fn report(fault: Fault, calls: &[EndedCall], begin: Instant, end: Instant) -> (Value, usize) {
    let (mut problems, mut examples) = (Vec::new(), Vec::new());
    let (mut answers, mut errors, mut modern_errors) = (0, 0, 0);
    let (mut late, mut wrong, mut unexplained) = (0, 0, 0);
    let (mut slowest, mut slower_than_grace) = (Duration::ZERO, 0);
    for call in calls {
        let time = call.end - call.start;
        slowest = slowest.max(time);
        slower_than_grace += usize::from(time > OWN_TIME + GRACE);
        let own_end = call.start + OWN_TIME;
        let may_be_paused = fault == Fault::NodePaused && call.start < end && call.end > begin;
        let due = if may_be_paused {
            own_end.max(end)
        } else {
            own_end
        } + GRACE;
        let problem = match &call.outcome {
            outcome if call.end > due => Some((&mut late, format!("late: {outcome:?}"))),
            Outcome::Answered => None,
            Outcome::Wrong(text) | Outcome::FalselyNotRun(text) => Some((&mut wrong, text.clone())),
            Outcome::Failed(text) if call.start > end + RECOVERY || call.end < begin => {
                Some((&mut unexplained, text.clone()))
            }
            Outcome::Failed(_) => None,
        };
        if let Some((count, text)) = problem {
            *count += 1;
            let before = begin.saturating_duration_since(call.start);
            let after = call.start.saturating_duration_since(begin);
            problems.push(format!(
                "kind {}: {text}; began {before:?} before and {after:?} after the fault, took {time:?}",
                call.kind
            ));
        }
        match &call.outcome {
            Outcome::Answered => answers += 1,
            Outcome::Failed(text) => {
                errors += 1;
                modern_errors += usize::from(call.is_modern);
                examples.push(text.clone());
            }
            _ => {}
        }
    }
    problems.truncate(8);
    examples.sort();
    examples.dedup();
    examples.truncate(4);
    let row = json!({
        "fault": format!("{fault:?}"),
        "seconds": (end - begin).as_secs_f64(),
        "answers": answers,
        "errors": errors,
        "errors_of_modern_calls": modern_errors,
        "slowest_call_seconds": slowest.as_secs_f64(),
        "calls_above_7_seconds": slower_than_grace,
        "late": late,
        "wrong": wrong,
        "unexplained_errors": unexplained,
        "problems": problems,
        "errors_for_example": examples,
    });
    (row, late + wrong + unexplained)
}

/// The processes. The first node reaches Redis over a link that can be cut.
struct Cluster {
    redis: RedisServer,
    link: Link,
    nodes: Vec<Node>,
    proxy: Arc<Proxy>,
    url: String,
}

impl Cluster {
    async fn start(redis: RedisServer) -> Result<Self, Failure> {
        let program = server()?;
        let link = Link::start(redis.port()).await?;
        let linked = format!("redis://127.0.0.1:{}", link.port());
        let mut nodes = Vec::new();
        for url in [linked, redis.url(), redis.url()] {
            nodes.push(Node::start(&program, Some(&url)).await?);
        }
        let addresses = nodes.iter().map(|node| node.address().to_owned());
        let (proxy, url) = Proxy::start(addresses.collect(), true).await?;
        Ok(Self {
            redis,
            link,
            nodes,
            proxy,
            url,
        })
    }

    /// Starts a fault, or ends it.
    async fn set_fault(&mut self, fault: Fault, is_on: bool) -> io::Result<()> {
        match fault {
            Fault::NodeCutOff => self.link.set_cut(is_on),
            Fault::RedisPaused => self.redis.set_paused(is_on).await?,
            Fault::RedisKilled if is_on => self.redis.kill().await?,
            Fault::RedisKilled => self.redis.start_again().await?,
            Fault::RedisRestarted if is_on => self.redis.restart().await?,
            Fault::RedisRestarted => {}
            Fault::NodePaused => {
                if let Some(node) = self.nodes.first() {
                    node.set_paused(is_on).await?;
                }
            }
        }
        Ok(())
    }
}

//! Sessions with elicitation, progress, resumption and subscriptions, while nodes are killed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use conformance::cluster::{Node, Proxy, RedisServer};
use futures_util::StreamExt as _;
use futures_util::stream;
use mcp::{ConnectMode, HttpClient};
use serde_json::{Value, json};
use tokio::time::{sleep, sleep_until};

use crate::options::{Failure, Options, server};
use crate::worker::{Session, Shared};

const NODES: usize = 3;
/// Sessions that are opened at the same time.
const OPENING: usize = 16;

/// Runs the soak.
///
/// # Errors
///
/// Returns an error if the processes cannot be started, or if an answer, a change or a session was lost.
pub(crate) async fn run(options: &Options) -> Result<(), Failure> {
    let sessions = options.number("--sessions", 1_000.0)? as usize;
    let length = options.seconds("--seconds", 300.0)?;
    let kill_every = options.seconds("--kill-every", 20.0)?;
    let rate = options.number("--rate", 100.0)?;
    let Some(redis) = RedisServer::start().await? else {
        println!("{}", json!({ "skipped": "redis-server is not installed" }));
        return Ok(());
    };
    let mut cluster = Cluster::start(redis).await?;
    let shared = Arc::new(Shared {
        start: Some(Instant::now()),
        ..Shared::default()
    });
    let http = HttpClient::new()?;
    let url = cluster.url.clone();
    let opened: Vec<_> = stream::iter(0..=sessions)
        .map(|number| {
            let legacy = ConnectMode::Legacy;
            Session::open(number, legacy, &url, http.clone(), shared.clone())
        })
        .buffer_unordered(OPENING)
        .collect()
        .await;
    let opened: Result<Vec<_>, Failure> = opened.into_iter().collect();
    let opened: Vec<_> = opened?.into_iter().map(Arc::new).collect();
    eprintln!("{} sessions are open", opened.len());

    let start = Instant::now();
    let end = start + length;
    let pause = Duration::from_secs_f64(sessions as f64 / rate);
    let workers = opened.iter().skip(1).map(|session| {
        let session = session.clone();
        tokio::spawn(async move { session.work(end, pause).await })
    });
    let workers: Vec<_> = workers.collect();
    let kills = (length.as_secs_f64() / kill_every.as_secs_f64()).ceil() as u32 - 1;
    let mut missed = 0;
    for number in 1..=kills {
        sleep_until((start + kill_every * number).into()).await;
        cluster.kill_next(&shared).await?;
        if number == kills.div_ceil(2) {
            let began = Instant::now();
            shared.faults.start();
            cluster.redis.restart().await?;
            shared.faults.end();
            eprintln!("Redis was restarted within {:?}", began.elapsed());
        }
        missed += notify(&opened, &shared, kill_every).await?;
        cluster.read_memory().await?;
    }
    for worker in workers {
        worker.await?;
    }
    cluster.read_memory().await?;
    let report = report(&cluster, &shared, opened.len(), missed, kills);
    println!("{report:#}");
    match report["faults"].as_u64() {
        Some(0) => Ok(()),
        _ => Err("an answer, a change or a session was lost, or an answer was wrong".into()),
    }
}

/// Changes the watched resource. Returns the number of sessions that were not notified of it.
async fn notify(
    sessions: &[Arc<Session>],
    shared: &Shared,
    limit: Duration,
) -> Result<usize, Failure> {
    let begin = shared.start.unwrap_or_else(Instant::now);
    let trigger = sessions.first().ok_or("no session")?;
    sleep(limit.mul_f64(0.1)).await;
    let now = begin.elapsed().as_millis() as u64;
    // A call that was in flight during the fault may fail.
    if trigger.trigger().await.is_err() {
        trigger.trigger().await?;
    }
    let is_notified = |session: &&Arc<Session>| session.changed.load(Ordering::Relaxed) >= now;
    let deadline = Instant::now() + limit.mul_f64(0.7);
    loop {
        let notified = sessions.iter().filter(is_notified).count();
        if notified == sessions.len() || Instant::now() > deadline {
            let missed = sessions.len() - notified;
            if missed > 0 {
                eprintln!("{missed} sessions were not notified");
            }
            return Ok(missed);
        }
        sleep(Duration::from_millis(50)).await;
    }
}

fn report(cluster: &Cluster, shared: &Shared, sessions: usize, missed: usize, kills: u32) -> Value {
    let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    let counts = &shared.counts;
    let [elicitations, progress, resumptions] = counts.answers.each_ref().map(count);
    let lost_sessions = cluster.proxy.opened_sessions().abs_diff(sessions);
    let faults = [&counts.wrong, &counts.unexplained, &counts.lost];
    let faults = faults.into_iter().map(count).sum::<usize>() + missed + lost_sessions;
    let examples = shared.examples.lock();
    let examples = examples
        .map(|examples| examples.clone())
        .unwrap_or_default();
    json!({
        "sessions": sessions,
        "killed_nodes": kills,
        "answers": {
            "elicitation": elicitations, "progress": progress, "resumption": resumptions,
        },
        "changes": count(&counts.changes),
        "errors_of_calls_in_flight": count(&counts.in_flight),
        "wrong_answers": count(&counts.wrong),
        "unexplained_errors": count(&counts.unexplained),
        "lost_answers": count(&counts.lost),
        "missed_changes": missed,
        "lost_sessions": lost_sessions,
        "faults": faults,
        "examples": examples,
        "memory_of_killed_nodes": cluster.memory_of_killed,
        "memory_of_redis": cluster.memory_of_redis,
    })
}

/// The processes.
struct Cluster {
    redis: RedisServer,
    program: PathBuf,
    nodes: Vec<Node>,
    proxy: Arc<Proxy>,
    url: String,
    /// Resident memory of each node before it was killed, in bytes.
    memory_of_killed: Vec<u64>,
    memory_of_redis: Vec<u64>,
}

impl Cluster {
    async fn start(redis: RedisServer) -> Result<Self, Failure> {
        let program = server()?;
        let mut nodes = Vec::new();
        for _ in 0..NODES {
            nodes.push(Node::start(&program, Some(&redis.url())).await?);
        }
        let addresses = addresses(&nodes);
        let (proxy, url) = Proxy::start(addresses, true).await?;
        Ok(Self {
            redis,
            program,
            nodes,
            proxy,
            url,
            memory_of_killed: Vec::new(),
            memory_of_redis: Vec::new(),
        })
    }

    /// Kills the oldest node and starts another one. The proxy learns of it from refused connections.
    async fn kill_next(&mut self, shared: &Shared) -> Result<(), Failure> {
        let oldest = self.nodes.remove(0);
        self.memory_of_killed.extend(oldest.memory());
        shared.faults.start();
        oldest.kill().await?;
        let node = Node::start(&self.program, Some(&self.redis.url())).await?;
        self.nodes.push(node);
        self.proxy.set_nodes(addresses(&self.nodes));
        // Until now, the proxy could use a connection to the killed node.
        shared.faults.end();
        Ok(())
    }

    async fn read_memory(&mut self) -> Result<(), Failure> {
        let info = self.redis.info("memory").await?;
        let used = info
            .lines()
            .find_map(|line| line.strip_prefix("used_memory:"));
        let used = used.and_then(|used| used.trim().parse::<u64>().ok());
        self.memory_of_redis.extend(used);
        Ok(())
    }
}

fn addresses(nodes: &[Node]) -> Vec<String> {
    nodes.iter().map(|node| node.address().to_owned()).collect()
}

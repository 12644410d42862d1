//! What a session costs in memory: so many are opened and held, and the server's memory is looked
//! at before and after.

use std::io::{BufRead, BufReader, Read as _};
use std::process::Stdio;

use super::measure::Sample;
use super::runner::{Bench, port};
use super::scenario::Scenario;
use super::table::Row;
use crate::Result;
use crate::process::Guard;

/// Bytes per session, a row for each candidate.
pub(crate) fn rows(
    bench: &Bench<'_>,
    scenario: &'static Scenario,
    count: usize,
    streams: bool,
) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    for candidate in bench.candidates(scenario) {
        let server = bench.start(candidate, scenario)?;
        let url = server.url();
        // What is made once is made before.
        hold(bench, url, 50, streams, server.id())?;
        let before = resident(server.id())?;
        let (after, sample) = hold(bench, url, count, streams, server.id())?;
        let each = after.saturating_sub(before) as f64 / count as f64;
        rows.push(Row::of_memory(
            scenario.label,
            candidate.label,
            each,
            &sample,
        ));
    }
    Ok(rows)
}

/// Opens sessions; the server's memory while they are held.
fn hold(
    bench: &Bench<'_>,
    url: &str,
    count: usize,
    streams: bool,
    server: u32,
) -> Result<(u64, Sample)> {
    let mut command = bench.generator();
    command
        .arg(port(url)?.to_string())
        .args(["sessions", "--count", &count.to_string()])
        .args(streams.then_some("--streams"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut generator = Guard::spawn(&mut command)?;
    let mut output = BufReader::new(generator.0.stdout.take().ok_or("no output")?);
    let mut line = String::new();
    output.read_line(&mut line)?;
    let bytes = resident(server)?;
    drop(generator.0.stdin.take());
    line.clear();
    output.read_to_string(&mut line)?;
    Ok((bytes, serde_json::from_str(&line)?))
}

/// The resident memory of a process, in bytes. Only Linux says so in a file.
pub(crate) fn resident(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Ok(kilobytes.ok_or("no VmRSS")? * 1024)
}

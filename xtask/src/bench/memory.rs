//! Memory per session: the load generator opens many sessions and holds them; the difference of the
//! server's resident memory is divided by their number.

use std::io::{BufRead, BufReader, Read as _};
use std::process::Stdio;

use super::measure::{Sample, resident};
use super::runner::{Bench, port};
use super::scenario::Scenario;
use super::table::Row;
use crate::process::ChildGuard;
use crate::result::Result;

/// Measures bytes per session. Returns a row for each candidate.
pub(crate) fn rows(
    bench: &Bench<'_>,
    scenario: &Scenario,
    count: usize,
    streams: bool,
) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    for candidate in bench.candidates(scenario) {
        let server = bench.start(&candidate, scenario)?;
        let url = server.url();
        // The first sessions allocate memory that is shared by all.
        hold(bench, url, 50, streams, server.id())?;
        let before = resident(server.id())?;
        let (after, sample) = hold(bench, url, count, streams, server.id())?;
        let each = after.saturating_sub(before) as f64 / count as f64;
        rows.push(Row::from_memory(
            scenario.label,
            candidate.label,
            each,
            &sample,
        ));
    }
    Ok(rows)
}

/// Opens sessions. Returns the memory of the server while they are open.
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
    let mut generator = ChildGuard::spawn(&mut command)?;
    let mut output = BufReader::new(generator.0.stdout.take().ok_or("no output")?);
    let mut line = String::new();
    output.read_line(&mut line)?;
    let bytes = resident(server)?;
    drop(generator.0.stdin.take());
    line.clear();
    output.read_to_string(&mut line)?;
    Ok((bytes, serde_json::from_str(&line)?))
}

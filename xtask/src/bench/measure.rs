//! Samples, medians, and the processor time and memory of another process.

use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use crate::process;
use crate::result::Result;

/// The output of the load generator, with the processor time that the server used per request.
#[derive(Debug, Deserialize)]
pub(crate) struct Sample {
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
    pub(crate) req_per_s: f64,
    pub(crate) p50_us: Option<f64>,
    pub(crate) p99_us: Option<f64>,
    pub(crate) errors: usize,
    pub(crate) last_error: Option<String>,
    #[serde(skip)]
    pub(crate) cpu_us: Option<f64>,
}

/// Returns the median of the finite values.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some((values[last / 2] + values[values.len() / 2]) / 2.0)
}

/// Reads the processor time of processes from `/proc`. On other systems there are no readings.
#[derive(Debug)]
pub(crate) struct Clock {
    ticks_per_second: Option<f64>,
}

impl Clock {
    pub(crate) fn find() -> Self {
        let ticks = process::capture(Command::new("getconf").arg("CLK_TCK")).ok();
        Self {
            ticks_per_second: ticks.and_then(|ticks| ticks.trim().parse().ok()),
        }
    }

    /// User and system time together: of all threads in nanoseconds where the kernel counts them, else in
    /// ticks of ten milliseconds.
    pub(crate) fn used(&self, process: u32) -> Option<Duration> {
        of_threads(process).or_else(|| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            let ticks = ticks(&stat)? as f64;
            Some(Duration::from_secs_f64(ticks / self.ticks_per_second?))
        })
    }
}

/// Returns the time of the running threads of a process, from `/proc/PID/task/TID/schedstat`.
fn of_threads(process: u32) -> Option<Duration> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let mut total = Duration::ZERO;
    for thread in threads {
        let stat = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        total += Duration::from_nanos(stat.split(' ').next()?.parse().ok()?);
    }
    (!total.is_zero()).then_some(total)
}

/// Index of `utime` and `stime` in `/proc/PID/stat` (fields 14 and 15), counted after the name of
/// the program, which may contain spaces.
const FIELDS: usize = 11;

/// Returns the user and system time in `/proc/PID/stat`.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(FIELDS);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// Returns the resident memory of a process, in bytes.
///
/// # Errors
///
/// Returns an error on systems without `/proc`.
pub(crate) fn resident(process: u32) -> Result<u64> {
    memory(process, "VmRSS:")
}

/// Returns the resident memory of a process without its mapped files, in bytes. The system drops pages of the program at any
/// time.
///
/// # Errors
///
/// Returns an error on systems without `/proc`.
pub(crate) fn anonymous(process: u32) -> Result<u64> {
    memory(process, "RssAnon:")
}

fn memory(process: u32, name: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Ok(kilobytes.ok_or_else(|| format!("no {name}"))? * 1024)
}

#[cfg(test)]
mod tests {
    use super::{median, ticks};

    #[test]
    fn median_ignores_values_that_are_not_finite() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(vec![f64::NAN, 7.0]), Some(7.0));
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn ticks_are_read_after_the_name() {
        let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194560 150 0 0 0 17 5 3 1 20 0 1 0 8 9 10";
        assert_eq!(ticks(stat), Some(22));
        assert_eq!(ticks("42"), None);
    }
}

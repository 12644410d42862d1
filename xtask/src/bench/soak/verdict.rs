//! Readings of a process, and the verdict whether it grows.

use std::fmt;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::bench::measure::{median, resident};

/// Fraction of the time in which growth is normal: caches, pools, the first sessions.
const WARM_UP: f64 = 0.25;
/// Allowed growth from the first to the last third: a fraction, and a number of bytes.
const SHARE: f64 = 0.05;
const SPARE_BYTES: f64 = 4e6;
/// Allowed growth in files or threads, in addition to the fraction.
const SPARE_HANDLES: f64 = 16.0;
/// Allowed growth in tasks, in addition to the fraction: each connection has a few.
const SPARE_TASKS: f64 = 48.0;
/// Bytes at the end of a log that are searched for the task count.
const LOG_END: u64 = 4096;
/// Minimum number of readings after the warm-up for a verdict.
const FEWEST: usize = 9;

/// The resources of a process at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Seconds since the start.
    pub(super) seconds: f64,
    /// Resident memory.
    pub(super) bytes: u64,
    /// Open files and sockets.
    pub(super) files: usize,
    pub(super) threads: usize,
    /// Tasks of the async runtime.
    pub(super) tasks: usize,
}

impl Reading {
    pub(super) const HEADING: &'static str = " seconds     kB resident  open files  threads  tasks";

    /// Reads `/proc`, and the last number of tasks in the log of the process. Returns `None` on other
    /// systems.
    pub(super) fn take(process: u32, log: &Path, start: Instant) -> Option<Self> {
        let count = |folder: &str| {
            Some(
                fs::read_dir(format!("/proc/{process}/{folder}"))
                    .ok()?
                    .count(),
            )
        };
        Some(Self {
            seconds: start.elapsed().as_secs_f64(),
            bytes: resident(process).ok()?,
            files: count("fd")?,
            threads: count("task")?,
            tasks: last_tasks(log).unwrap_or(0),
        })
    }

    pub(super) fn to_json(self) -> Value {
        json!({
            "seconds": self.seconds,
            "bytes": self.bytes,
            "files": self.files,
            "threads": self.threads,
            "tasks": self.tasks,
        })
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kilobytes = self.bytes / 1024;
        let Self {
            seconds,
            files,
            threads,
            tasks,
            ..
        } = self;
        write!(
            f,
            "{seconds:8.1} {kilobytes:15} {files:11} {threads:8} {tasks:6}"
        )
    }
}

/// Returns the number of the last line `tasks N` of a log.
fn last_tasks(log: &Path) -> Option<usize> {
    let mut file = fs::File::open(log).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_END)))
        .ok()?;
    let mut end = Vec::new();
    file.read_to_end(&mut end).ok()?;
    let end = String::from_utf8_lossy(&end);
    let complete = &end[..=end.rfind('\n')?];
    let mut counts = complete.lines().rev();
    counts.find_map(|line| line.strip_prefix("tasks ")?.parse().ok())
}

/// Returns a message for each resource that grows: after the warm-up, the median reading in the last third
/// exceeds that in the first third by more than the allowed growth.
pub(super) fn judge(readings: &[Reading]) -> Vec<String> {
    let warm = (readings.len() as f64 * WARM_UP).ceil() as usize;
    let rest = readings.get(warm..).unwrap_or_default();
    let third = rest.len() / 3;
    if rest.len() < FEWEST {
        return Vec::new();
    }
    let (first, last) = (&rest[..third], &rest[rest.len() - third..]);
    let grown = |resource: &str, share: f64, spare: f64, value: fn(&Reading) -> f64| {
        let middle = |part: &[Reading]| median(part.iter().map(value).collect()).unwrap_or(0.0);
        let (before, after) = (middle(first), middle(last));
        let most = before * (1.0 + share) + spare;
        (after > most).then(|| {
            format!("{resource} grow: from {before:.0} to {after:.0}, the limit is {most:.0}")
        })
    };
    [
        grown("bytes of memory", SHARE, SPARE_BYTES, |sample| {
            sample.bytes as f64
        }),
        grown("open files", SHARE, SPARE_HANDLES, |sample| {
            sample.files as f64
        }),
        grown("threads", SHARE, SPARE_HANDLES, |sample| {
            sample.threads as f64
        }),
        grown("tasks", SHARE, SPARE_TASKS, |sample| sample.tasks as f64),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{Reading, judge};

    /// Returns 60 readings. Memory and files are functions of the reading's number.
    fn readings(bytes: fn(u64) -> u64, files: fn(u64) -> u64) -> Vec<Reading> {
        let reading = |number: u64| Reading {
            seconds: number as f64,
            bytes: bytes(number),
            files: files(number) as usize,
            threads: 4,
            tasks: files(number) as usize,
        };
        (0..60).map(reading).collect()
    }

    #[test]
    fn growing_resources_are_faults() {
        let mega = |_| 30_000_000;
        let cases: [(&str, Vec<Reading>, &[&str]); 6] = [
            ("flat", readings(mega, |_| 20), &[]),
            (
                "a warm-up",
                readings(|n| 10_000_000 + n.min(14) * 1_000_000, |_| 20),
                &[],
            ),
            (
                "up and down",
                readings(|n| 20_000_000 + n % 7 * 4_000_000, |n| 20 + n % 9),
                &[],
            ),
            (
                "a leak",
                readings(|n| 20_000_000 + n * 200_000, |_| 20),
                &["bytes of memory grow"],
            ),
            (
                "files",
                readings(mega, |n| 20 + 4 * n),
                &["open files grow", "tasks grow"],
            ),
            (
                "both",
                readings(|n| 1_000_000 * (20 + n), |n| 20 + 4 * n),
                &["bytes", "open files", "tasks"],
            ),
        ];
        for (name, readings, expected) in cases {
            let faults = judge(&readings);
            assert_eq!(faults.len(), expected.len(), "{name}: {faults:?}");
            for (fault, expected) in faults.iter().zip(expected) {
                assert!(fault.starts_with(expected), "{name}: {fault}");
            }
        }
    }

    #[test]
    fn few_readings_have_no_verdict() {
        let few = readings(|n| n * 100_000_000, |n| n);
        assert!(judge(&few[..8]).is_empty());
        assert!(!judge(&few).is_empty());
        assert!(judge(&[]).is_empty());
    }
}

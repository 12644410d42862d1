//! Readings of a process, and the verdict whether it grows.

use std::fmt;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::bench::measure::{Sample, anonymous, median};
use crate::process::ChildGuard;
use crate::result::Result;

/// The resources of a process, and the allowed growth in addition to [`SHARE`]. Each connection has a few tasks.
pub(super) const RESOURCES: [(&str, f64); 5] = [
    ("bytes of memory", 4e6),
    ("open files", 16.0),
    ("threads", 16.0),
    ("tasks", 48.0),
    ("processes", 16.0),
];
/// Readings that are taken from each process.
pub(super) const READINGS: f64 = 60.0;
/// One of so many readings is printed.
pub(super) const PRINTED: usize = 10;
pub(super) const START_LIMIT: Duration = Duration::from_secs(10);
/// glibc settings that return freed memory at once. By default it raises its thresholds after the
/// first large messages and keeps freed memory, which would hide the memory of the server.
pub(super) const ALLOCATOR: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "65536"),
    ("MALLOC_TRIM_THRESHOLD_", "65536"),
];
/// Allowed growth, as a fraction.
const SHARE: f64 = 0.05;
/// Bytes at the end of a log that are searched for the task count.
const LOG_END: u64 = 4096;
/// Minimum number of readings for a verdict.
const FEWEST: usize = 12;

/// The resources of a process at one time.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Reading {
    /// Seconds since the start.
    pub(super) seconds: f64,
    /// The numbers of [`RESOURCES`].
    pub(super) values: [u64; 5],
}

impl Reading {
    pub(super) const HEADING: &'static str =
        " seconds    kB anonymous  open files  threads  tasks  processes";

    /// Reads `/proc`, and the last number of tasks in the log of the process. Returns `None` on other
    /// systems.
    pub(super) fn take(process: u32, log: &Path, start: Instant) -> Option<Self> {
        let count = |folder: &str| {
            let entries = fs::read_dir(format!("/proc/{process}/{folder}")).ok()?;
            Some(entries.count() as u64)
        };
        let tasks = last_tasks(log).unwrap_or(0);
        Some(Self {
            seconds: start.elapsed().as_secs_f64(),
            values: [
                anonymous(process).ok()?,
                count("fd")?,
                count("task")?,
                tasks,
                descendants(process),
            ],
        })
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bytes, files, threads, tasks, processes] = self.values;
        let (seconds, kilobytes) = (self.seconds, bytes / 1024);
        write!(
            f,
            "{seconds:8.1} {kilobytes:15} {files:11} {threads:8} {tasks:6} {processes:10}"
        )
    }
}

/// Returns the number of child processes, with theirs.
fn descendants(process: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children = lists.flat_map(|list| {
        let children = list.split_whitespace().map(|id| id.parse().unwrap_or(0));
        children.collect::<Vec<u32>>()
    });
    children.map(|child| 1 + descendants(child)).sum()
}

/// Returns the number of the last line `tasks N` of a log.
fn last_tasks(log: &Path) -> Option<u64> {
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

/// Returns a message for each resource that grows: the median in the last quarter exceeds that in the second
/// one by more than the allowed growth. Growth in the first quarter is normal: caches, pools, the first
/// sessions.
pub(super) fn judge(readings: &[Reading]) -> Vec<String> {
    if readings.len() < FEWEST {
        return Vec::new();
    }
    let quarter = readings.len() / 4;
    let (second, last) = (
        &readings[quarter..2 * quarter],
        &readings[readings.len() - quarter..],
    );
    let mut faults = Vec::new();
    for (index, (resource, spare)) in RESOURCES.into_iter().enumerate() {
        let middle = |part: &[Reading]| {
            let values = part.iter().map(|reading| reading.values[index] as f64);
            median(values.collect()).unwrap_or(0.0)
        };
        let (before, after) = (middle(second), middle(last));
        let most = before * (1.0 + SHARE) + spare;
        if after > most {
            faults.push(format!(
                "{resource} grow: from {before:.0} to {after:.0}, the limit is {most:.0}"
            ));
        }
    }
    faults
}

/// Parses the output of a load that has ended.
pub(super) fn sample(load: &mut ChildGuard) -> Result<Sample> {
    if load.0.try_wait()?.is_none() {
        return Err("the load did not end".into());
    }
    let output = load.0.stdout.take().ok_or("no output")?;
    Ok(serde_json::from_reader(output)?)
}

#[cfg(test)]
mod tests {
    use super::{Reading, judge};

    /// Returns 60 readings. Memory and files are functions of the reading's number.
    fn readings(bytes: fn(u64) -> u64, files: fn(u64) -> u64) -> Vec<Reading> {
        let reading = |number: u64| Reading {
            seconds: number as f64,
            values: [bytes(number), files(number), 4, files(number), 2],
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

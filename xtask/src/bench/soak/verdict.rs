//! Readings of a process, and when they say that it grows.

use std::fmt;
use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use crate::bench::measure::median;
use crate::bench::memory::resident;

/// The share of the time in which everything grows: caches, pools, the first sessions.
const WARM_UP: f64 = 0.25;
/// Memory that the last third may have above the first one: a share of it, and bytes.
const SHARE: f64 = 0.05;
const SPARE_BYTES: f64 = 4e6;
/// Files and threads, likewise.
const SPARE_HANDLES: f64 = 16.0;
/// With fewer readings after the warm-up nothing can be said.
const FEWEST: usize = 9;

/// What a process has at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Since the start.
    pub(super) seconds: f64,
    /// Resident memory.
    pub(super) bytes: u64,
    /// Files and sockets that are open.
    pub(super) files: usize,
    pub(super) threads: usize,
}

impl Reading {
    pub(super) const HEADING: &'static str = " seconds     kB resident  open files  threads";

    /// Only Linux says it in files; elsewhere nothing is known.
    pub(super) fn of(process: u32, start: Instant) -> Option<Self> {
        let count = |what: &str| {
            Some(
                fs::read_dir(format!("/proc/{process}/{what}"))
                    .ok()?
                    .count(),
            )
        };
        Some(Self {
            seconds: start.elapsed().as_secs_f64(),
            bytes: resident(process).ok()?,
            files: count("fd")?,
            threads: count("task")?,
        })
    }

    pub(super) fn to_json(self) -> Value {
        json!({
            "seconds": self.seconds,
            "bytes": self.bytes,
            "files": self.files,
            "threads": self.threads,
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
            ..
        } = self;
        write!(f, "{seconds:8.1} {kilobytes:15} {files:11} {threads:8}")
    }
}

/// What grows. After the warm-up, the median of the last third is held against that of the first:
/// what goes up and down does no harm, what goes up and stays there adds up.
pub(super) fn judge(readings: &[Reading]) -> Vec<String> {
    let warm = (readings.len() as f64 * WARM_UP).ceil() as usize;
    let rest = readings.get(warm..).unwrap_or_default();
    let third = rest.len() / 3;
    if rest.len() < FEWEST {
        return Vec::new();
    }
    let (first, last) = (&rest[..third], &rest[rest.len() - third..]);
    let grown = |what: &str, share: f64, spare: f64, of: fn(&Reading) -> f64| {
        let middle = |part: &[Reading]| median(part.iter().map(of).collect()).unwrap_or(0.0);
        let (before, after) = (middle(first), middle(last));
        let most = before * (1.0 + share) + spare;
        (after > most).then(|| {
            format!("{what} grow: from {before:.0} to {after:.0}, and {most:.0} would have passed")
        })
    };
    [
        grown("bytes of memory", SHARE, SPARE_BYTES, |it| it.bytes as f64),
        grown("open files", SHARE, SPARE_HANDLES, |it| it.files as f64),
        grown("threads", SHARE, SPARE_HANDLES, |it| it.threads as f64),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{Reading, judge};

    /// A minute of readings: memory and files as functions of the number of the reading.
    fn readings(bytes: fn(u64) -> u64, files: fn(u64) -> u64) -> Vec<Reading> {
        let reading = |number: u64| Reading {
            seconds: number as f64,
            bytes: bytes(number),
            files: files(number) as usize,
            threads: 4,
        };
        (0..60).map(reading).collect()
    }

    #[test]
    fn what_stays_passes_and_what_grows_does_not() {
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
            ("files", readings(mega, |n| 20 + n), &["open files grow"]),
            (
                "both",
                readings(|n| 1_000_000 * (20 + n), |n| 20 + 2 * n),
                &["bytes", "open files"],
            ),
        ];
        for (name, readings, told) in cases {
            let faults = judge(&readings);
            assert_eq!(faults.len(), told.len(), "{name}: {faults:?}");
            for (fault, told) in faults.iter().zip(told) {
                assert!(fault.starts_with(told), "{name}: {fault}");
            }
        }
    }

    #[test]
    fn too_little_says_nothing() {
        let few = readings(|n| n * 100_000_000, |n| n);
        assert!(judge(&few[..8]).is_empty());
        assert!(!judge(&few).is_empty());
        assert!(judge(&[]).is_empty());
    }
}

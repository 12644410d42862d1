//! A process under load: its readings, and the verdict on them.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::verdict::{Reading, judge};
use crate::Result;
use crate::bench::measure::Sample;
use crate::process::ChildGuard;

/// A program that causes the load and prints a [`Sample`] at its end.
#[derive(Debug)]
pub(super) struct LoadProcess(pub(super) ChildGuard);

/// A measured process.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) name: String,
    id: u32,
    /// The stderr of the process, with lines `tasks N`.
    log: PathBuf,
    load: LoadProcess,
    /// The reading before the load, of a process that outlives it.
    before: Option<Reading>,
    pub(super) readings: Vec<Reading>,
}

impl Measured {
    fn new(name: &str, id: u32, log: PathBuf, load: LoadProcess) -> Self {
        Self {
            name: name.to_owned(),
            id,
            log,
            load,
            before: None,
            readings: Vec::new(),
        }
    }

    /// A server, which outlives its load.
    pub(super) fn server(
        name: &str,
        id: u32,
        log: PathBuf,
        load: LoadProcess,
        start: Instant,
    ) -> Self {
        let mut process = Self::new(name, id, log, load);
        process.before = process.read(start);
        process
    }

    /// A program that is its own load.
    pub(super) fn client(name: &str, log: PathBuf, load: LoadProcess) -> Self {
        Self::new(name, load.0.0.id(), log, load)
    }

    /// A child process of the program that loads it. Without `/proc` there are no readings.
    pub(super) fn child_of(
        role: &str,
        name: &str,
        log: PathBuf,
        load: LoadProcess,
    ) -> Result<Self> {
        let parent = load.0.0.id();
        let children = format!("/proc/{parent}/task/{parent}/children");
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end && fs::exists(&children)? {
            let ids = fs::read_to_string(&children)?;
            if let Some(id) = ids.split_whitespace().next() {
                return Ok(Self::new(name, id.parse()?, log, load));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        if fs::exists(&children)? {
            return Err(format!("{name}: no {role} was started").into());
        }
        Ok(Self::new(name, 0, log, load))
    }

    pub(super) fn is_loaded(&mut self) -> Result<bool> {
        Ok(self.load.0.0.try_wait()?.is_none())
    }

    pub(super) fn has_no_reading(&self) -> bool {
        self.readings.is_empty()
    }

    pub(super) fn read(&self, start: Instant) -> Option<Reading> {
        Reading::take(self.id, &self.log, start)
    }

    /// Adds the faults of this process: growth, wrong responses, and what is left after the load.
    pub(super) fn finish(
        &mut self,
        start: Instant,
        quiet: Duration,
        spare: usize,
        faults: &mut Vec<String>,
    ) -> Result<Sample> {
        let name = &self.name;
        let sample = sample(&mut self.load).map_err(|error| format!("{name}: {error}"))?;
        let growth = judge(&self.readings);
        faults.extend(growth.into_iter().map(|fault| format!("{name}: {fault}")));
        if sample.errors > 0 {
            let last = sample.last_error.as_deref().unwrap_or_default();
            let errors = sample.errors;
            faults.push(format!(
                "{name}: {errors} wrong responses, the last one: {last}"
            ));
        }
        if sample.requests == 0 {
            faults.push(format!("{name}: no response"));
        }
        let Some(before) = self.before else {
            return Ok(sample);
        };
        match self.settle(start, quiet, before.files + spare, before.tasks + spare) {
            Some(after) => {
                println!("{after}  {name} (the load has ended)");
                for (what, now, then) in [
                    ("files are open", after.files, before.files),
                    ("tasks are running", after.tasks, before.tasks),
                ] {
                    if now > then + spare {
                        let text = format!("{name}: {now} {what} after the load, {then} before it");
                        faults.push(text);
                    }
                }
            }
            None => faults.push(format!("{name}: the process has ended")),
        }
        Ok(sample)
    }

    /// Waits until at most `files` files are open and `tasks` tasks run. Returns the last reading.
    fn settle(
        &self,
        start: Instant,
        quiet: Duration,
        files: usize,
        tasks: usize,
    ) -> Option<Reading> {
        let end = Instant::now() + quiet;
        loop {
            let reading = self.read(start)?;
            let is_quiet = reading.files <= files && reading.tasks <= tasks;
            if is_quiet || Instant::now() > end {
                return Some(reading);
            }
            std::thread::sleep(Duration::from_millis(250));
        }
    }

    pub(super) fn to_json(&self, sample: &Sample) -> Value {
        let readings = self.readings.iter().copied().map(Reading::to_json);
        json!({
            "name": self.name,
            "requests": sample.requests,
            "errors": sample.errors,
            "readings": readings.collect::<Vec<_>>(),
        })
    }
}

/// Parses the output of a load that has ended.
fn sample(load: &mut LoadProcess) -> Result<Sample> {
    let process = &mut load.0.0;
    if process.try_wait()?.is_none() {
        return Err("the load did not end".into());
    }
    Ok(serde_json::from_reader(
        process.stdout.take().ok_or("no output")?,
    )?)
}

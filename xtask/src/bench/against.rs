//! `cargo xtask bench --against COMMIT`: processor time of the server per request, now and at another
//! commit. Both servers and the limit run in turns under the same load generator.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::measure::{Sample, median};
use super::runner::{self, Bench, EARLIER, LOAD, PROFILE};
use super::scenario::{Candidate, LIMIT_PROGRAM, Load, SERVER_PROGRAM, Scenario};
use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

/// Rounds for an interval that small differences leave.
const ROUNDS: usize = 15;

/// Runs the command. Returns true if no row is dearer than at the other commit.
pub(super) fn run(
    workspace: &Workspace,
    commit: &str,
    scenarios: &[&'static Scenario],
    rounds: Option<usize>,
    seconds: f64,
) -> Result<bool> {
    let rounds = rounds.unwrap_or(ROUNDS);
    if rounds < ROUNDS {
        return Err(format!("--rounds must be at least {ROUNDS}").into());
    }
    runner::build(workspace, &[LIMIT_PROGRAM, SERVER_PROGRAM, LOAD])?;
    let mut bench = Bench::new(workspace, None, rounds, seconds)?;
    bench.earlier = Some(build(workspace, commit)?);
    println!("{}\n{}", bench.conditions(), CommitRow::HEADING);
    let mut is_dearer = false;
    for scenario in scenarios {
        let of = |program| {
            let mut candidates = scenario.candidates.iter().copied();
            candidates.find(|candidate| candidate.program == program)
        };
        let (Load::Http(_), Some(now)) = (scenario.load, of(SERVER_PROGRAM)) else {
            continue;
        };
        let earlier = Candidate {
            label: EARLIER,
            ..now
        };
        let candidates = of(LIMIT_PROGRAM).into_iter().chain([earlier, now]);
        let mut samples = bench.samples(scenario, &candidates.collect::<Vec<_>>())?;
        let mut next = || samples.pop().unwrap_or_default();
        let (now, earlier, limit) = (next(), next(), next());
        let row = CommitRow::new(scenario.label, &limit, &earlier, &now)?;
        println!("{row}");
        is_dearer |= row.ratio.is_above_one();
    }
    Ok(!is_dearer)
}

/// Builds the server of a commit, in a folder of its own. Returns the folder with the program.
fn build(workspace: &Workspace, commit: &str) -> Result<PathBuf> {
    let folder = workspace.target().join("bench-against");
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        process::capture(git.current_dir(workspace.root()).args(arguments))
    };
    let hash = git(&["rev-parse", "--verify", commit])?;
    let source = folder.join(hash.trim());
    if !source.is_dir() {
        fs::create_dir_all(&source)?;
        let archive = folder.join("source.tar");
        let output = format!("--output={}", archive.display());
        git(&["archive", &output, hash.trim()])?;
        let mut tar = Command::new("tar");
        process::run(tar.arg("-xf").arg(&archive).arg("-C").arg(&source))?;
    }
    let target = folder.join("target");
    let build = format!("build --release --package bench --bin {SERVER_PROGRAM}");
    let mut cargo = workspace.cargo(&build);
    process::run(cargo.current_dir(&source).env("CARGO_TARGET_DIR", &target))?;
    Ok(target.join(PROFILE))
}

/// The ratio of two figures, paired by round: its median, and the interval that contains the true median
/// with a probability of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ratio {
    median: f64,
    low: f64,
    high: f64,
}

impl Ratio {
    fn new(mut ratios: Vec<f64>) -> Option<Self> {
        ratios.retain(|ratio| ratio.is_finite());
        ratios.sort_by(f64::total_cmp);
        let rank = rank(ratios.len());
        Some(Self {
            low: *ratios.get(rank)?,
            high: *ratios.get(ratios.len().checked_sub(rank + 1)?)?,
            median: median(ratios)?,
        })
    }

    fn is_above_one(self) -> bool {
        self.low > 1.0
    }

    fn is_below_one(self) -> bool {
        self.high < 1.0
    }
}

/// Returns the index of the lower end of the interval among `count` sorted values: the number of values
/// below the median has a binomial distribution.
fn rank(count: usize) -> usize {
    let mut probability = 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut sum = probability;
    let mut rank = 0;
    while rank + 1 < count && sum + probability * (count - rank) as f64 / (rank + 1) as f64 <= 0.025
    {
        probability *= (count - rank) as f64 / (rank + 1) as f64;
        sum += probability;
        rank += 1;
    }
    rank
}

/// A line of the table. Figures are microseconds of processor time per request.
#[derive(Debug)]
struct CommitRow {
    scenario: &'static str,
    limit: Option<f64>,
    earlier: Option<f64>,
    now: Option<f64>,
    ratio: Ratio,
    errors: usize,
}

impl CommitRow {
    const HEADING: &'static str =
        "scenario               limit us  earlier us   now us   ratio  interval         errors";

    fn new(
        scenario: &'static str,
        limit: &[Sample],
        earlier: &[Sample],
        now: &[Sample],
    ) -> Result<Self> {
        let middle = |samples: &[Sample]| median(samples.iter().filter_map(|s| s.cpu_us).collect());
        let pairs = now.iter().zip(earlier);
        let ratios = pairs.filter_map(|(now, earlier)| Some(now.cpu_us? / earlier.cpu_us?));
        Ok(Self {
            scenario,
            limit: middle(limit),
            earlier: middle(earlier),
            now: middle(now),
            ratio: Ratio::new(ratios.collect()).ok_or("no processor time was measured")?,
            errors: earlier.iter().chain(now).map(|sample| sample.errors).sum(),
        })
    }
}

impl fmt::Display for CommitRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1}"));
        let Ratio { median, low, high } = self.ratio;
        let mark = match self.ratio {
            ratio if ratio.is_above_one() => "  DEARER",
            ratio if ratio.is_below_one() => "  cheaper",
            _ => "",
        };
        write!(
            f,
            "{:22} {:>8} {:>11} {:>8}  {median:.3}  {low:.3} to {high:.3} {:>7}{mark}",
            self.scenario,
            shown(self.limit),
            shown(self.earlier),
            shown(self.now),
            self.errors,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Ratio, rank};

    #[test]
    fn interval_for_fifteen_rounds_begins_at_the_fourth() {
        assert_eq!([rank(5), rank(6), rank(15), rank(20)], [0, 0, 3, 5]);
        let ratios = (1..=15).map(|round| 1.0 + f64::from(round) / 100.0);
        let ratio = Ratio::new(ratios.collect()).unwrap();
        let expected = Ratio {
            median: 1.08,
            low: 1.04,
            high: 1.12,
        };
        assert_eq!(ratio, expected);
        assert!(ratio.is_above_one() && !ratio.is_below_one());
    }

    #[test]
    fn interval_around_one_is_not_marked() {
        let ratio = Ratio::new([0.98, 1.01].repeat(8)).unwrap();
        assert!(!ratio.is_above_one() && !ratio.is_below_one());
        assert_eq!(Ratio::new(vec![f64::NAN]), None);
    }
}

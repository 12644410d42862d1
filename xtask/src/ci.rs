//! `cargo xtask ci`: every check in order, with its time. The later steps also run if one fails, so
//! that one run shows all problems. With `--full` it also runs the checks that only a release needs.

mod dependencies;
mod features;
mod outcome;
mod package;
mod programs;
mod static_build;
mod tools;
mod windows_build;

use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fmt};

use clap::builder::PossibleValuesParser;
use outcome::StepOutcome;
use programs::{build_programs, missing_target, select_published};

use crate::conformance::Setup;
use crate::interop::InteropArgs;
use crate::result::Result;
use crate::workspace::{FACADE, Workspace};
use crate::{api, bench, compliance, conformance, interop, llms, process, schemas, tidy};

/// Time for each fuzz target.
const FUZZ_SECONDS: &str = "60";
/// The soak's duration before a release, in seconds.
const LONG_SOAK: f64 = 600.0;

/// Arguments for the soak with several nodes: two nodes are killed.
const SHORT_CLUSTER_SOAK: &str = "soak --sessions 20 --seconds 15 --kill-every 5 --rate 40";

/// The target without an operating system, for the crates that need none.
const WASM: &str = "wasm32-unknown-unknown";

/// The runs that a step belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Every run.
    Change,
    /// Runs with `--full`, which are for releases.
    Release,
}

type RunStep = fn(&Workspace, Stage) -> Result<StepOutcome>;

const STEPS: [(&str, Stage, RunStep); 24] = [
    ("fmt", Stage::Change, |w, _| cargo(w, "fmt --all --check")),
    ("test", Stage::Change, |w, _| cargo(w, "test --workspace")),
    ("clippy", Stage::Change, |w, _| {
        cargo(
            w,
            "clippy --workspace --all-targets --all-features -- -D warnings",
        )
    }),
    ("doc", Stage::Change, |w, _| doc(w)),
    ("tidy", Stage::Change, |w, _| {
        require(tidy::run(w)?, "tidy has findings")
    }),
    ("api", Stage::Change, |w, _| {
        require(api::run(w, false)?, "the public items have changed")
    }),
    ("llms", Stage::Change, |w, _| {
        let is_current = llms::run(w, false)?;
        require(is_current, "the files for language models are not current")
    }),
    ("compliance", Stage::Change, |w, _| {
        let is_complete = compliance::run(w, false)?;
        require(is_complete, "a requirement is not accounted for")
    }),
    ("features", Stage::Change, |w, _| features::run(w)),
    ("package", Stage::Change, |w, _| package::run(w)),
    ("deny", Stage::Change, |w, _| dependencies::deny(w)),
    ("conformance", Stage::Change, |w, _| {
        conformance(w, &[Setup::Server, Setup::Client])
    }),
    ("cluster", Stage::Change, |w, _| cluster(w)),
    ("interop", Stage::Change, interop),
    ("soak", Stage::Change, soak),
    ("msrv", Stage::Release, |w, _| msrv(w)),
    ("wasm", Stage::Release, |w, _| wasm(w)),
    ("static", Stage::Release, |w, _| static_build::run(w)),
    ("windows", Stage::Release, |w, _| windows_build::run(w)),
    ("fuzz", Stage::Release, |w, _| fuzz(w)),
    ("machete", Stage::Release, |w, _| dependencies::machete(w)),
    ("advisories", Stage::Release, |w, _| {
        dependencies::advisories(w)
    }),
    // One gateway in front of a legacy server, one in front of a modern one.
    ("gateway", Stage::Release, |w, _| {
        conformance(w, &[Setup::LegacyPipe, Setup::ModernHttp])
    }),
    ("schemas", Stage::Release, |w, _| schemas(w)),
];

/// Arguments of `ci`.
#[derive(Debug, clap::Args)]
pub(crate) struct CiArgs {
    /// Run what a release needs: also the later steps, all interop cases, and a soak of ten minutes
    #[arg(long)]
    full: bool,
    /// Run these steps only, with commas
    #[arg(long, value_name = "STEPS", value_delimiter = ',', value_parser = step_names())]
    only: Vec<String>,
    /// Leave out these steps
    #[arg(long, value_name = "STEPS", value_delimiter = ',', value_parser = step_names())]
    skip: Vec<String>,
    /// Fail if a step is skipped, or checks only a part
    #[arg(long)]
    strict: bool,
}

fn step_names() -> PossibleValuesParser {
    STEPS.map(|(name, ..)| name).into()
}

/// Runs the command. Returns true if no step failed.
pub(crate) fn run(workspace: &Workspace, args: &CiArgs) -> Result<bool> {
    let stage = if args.full {
        Stage::Release
    } else {
        Stage::Change
    };
    let is_in = |names: &[String], step: &str| names.iter().any(|name| name == step);
    let mut reports = Vec::new();
    for (name, first_stage, run) in STEPS {
        let is_wanted = if args.only.is_empty() {
            first_stage <= stage
        } else {
            is_in(&args.only, name)
        };
        if is_wanted && !is_in(&args.skip, name) {
            reports.push(StepReport::run(name, || run(workspace, stage)));
        }
    }
    println!("\nsummary");
    for report in &reports {
        println!("  {report}");
    }
    for name in &args.skip {
        println!("  excluded {name}");
    }
    Ok(reports.iter().all(|report| report.has_passed(args.strict)))
}

/// The result of a step.
struct StepReport {
    name: &'static str,
    time: Duration,
    result: Result<StepOutcome>,
}

impl StepReport {
    fn run(name: &'static str, run: impl FnOnce() -> Result<StepOutcome>) -> Self {
        println!("\n== {name}");
        let start = Instant::now();
        let result = run();
        if let Err(error) = &result {
            println!("{name}: {error}");
        }
        Self {
            name,
            time: start.elapsed(),
            result,
        }
    }

    /// Returns true if the step did not fail. With `is_strict`, it must also be complete.
    fn has_passed(&self, is_strict: bool) -> bool {
        match &self.result {
            Ok(StepOutcome::Passed) => true,
            Ok(StepOutcome::Partial(_) | StepOutcome::Skipped(_)) => !is_strict,
            Err(_) => false,
        }
    }
}

impl fmt::Display for StepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, reason) = match &self.result {
            Ok(StepOutcome::Passed) => ("passed", String::new()),
            Ok(StepOutcome::Partial(reason)) => ("PARTLY", format!(": {reason}")),
            Ok(StepOutcome::Skipped(reason)) => ("skipped", format!(": {reason}")),
            Err(error) => ("FAILED", format!(": {error}")),
        };
        write!(
            f,
            "{word:8} {:11} {:6.1} s{reason}",
            self.name,
            self.time.as_secs_f64()
        )
    }
}

fn require(passed: bool, otherwise: &str) -> Result<StepOutcome> {
    if passed {
        Ok(StepOutcome::Passed)
    } else {
        Err(otherwise.into())
    }
}

fn cargo(workspace: &Workspace, arguments: &str) -> Result<StepOutcome> {
    process::run(&mut workspace.cargo(arguments))?;
    Ok(StepOutcome::Passed)
}

fn doc(workspace: &Workspace) -> Result<StepOutcome> {
    let mut doc = workspace.cargo("doc --workspace --no-deps --all-features");
    process::run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(StepOutcome::Passed)
}

/// Builds the published libraries with the oldest compiler that they support. Skipped if rustup
/// cannot install it.
fn msrv(workspace: &Workspace) -> Result<StepOutcome> {
    let oldest = workspace.member(FACADE)?.rust_version.clone();
    let oldest = oldest
        .ok_or("the facade has no `rust-version`")?
        .to_string();
    let install = ["toolchain", "install", &oldest, "--profile", "minimal"];
    if process::run(Command::new("rustup").args(install)).is_err() {
        let reason = format!("rustup cannot install Rust {oldest}");
        return Ok(StepOutcome::Skipped(reason));
    }
    let mut command = Command::new("rustup");
    command.current_dir(workspace.root());
    command.args(["run", &oldest, "cargo", "check", "--all-features"]);
    select_published(&mut command, workspace);
    // The output of another compiler, in a folder of its own.
    command.env_remove("CARGO").env_remove("RUSTC");
    process::run(
        command
            .arg("--target-dir")
            .arg(workspace.target().join("msrv")),
    )?;
    Ok(StepOutcome::Passed)
}

/// Builds the crates without IO for WebAssembly. Skipped if rustup cannot install the target.
fn wasm(workspace: &Workspace) -> Result<StepOutcome> {
    if let Some(reason) = missing_target(WASM) {
        return Ok(StepOutcome::Skipped(reason));
    }
    let check = format!("check --target {WASM} -p omnimcp-types -p omnimcp-core");
    cargo(workspace, &check)
}

/// Runs the fuzz targets with generated inputs, for [`FUZZ_SECONDS`] each. It needs no nightly
/// compiler.
fn fuzz(workspace: &Workspace) -> Result<StepOutcome> {
    let mut test = workspace.cargo("test --quiet --package fuzz --test it -- --nocapture");
    process::run(test.env("FUZZ_SECONDS", FUZZ_SECONDS))?;
    Ok(StepOutcome::Passed)
}

/// Runs the suite with these programs.
fn conformance(workspace: &Workspace, setups: &[Setup]) -> Result<StepOutcome> {
    build_programs(workspace)?;
    let has_passed = conformance::run_claims(workspace, setups)?;
    require(has_passed, "a claimed scenario did not pass")
}

/// Runs the suite against several nodes on Redis, a short soak of them, and the fault scenarios. Skipped if Redis is not
/// installed, unless `REQUIRE_REDIS` is set.
fn cluster(workspace: &Workspace) -> Result<StepOutcome> {
    if !process::available("redis-server", &["--version"]) {
        let reason = "redis-server is not installed";
        return match env::var_os("REQUIRE_REDIS") {
            Some(_) => Err(reason.into()),
            None => Ok(StepOutcome::Skipped(reason.to_owned())),
        };
    }
    conformance(workspace, &[Setup::Cluster])?;
    for arguments in [SHORT_CLUSTER_SOAK, "faults"] {
        let mut load = Command::new(workspace.binary("debug", "cluster-load"));
        process::run(load.args(arguments.split(' ')))?;
    }
    Ok(StepOutcome::Passed)
}

/// Runs one case of each peer that can be installed; before a release, all cases. Skipped if there are
/// none.
fn interop(workspace: &Workspace, stage: Stage) -> Result<StepOutcome> {
    build_programs(workspace)?;
    let args = InteropArgs {
        one_per_peer: stage == Stage::Change,
        ..InteropArgs::default()
    };
    let summary = interop::run_cases(workspace, &args)?;
    if summary.passed + summary.failed == 0 {
        return Ok(StepOutcome::Skipped("no peer can be installed".to_owned()));
    }
    require(summary.failed == 0, "a case has failed")
}

/// Runs the tests with the JSON-Schema-Test-Suite. Skipped if pip cannot download it.
fn schemas(workspace: &Workspace) -> Result<StepOutcome> {
    match schemas::install(workspace) {
        Err(error) => Ok(StepOutcome::Skipped(error.to_string())),
        Ok(suite) => {
            schemas::check(workspace, &suite)?;
            Ok(StepOutcome::Passed)
        }
    }
}

fn soak(workspace: &Workspace, stage: Stage) -> Result<StepOutcome> {
    build_programs(workspace)?;
    let seconds = match stage {
        Stage::Change => bench::SHORT_SOAK,
        Stage::Release => LONG_SOAK,
    };
    let is_stable = bench::soak(workspace, seconds, "debug")?;
    require(is_stable, "the server grew or responded incorrectly")
}

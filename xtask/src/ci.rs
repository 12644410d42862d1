//! `cargo xtask ci`: every check in order, with its time. The later steps also run if one fails, so
//! that one run shows all problems.

mod dependencies;
mod features;
mod outcome;
mod programs;
mod static_build;
mod tools;
mod windows_build;

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fmt, fs};

use outcome::StepOutcome;
use programs::build_programs;

use crate::cluster::has_redis;
use crate::flags::Flags;
use crate::process;
use crate::workspace::{FACADE, Workspace};
use crate::{Result, api, bench, conformance, interop, llms, schemas, tidy};

/// The package of the fuzz targets.
const FUZZ: &str = "fuzz";
/// Time for each fuzz target.
const FUZZ_SECONDS: &str = "8";

/// The target without an operating system, for the crates that need none.
const WASM: &str = "wasm32-unknown-unknown";

/// A named check.
struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<StepOutcome>,
}

const STEPS: [Step; 23] = [
    Step {
        name: "fmt",
        run: |w| cargo(w, &["fmt", "--all", "--check"]),
    },
    Step {
        name: "test",
        run: |w| cargo(w, &["test", "--workspace"]),
    },
    Step {
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "doc",
        run: doc,
    },
    Step {
        name: "tidy",
        run: |w| require(tidy::run(w, Flags::new([]))?, "tidy has findings"),
    },
    Step {
        name: "api",
        run: |w| {
            let is_unchanged = api::run(w, Flags::new([]))?;
            require(is_unchanged, "the public items have changed")
        },
    },
    Step {
        name: "llms",
        run: |w| {
            let is_current = llms::run(w, Flags::new([]))?;
            require(is_current, "the files for language models are not current")
        },
    },
    Step {
        name: "features",
        run: features::run,
    },
    Step {
        name: "msrv",
        run: msrv,
    },
    Step {
        name: "package",
        run: package,
    },
    Step {
        name: "wasm",
        run: wasm,
    },
    Step {
        name: "static",
        run: static_build::run,
    },
    Step {
        name: "windows",
        run: windows_build::run,
    },
    Step {
        name: "fuzz",
        run: fuzz,
    },
    Step {
        name: "machete",
        run: dependencies::machete,
    },
    Step {
        name: "deny",
        run: dependencies::deny,
    },
    Step {
        name: "advisories",
        run: dependencies::advisories,
    },
    Step {
        name: "conformance",
        run: conformance,
    },
    Step {
        name: "cluster",
        run: cluster,
    },
    Step {
        name: "gateway",
        run: gateway,
    },
    Step {
        name: "interop",
        run: interop,
    },
    Step {
        name: "schemas",
        run: schemas,
    },
    Step {
        name: "soak",
        run: soak,
    },
];

/// Runs the command. Returns true if no step failed.
pub(crate) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let only: Option<String> = flags.value("--only")?;
    let is_strict = flags.switch("--strict");
    let mut excluded = Vec::new();
    for (flag, step) in [
        ("--no-test", "test"),
        ("--no-conformance", "conformance"),
        ("--no-cluster", "cluster"),
        ("--no-gateway", "gateway"),
        ("--no-interop", "interop"),
    ] {
        excluded.extend(flags.switch(flag).then_some(step));
    }
    flags.finish()?;
    if let Some(only) = &only
        && !STEPS.iter().any(|step| step.name == only)
    {
        let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!("no step `{only}`; the steps are: {}", names.join(" ")).into());
    }
    let is_selected = |step: &&Step| {
        only.as_ref()
            .map_or(!excluded.contains(&step.name), |only| step.name == only)
    };
    let reports: Vec<StepReport> = STEPS
        .iter()
        .filter(is_selected)
        .map(|step| StepReport::run(step, workspace))
        .collect();
    println!("\nsummary");
    for report in &reports {
        println!("  {report}");
    }
    for step in excluded.iter().filter(|_| only.is_none()) {
        println!("  excluded {step}");
    }
    Ok(reports.iter().all(|report| report.has_passed(is_strict)))
}

/// The result of a step.
struct StepReport {
    name: &'static str,
    time: Duration,
    result: Result<StepOutcome>,
}

impl StepReport {
    fn run(step: &Step, workspace: &Workspace) -> Self {
        println!("\n== {}", step.name);
        let start = Instant::now();
        let result = (step.run)(workspace);
        if let Err(error) = &result {
            println!("{}: {error}", step.name);
        }
        Self {
            name: step.name,
            time: start.elapsed(),
            result,
        }
    }
}

impl StepReport {
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

fn cargo(workspace: &Workspace, args: &[&str]) -> Result<StepOutcome> {
    process::run(workspace.cargo().args(args))?;
    Ok(StepOutcome::Passed)
}

fn clippy(workspace: &Workspace) -> Result<StepOutcome> {
    let args = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ];
    cargo(workspace, &args)
}

fn doc(workspace: &Workspace) -> Result<StepOutcome> {
    let mut command = workspace.cargo();
    command.args(["doc", "--workspace", "--no-deps", "--all-features"]);
    process::run(command.env("RUSTDOCFLAGS", "-D warnings"))?;
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

/// Creates the packages that the registry would get, and builds each of them from its archive.
fn package(workspace: &Workspace) -> Result<StepOutcome> {
    remove_unpacked(workspace)?;
    let mut command = workspace.cargo();
    command.args(["package", "--quiet", "--allow-dirty"]);
    select_published(&mut command, workspace);
    process::run(&mut command)?;
    Ok(StepOutcome::Passed)
}

/// Removes the packages that an earlier run has unpacked below Cargo's home. Cargo uses them again when
/// the version is the same, although the sources have changed.
fn remove_unpacked(workspace: &Workspace) -> Result<()> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let Some(Ok(registries)) = home.map(|home| fs::read_dir(home.join("registry/src"))) else {
        return Ok(());
    };
    for registry in registries {
        let registry = registry?.path();
        for package in workspace.published() {
            let unpacked = registry.join(format!("{}-{}", package.name, package.version));
            if unpacked.is_dir() {
                fs::remove_dir_all(unpacked)?;
            }
        }
    }
    Ok(())
}

fn select_published(command: &mut Command, workspace: &Workspace) {
    for package in workspace.published() {
        command.args(["--package", package.name.as_str()]);
    }
}

/// Builds the crates without IO for WebAssembly. Skipped if rustup cannot install the target.
fn wasm(workspace: &Workspace) -> Result<StepOutcome> {
    if process::run(Command::new("rustup").args(["target", "add", WASM])).is_err() {
        return Ok(StepOutcome::Skipped(format!(
            "rustup cannot install the target {WASM}"
        )));
    }
    cargo(
        workspace,
        &[
            "check",
            "--target",
            WASM,
            "-p",
            "omnimcp-types",
            "-p",
            "omnimcp-core",
        ],
    )
}

/// Runs the fuzz targets with generated inputs, for [`FUZZ_SECONDS`] each: together more than a
/// minute. It needs no nightly compiler.
fn fuzz(workspace: &Workspace) -> Result<StepOutcome> {
    let mut test = workspace.cargo();
    test.args(["test", "--quiet", "--package", FUZZ, "--test", "it"]);
    test.args(["--", "--nocapture"]);
    process::run(test.env("FUZZ_SECONDS", FUZZ_SECONDS))?;
    Ok(StepOutcome::Passed)
}

fn conformance(workspace: &Workspace) -> Result<StepOutcome> {
    build_programs(workspace)?;
    let has_passed = conformance::run_claims(workspace)?;
    require(has_passed, "a claimed scenario did not pass")
}

/// Runs the suite against several nodes on Redis, and a short soak of them. Skipped if Redis is not
/// installed, unless `REQUIRE_REDIS` is set.
fn cluster(workspace: &Workspace) -> Result<StepOutcome> {
    if !has_redis() {
        let reason = "redis-server is not installed";
        return match env::var_os("REQUIRE_REDIS") {
            Some(_) => Err(reason.into()),
            None => Ok(StepOutcome::Skipped(reason.to_owned())),
        };
    }
    build_programs(workspace)?;
    let has_passed = conformance::run_claims_on_cluster(workspace)?;
    require(
        has_passed,
        "a claimed scenario did not pass on several nodes",
    )?;
    let is_complete = bench::cluster_soak(workspace, "debug", &bench::SHORT_CLUSTER_SOAK)?;
    require(is_complete, "several nodes have lost something")
}

/// Runs the suite through gateways.
fn gateway(workspace: &Workspace) -> Result<StepOutcome> {
    build_programs(workspace)?;
    let has_passed = conformance::run_claims_behind_gateways(workspace)?;
    require(has_passed, "a claimed scenario did not pass a gateway")
}

/// Runs the cases of the peers that can be installed. Skipped if there are none.
fn interop(workspace: &Workspace) -> Result<StepOutcome> {
    build_programs(workspace)?;
    let summary = interop::run_cases(workspace, None)?;
    if !summary.has_run() {
        return Ok(StepOutcome::Skipped("no peer can be installed".to_owned()));
    }
    require(summary.has_no_failure(), "a case has failed")
}

/// Runs the generator of typed code on the JSON-Schema-Test-Suite. Skipped if pip cannot download it.
fn schemas(workspace: &Workspace) -> Result<StepOutcome> {
    match schemas::install(workspace) {
        Err(error) => Ok(StepOutcome::Skipped(error.to_string())),
        Ok(suite) => {
            schemas::check(workspace, &suite)?;
            Ok(StepOutcome::Passed)
        }
    }
}

fn soak(workspace: &Workspace) -> Result<StepOutcome> {
    build_programs(workspace)?;
    let is_stable = bench::soak(workspace, bench::SHORT_SOAK, "debug")?;
    require(is_stable, "the server grew or responded incorrectly")
}

//! `cargo xtask ci`: every check in order, each timed. A step that fails does not keep the later
//! ones from running, so that one run shows all that is wrong.

mod licences;

use std::fmt;
use std::time::{Duration, Instant};

use crate::flags::Flags;
use crate::process::{self, available};
use crate::workspace::Workspace;
use crate::{Result, api, bench, conformance, interop, tidy};

/// The unused dependency finder is installed below the target folder when it is missing.
const MACHETE: &str = "cargo-machete";
const MACHETE_VERSION: &str = "0.9.2";

/// The crate whose features users choose from.
const FACADE: &str = "mcp";

/// A named check.
struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<Outcome>,
}

/// How a step ended when it did not fail.
#[derive(Debug)]
enum Outcome {
    Passed,
    /// It cannot be done here, for this reason.
    Skipped(String),
}

const STEPS: [Step; 15] = [
    Step {
        name: "fmt",
        run: |w| cargo(w, &["fmt", "--all", "--check"]),
    },
    Step {
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "test",
        run: |w| cargo(w, &["test", "--workspace", "--all-features"]),
    },
    Step {
        name: "doc",
        run: doc,
    },
    Step {
        name: "tidy",
        run: |w| demand(tidy::run(w)?, "there are findings"),
    },
    Step {
        name: "api",
        run: |w| {
            let is_kept = api::run(w, Flags::new([]))?;
            demand(is_kept, "the public names have changed")
        },
    },
    Step {
        name: "features",
        run: features,
    },
    Step {
        name: "wasm",
        run: wasm,
    },
    Step {
        name: "fuzz",
        run: fuzz,
    },
    Step {
        name: "machete",
        run: machete,
    },
    Step {
        name: "licences",
        run: |w| demand(licences::run(w)?, "there are findings"),
    },
    Step {
        name: "advisories",
        run: advisories,
    },
    Step {
        name: "conformance",
        run: conformance,
    },
    Step {
        name: "interop",
        run: interop,
    },
    Step {
        name: "soak",
        run: |w| {
            let stays = bench::soak(w, bench::SHORT_SOAK, false)?;
            demand(stays, "the server has grown or answered wrongly")
        },
    },
];

/// The command; whether no step failed.
pub(crate) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let only: Option<String> = flags.value("--only")?;
    let mut left_out = Vec::new();
    for (flag, step) in [
        ("--no-test", "test"),
        ("--no-conformance", "conformance"),
        ("--no-interop", "interop"),
    ] {
        left_out.extend(flags.switch(flag).then_some(step));
    }
    flags.finish()?;
    if let Some(only) = &only
        && !STEPS.iter().any(|step| step.name == only)
    {
        let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!("no step `{only}`; the steps are: {}", names.join(" ")).into());
    }
    let chosen = |step: &&Step| {
        only.as_ref()
            .map_or(!left_out.contains(&step.name), |only| step.name == only)
    };
    let reports: Vec<Report> = STEPS
        .iter()
        .filter(chosen)
        .map(|step| Report::of(step, workspace))
        .collect();
    println!("\nsummary");
    for report in &reports {
        println!("  {report}");
    }
    for step in left_out.iter().filter(|_| only.is_none()) {
        println!("  left out {step}");
    }
    Ok(reports.iter().all(|report| report.result.is_ok()))
}

/// A step that was run.
struct Report {
    name: &'static str,
    time: Duration,
    result: Result<Outcome>,
}

impl Report {
    fn of(step: &Step, workspace: &Workspace) -> Self {
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

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, reason) = match &self.result {
            Ok(Outcome::Passed) => ("passed", String::new()),
            Ok(Outcome::Skipped(reason)) => ("skipped", format!(": {reason}")),
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

fn demand(good: bool, otherwise: &str) -> Result<Outcome> {
    if good {
        Ok(Outcome::Passed)
    } else {
        Err(otherwise.into())
    }
}

fn cargo(workspace: &Workspace, args: &[&str]) -> Result<Outcome> {
    process::run(workspace.cargo().args(args))?;
    Ok(Outcome::Passed)
}

fn clippy(workspace: &Workspace) -> Result<Outcome> {
    let what = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ];
    cargo(workspace, &what)
}

fn doc(workspace: &Workspace) -> Result<Outcome> {
    let mut command = workspace.cargo();
    command.args(["doc", "--workspace", "--no-deps", "--all-features"]);
    process::run(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}

/// The facade with no feature, and with each feature alone. Clippy checks them, because only there
/// can warnings be refused without building every dependency anew.
fn features(workspace: &Workspace) -> Result<Outcome> {
    let package = workspace.member(FACADE)?;
    let named = package
        .features
        .keys()
        .filter(|name| *name != "default")
        .map(String::as_str);
    for feature in std::iter::once("").chain(named) {
        println!(
            "-- {FACADE} with {}",
            if feature.is_empty() {
                "no feature"
            } else {
                feature
            }
        );
        let mut command = workspace.cargo();
        command.args([
            "clippy",
            "--quiet",
            "--package",
            FACADE,
            "--no-default-features",
        ]);
        process::run(command.args(["--features", feature, "--", "-D", "warnings"]))?;
    }
    Ok(Outcome::Passed)
}

/// The crates that know no socket, clock or runtime, for a target that has none; where the target
/// is to be had.
fn wasm(workspace: &Workspace) -> Result<Outcome> {
    const TARGET: &str = "wasm32-unknown-unknown";
    if process::run(std::process::Command::new("rustup").args(["target", "add", TARGET])).is_err() {
        return Ok(Outcome::Skipped(format!(
            "the target {TARGET} cannot be had"
        )));
    }
    cargo(
        workspace,
        &[
            "check",
            "--target",
            TARGET,
            "-p",
            "mcp-types",
            "-p",
            "mcp-core",
        ],
    )
}

/// The fuzz targets are built (not run), where the tool is to be had.
fn fuzz(workspace: &Workspace) -> Result<Outcome> {
    if !available("cargo-fuzz", &["--version"]) {
        return Ok(Outcome::Skipped("cargo-fuzz is not installed".to_owned()));
    }
    cargo(workspace, &["fuzz", "build"])
}

fn machete(workspace: &Workspace) -> Result<Outcome> {
    let tools = workspace.target().join("tools");
    let program = tools
        .join("bin")
        .join(format!("{MACHETE}{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        let mut install = workspace.cargo();
        install.args([
            "install",
            "--locked",
            "--quiet",
            "--version",
            MACHETE_VERSION,
            "--root",
        ]);
        if let Err(error) = process::run(install.arg(&tools).arg(MACHETE)) {
            return Ok(Outcome::Skipped(format!("cannot be installed ({error})")));
        }
    }
    process::run(std::process::Command::new(program).arg(workspace.root()))?;
    Ok(Outcome::Passed)
}

/// Known vulnerabilities, where `cargo deny` and its database are to be had.
fn advisories(workspace: &Workspace) -> Result<Outcome> {
    if !available("cargo-deny", &["--version"]) {
        return Ok(Outcome::Skipped("cargo-deny is not installed".to_owned()));
    }
    if let Err(error) = process::run(workspace.cargo().args(["deny", "fetch", "db"])) {
        return Ok(Outcome::Skipped(format!(
            "the database cannot be had ({error})"
        )));
    }
    cargo(
        workspace,
        &["deny", "check", "--disable-fetch", "advisories"],
    )
}

fn conformance(workspace: &Workspace) -> Result<Outcome> {
    demand(
        conformance::run(workspace, Flags::new([]))?,
        "a claimed scenario did not pass",
    )
}

/// The others, those of them that are to be had here.
fn interop(workspace: &Workspace) -> Result<Outcome> {
    let total = interop::count(workspace)?;
    if !total.has_run() {
        return Ok(Outcome::Skipped("none of the others can be had".to_owned()));
    }
    demand(total.is_good(), "a row has failed")
}

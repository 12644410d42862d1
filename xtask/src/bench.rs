//! `cargo xtask bench`: speed of the SDK, compared with a minimal HTTP server (the limit) and with
//! rmcp. The candidates run in turns, so that other load on the machine affects all of them. Every
//! figure is the median of several rounds. Further measurements are scripts in `bench/programs`.
//!
//! | module | responsibility |
//! |---|---|
//! | [`scenario`] | the loads and their candidates |
//! | [`runner`] | running a load on its candidates |
//! | [`memory`] | memory per session |
//! | [`measure`] | samples, medians, processor time, resident memory |
//! | [`table`] | the printed table |
//! | [`instructions`] | `--instructions`: instructions per request |
//! | [`against`] | `--against`: processor time per request, beside that of another commit |
//! | [`profile`] | `--profile`: processor time by crate |
//! | [`soak`](mod@soak) | `--soak`: growth of servers and a client under load with faults |
//! | [`build`] | `--build`: cost of building an echo server |

mod against;
mod build;
mod instructions;
mod measure;
mod memory;
mod profile;
mod runner;
mod scenario;
mod soak;
mod table;

use std::fs;

use runner::Bench;
use runner::PROFILE;
use scenario::{Load, SCENARIOS};
use serde_json::json;
use table::Row;

use crate::Result;
use crate::flags::Flags;
use crate::process;
use crate::workspace::Workspace;

pub(crate) use soak::{SHORT as SHORT_SOAK, run as soak};

/// Runs the command. Returns true if every response was correct.
pub(crate) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    if flags.switch("--instructions") {
        let renew = flags.switch("--renew");
        flags.finish()?;
        return instructions::run(workspace, renew);
    }
    if let Some(commit) = flags.value::<String>("--against")? {
        return against::run(workspace, &commit, flags);
    }
    if flags.switch("--profile") {
        return profile::run(workspace, flags);
    }
    if flags.switch("--build") {
        return build::run(workspace, flags);
    }
    if let Some(seconds) = flags.optional_value("--soak") {
        return soak::command(workspace, &seconds, flags);
    }
    let rounds: usize = flags.value("--rounds")?.unwrap_or(5);
    let seconds: f64 = flags.value("--seconds")?.unwrap_or(1.0);
    let only: Option<String> = flags.value("--only")?;
    let as_json = flags.switch("--json");
    let without_rmcp = flags.switch("--without-rmcp");
    flags.finish()?;
    if rounds == 0 || !seconds.is_finite() || seconds <= 0.0 {
        return Err("--rounds and --seconds must be greater than 0".into());
    }
    let wanted = |group: &str| {
        let names = only.as_deref().map(|only| only.split(','));
        names.is_none_or(|mut names| names.any(|name| name == group))
    };
    let scenarios: Vec<_> = SCENARIOS.iter().filter(|it| wanted(it.group)).collect();
    if scenarios.is_empty() {
        let mut groups: Vec<_> = SCENARIOS.iter().map(|it| it.group).collect();
        groups.dedup();
        return Err(format!(
            "unknown group in --only; the groups are {}",
            groups.join(",")
        )
        .into());
    }

    let mut cargo = workspace.cargo();
    process::run(cargo.args(["build", "--release", "--package", "bench", "--bins"]))?;
    let rmcp = if without_rmcp {
        None
    } else {
        build_rmcp(workspace)
    };
    let bench = Bench::new(workspace, rmcp, rounds, seconds)?;
    if !as_json {
        println!("{}\n{}", bench.conditions(), Row::HEADING);
    }
    let mut all = Vec::new();
    for scenario in scenarios {
        let rows = match scenario.load {
            Load::Sessions { count, streams } => memory::rows(&bench, scenario, count, streams)?,
            _ => bench.timed(scenario)?,
        };
        for row in rows {
            if !as_json {
                println!("{row}");
            }
            all.push(row);
        }
    }
    let report = json!({
        "conditions": bench.conditions(),
        "rows": all.iter().map(Row::to_json).collect::<Vec<_>>(),
    });
    let file = bench.folder().join("report.json");
    fs::write(&file, format!("{report:#}\n"))?;
    if as_json {
        println!("{report:#}");
    } else {
        println!("written to {}", file.display());
    }
    Ok(all.iter().all(|row| row.errors == 0))
}

/// Builds the programs that use rmcp, in a separate target folder. Returns `None` if that fails; the
/// other rows do not depend on them.
fn build_rmcp(workspace: &Workspace) -> Option<std::path::PathBuf> {
    let target = workspace.target().join("bench-rmcp");
    let mut cargo = workspace.cargo();
    cargo
        .args(["build", "--release", "--quiet", "--manifest-path"])
        .arg(workspace.root().join("bench/rmcp/Cargo.toml"))
        .env("CARGO_TARGET_DIR", &target);
    match process::run(&mut cargo) {
        Ok(()) => Some(target.join(PROFILE)),
        Err(error) => {
            eprintln!("rmcp cannot be built here ({error}): its rows are skipped");
            None
        }
    }
}

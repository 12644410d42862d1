//! `cargo xtask bench`: speed of the SDK, compared with a minimal HTTP server (the limit) and with
//! rmcp. The candidates run in turns, so that other load on the machine affects all of them. Every
//! figure is the median of several rounds. Further measurements are scripts in `checks/bench/programs`.
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
//! | [`soak`](mod@soak) | `--soak`: growth of servers and a client under load with faults |

mod against;
mod instructions;
mod measure;
mod memory;
mod runner;
mod scenario;
mod soak;
mod table;

use std::fs;

use runner::{Bench, PROFILE};
use scenario::{Load, SCENARIOS, Scenario};
use serde_json::json;
use table::Row;

use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

pub(crate) use soak::{SHORT as SHORT_SOAK, run as soak};

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// These groups only, with commas: call tools session stateless cycle progress list1000 large stdio workers client
    /// sessions
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    only: Vec<String>,
    /// Rounds; default: 5, and 15 with --against
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Seconds of each round
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    seconds: f64,
    /// Leave rmcp out
    #[arg(long)]
    without_rmcp: bool,
    /// Processor time per request, now and at COMMIT
    #[arg(long, value_name = "COMMIT", group = "kind")]
    against: Option<String>,
    /// Instructions per request against the stored figures (needs valgrind)
    #[arg(long, group = "kind")]
    instructions: bool,
    /// Store the figures of --instructions
    #[arg(long, requires = "instructions")]
    renew: bool,
    /// Memory, open files and tasks under mixed load with faults, for a number of seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "600", group = "kind")]
    soak: Option<f64>,
    /// Optimized programs for --soak
    #[arg(long, requires = "soak")]
    release: bool,
    /// The gateways alone in --soak
    #[arg(long, requires = "soak")]
    gateways: bool,
}

impl BenchArgs {
    /// Returns the selected loads.
    fn scenarios(&self) -> Result<Vec<&'static Scenario>> {
        let mut scenarios: Vec<_> = SCENARIOS.iter().collect();
        if !self.only.is_empty() {
            scenarios.retain(|scenario| self.only.iter().any(|name| name == scenario.group));
        }
        if scenarios.is_empty() {
            return Err("--only names no group".into());
        }
        Ok(scenarios)
    }
}

/// Runs the command. Returns true if every response was correct.
pub(crate) fn run(workspace: &Workspace, args: &BenchArgs) -> Result<bool> {
    if args.instructions {
        return instructions::run(workspace, args.renew);
    }
    if let Some(seconds) = args.soak {
        return soak::command(workspace, seconds, args.release, args.gateways);
    }
    let scenarios = args.scenarios()?;
    if let Some(commit) = &args.against {
        return against::run(workspace, commit, &scenarios, args.rounds, args.seconds);
    }
    let (rounds, seconds) = (args.rounds.unwrap_or(5), args.seconds);
    if rounds == 0 || !seconds.is_finite() || seconds <= 0.0 {
        return Err("--rounds and --seconds must be greater than 0".into());
    }

    runner::build(workspace, &[])?;
    let rmcp = if args.without_rmcp {
        None
    } else {
        build_rmcp(workspace)
    };
    let bench = Bench::new(workspace, rmcp, rounds, seconds)?;
    println!("{}\n{}", bench.conditions(), Row::HEADING);
    let mut all: Vec<Row> = Vec::new();
    for scenario in scenarios {
        let rows = match scenario.load {
            Load::Sessions { count, streams } => memory::rows(&bench, scenario, count, streams)?,
            _ => bench.timed(scenario)?,
        };
        for row in &rows {
            println!("{row}");
        }
        all.extend(rows);
    }
    let report = json!({"conditions": bench.conditions(), "rows": all});
    let file = bench.folder().join("report.json");
    fs::write(&file, format!("{report:#}\n"))?;
    println!("written to {}", file.display());
    Ok(all.iter().all(|row| row.errors == 0))
}

/// Builds the programs that use rmcp, in a separate target folder. Returns `None` if that fails; the
/// other rows do not depend on them.
fn build_rmcp(workspace: &Workspace) -> Option<std::path::PathBuf> {
    let target = workspace.target().join("bench-rmcp");
    let build = "build --release --quiet --manifest-path checks/bench/rmcp/Cargo.toml";
    match process::run(workspace.cargo(build).env("CARGO_TARGET_DIR", &target)) {
        Ok(()) => Some(target.join(PROFILE)),
        Err(error) => {
            eprintln!("rmcp cannot be built here ({error}): its rows are skipped");
            None
        }
    }
}

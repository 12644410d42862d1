//! `cargo xtask bench --instructions`: instructions in user space per request, counted by callgrind and
//! compared with stored figures. They do not depend on the speed and the load of the machine.
//!
//! Rows of the server are counted in a server process under a load over sockets; the load generator is
//! another process. Rows of the client are counted without a socket.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::measure::Sample;
use super::runner::{self, LOAD, PROFILE, port};
use super::scenario::SERVER_PROGRAM;
use crate::process::{self, Server, free_port};
use crate::result::Result;
use crate::workspace::Workspace;

const CALLS: &str = "bench-calls";
const FIGURES: &str = "checks/bench/instructions.json";
/// The token that `bench-server --protected` accepts.
const TOKEN: &str = include_str!("../../../checks/bench/src/token.txt");

/// Allowed increase over the stored figure, as a fraction.
const TOLERANCE: f64 = 0.02;

/// Calls in two client runs. Their difference excludes the cost of the start.
const FEW: usize = 500;
const MANY: usize = 2500;

/// Valgrind starts and stops programs slowly.
const START_LIMIT: Duration = Duration::from_secs(30);
/// Time limit of the load, which ends after its last request.
const LOAD_SECONDS: &str = "300";

/// Requests: a name, arguments for the server and for the load generator, and the number for each connection.
const ROWS: [(&str, &str, &str, usize); 10] = [
    ("call", "", CALL, 200),
    ("session", "", "call --era session --connections 16", 200),
    ("list", "", "list --connections 16 --tools 103", 50),
    ("stream", "", "progress --connections 2", 4),
    ("big", "", "big --connections 2", 10),
    ("protected", "--protected", CALL, 200),
    ("telemetry", "--telemetry", CALL, 200),
    ("unsampled", "--unsampled", CALL, 200),
    ("metrics", "--metrics", CALL, 200),
    ("traced", "--traced", CALL, 200),
];
const CALL: &str = "call --connections 16";

/// Kinds of client calls.
const CLIENTS: [&str; 2] = ["bearer", "oauth"];

/// The figures, and the compiler that they are valid for.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Figures {
    compiler: String,
    #[serde(rename = "instructionsPerCall")]
    per_call: BTreeMap<String, u64>,
}

/// Rows, those that they are compared with, and the goals in percent.
const COMPARED: [(&str, &str, f64); 3] = [
    ("oauth", "bearer", 3.0),
    ("telemetry", "call", 7.5),
    ("unsampled", "call", 7.5),
];

/// Runs the command. Returns true if no row exceeds its stored figure, and authorization and telemetry
/// cost no more than their goals. `renew` stores the new figures.
pub(crate) fn run(workspace: &Workspace, renew: bool) -> Result<bool> {
    if !process::available("valgrind", &["--version"]) {
        println!("valgrind is not installed: instructions are not counted");
        return Ok(true);
    }
    runner::build(workspace, &[SERVER_PROGRAM, LOAD, CALLS])?;
    let folder = workspace.target().join("bench");
    fs::create_dir_all(&folder)?;
    let mut counted = Figures {
        compiler: process::capture(Command::new("rustc").arg("--version"))?
            .trim()
            .to_owned(),
        ..Figures::default()
    };
    for row in ROWS {
        let each = count_server(workspace, row, &folder)?;
        counted.per_call.insert(row.0.to_owned(), each);
    }
    let program = workspace.binary(PROFILE, CALLS);
    for kind in CLIENTS {
        let few = count_client(&program, kind, FEW, &folder)?;
        let many = count_client(&program, kind, MANY, &folder)?;
        let each = many.saturating_sub(few) / (MANY - FEW) as u64;
        counted.per_call.insert(kind.to_owned(), each);
    }
    let meets_goals = meets_goals(&counted);
    let file = workspace.root().join(FIGURES);
    if renew {
        fs::write(
            &file,
            format!("{}\n", serde_json::to_string_pretty(&counted)?),
        )?;
        println!("{counted:#?}\nstored in {FIGURES}");
        return Ok(meets_goals);
    }
    let stored: Figures = serde_json::from_str(&fs::read_to_string(&file)?)?;
    Ok(compare(&stored, &counted) && meets_goals)
}

fn meets_goals(counted: &Figures) -> bool {
    let mut good = true;
    for (kind, base, goal) in COMPARED {
        let more = excess(counted, kind, base) * 100.0;
        println!("{kind} costs {more:+.1} % more than {base}; the goal is {goal} %");
        good &= more <= goal;
    }
    good
}

/// Returns the additional cost of `kind` as a fraction of `base`.
fn excess(counted: &Figures, kind: &str, base: &str) -> f64 {
    let figure = |kind: &str| counted.per_call.get(kind).copied().unwrap_or(0) as f64;
    figure(kind) / figure(base) - 1.0
}

fn compare(stored: &Figures, counted: &Figures) -> bool {
    let same_compiler = stored.compiler == counted.compiler;
    if !same_compiler {
        println!(
            "stored for {}, counted with {}: the figures are not comparable",
            stored.compiler, counted.compiler
        );
    }
    let mut good = true;
    for (kind, now) in &counted.per_call {
        let before = stored.per_call.get(kind).copied().unwrap_or(0);
        let more = *now as f64 / before as f64 - 1.0;
        let fits = before > 0 && more <= TOLERANCE;
        println!(
            "{kind:9} {now:8} instructions, stored {before:8} ({:+.1} %)",
            more * 100.0
        );
        good &= fits || !same_compiler;
    }
    good
}

/// Counts the instructions of a server per request. The counters are set to zero after a warm-up.
fn count_server(
    workspace: &Workspace,
    (name, flags, load, requests): (&str, &str, &str, usize),
    folder: &Path,
) -> Result<u64> {
    let out = folder.join(format!("callgrind.{name}"));
    let mut valgrind = callgrind(&out);
    valgrind
        .arg(workspace.binary(PROFILE, SERVER_PROGRAM))
        .args(["http", &free_port()?.to_string()])
        .args(flags.split_whitespace())
        .env("NTOOLS", if name == "list" { "100" } else { "0" });
    let log = folder.join(format!("callgrind-{name}-stderr.log"));
    let server = Server::start(&mut valgrind, &log, START_LIMIT)?;
    let load = |requests: usize| -> Result<Sample> {
        let mut generator = Command::new(workspace.binary(PROFILE, LOAD));
        generator
            .arg(port(server.url())?.to_string())
            .args(load.split(' '))
            .args((name == "protected").then_some("--token"))
            .args((name == "protected").then_some(TOKEN))
            .args(["--seconds", LOAD_SECONDS])
            .args(["--requests", &requests.to_string()]);
        let sample: Sample = serde_json::from_str(&process::capture(&mut generator)?)?;
        match &sample.last_error {
            None => Ok(sample),
            Some(error) => Err(format!("{name}: {error}").into()),
        }
    };
    let control = |option: &str| {
        let mut control = Command::new("callgrind_control");
        process::capture(control.args([option, &server.id().to_string()]))
    };
    load(requests.div_ceil(4))?;
    control("--zero")?;
    let sample = load(requests)?;
    control("--dump")?;
    let dump = out.with_extension(format!("{name}.1"));
    let total = total(&fs::read_to_string(dump)?).ok_or("callgrind wrote no total")?;
    Ok(total / sample.requests as u64)
}

/// Counts the instructions in one client run.
fn count_client(program: &Path, kind: &str, calls: usize, folder: &Path) -> Result<u64> {
    let out = folder.join("callgrind.out");
    process::capture(
        callgrind(&out)
            .arg(program)
            .args([kind, &calls.to_string()]),
    )?;
    total(&fs::read_to_string(&out)?).ok_or_else(|| "callgrind wrote no total".into())
}

fn callgrind(out: &Path) -> Command {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.display()));
    valgrind
}

/// Returns the total of a callgrind file.
fn total(text: &str) -> Option<u64> {
    let lines = text.lines();
    let mut totals = lines.filter_map(|line| {
        let rest = line
            .strip_prefix("totals:")
            .or(line.strip_prefix("summary:"))?;
        rest.trim().parse().ok()
    });
    totals.next()
}

#[cfg(test)]
mod tests {
    use super::{Figures, compare, excess, meets_goals, total};

    fn figures(compiler: &str, call: u64) -> Figures {
        Figures {
            compiler: compiler.to_owned(),
            per_call: [("call".to_owned(), call)].into(),
        }
    }

    #[test]
    fn increase_over_tolerance_fails() {
        let stored = figures("a", 10_000);
        for (compiler, call, good) in [
            ("a", 10_000, true),
            ("a", 9_000, true),
            ("a", 10_199, true),
            ("a", 10_300, false),
            ("b", 20_000, true),
        ] {
            assert_eq!(compare(&stored, &figures(compiler, call)), good, "{call}");
        }
        assert!(!compare(
            &Figures::default(),
            &Figures {
                compiler: String::new(),
                ..figures("", 1)
            }
        ));
    }

    #[test]
    fn excess_is_a_fraction_of_the_base() {
        let per_call = [("a".to_owned(), 125), ("b".to_owned(), 100)];
        let counted = Figures {
            per_call: per_call.into(),
            ..Figures::default()
        };
        assert_eq!(excess(&counted, "a", "b"), 0.25);
        assert!(excess(&Figures::default(), "a", "b").is_nan());
    }

    #[test]
    fn telemetry_over_its_goal_fails() {
        let counted = |unsampled| Figures {
            compiler: String::new(),
            per_call: [
                ("bearer", 1000),
                ("call", 1000),
                ("oauth", 1029),
                ("telemetry", 1074),
                ("unsampled", unsampled),
            ]
            .map(|(kind, count)| (kind.to_owned(), count))
            .into(),
        };
        assert!(meets_goals(&counted(1074)));
        assert!(!meets_goals(&counted(1076)));
        assert!(!meets_goals(&Figures::default()));
    }

    #[test]
    fn total_is_read_from_callgrind_file() {
        assert_eq!(
            total("version: 1\nsummary: 123\nfn=a\ntotals: 123\n"),
            Some(123)
        );
        assert_eq!(total("fn=a"), None);
    }
}

//! `cargo xtask bench --profile`: processor time of the server by crate, sampled by `perf`. Inlined code
//! counts for its caller.

use std::collections::BTreeMap;
use std::process::Command;

use super::runner::{Bench, PROFILE};
use super::scenario::{Load, Program, SCENARIOS};
use crate::Result;
use crate::flags::Flags;
use crate::process::{self, ChildGuard};
use crate::workspace::Workspace;

/// Runs the command. Returns true: it measures only.
pub(super) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let only: String = flags.value("--only")?.unwrap_or_else(|| "call".to_owned());
    let seconds: f64 = flags.value("--seconds")?.unwrap_or(5.0);
    flags.finish()?;
    if !process::available("perf", &["--version"]) {
        println!("perf is not installed: nothing is sampled");
        return Ok(true);
    }
    let mut cargo = workspace.cargo();
    process::run(cargo.args(["build", "--release", "--package", "bench", "--bins"]))?;
    let bench = Bench::new(workspace, None, 1, seconds)?;
    let loads = SCENARIOS.iter().filter(|scenario| scenario.group == only);
    for scenario in loads {
        let mut candidates = scenario.candidates.iter();
        let server = candidates.find(|candidate| candidate.program == Program::Server);
        let (Load::Http(arguments), Some(server)) = (scenario.load, server) else {
            continue;
        };
        let server = bench.start(server, scenario)?;
        let data = workspace.target().join("bench").join("perf.data");
        let mut perf = Command::new("perf");
        perf.args(["record", "--quiet", "--event", "cpu-clock"]);
        perf.args(["--pid", &server.id().to_string(), "--output"]);
        perf.arg(&data);
        let recorder = ChildGuard::spawn(&mut perf)?;
        bench.load(&server, arguments)?;
        process::run(Command::new("kill").args(["-INT", &recorder.0.id().to_string()]))?;
        process::wait_with_deadline(recorder, std::time::Duration::from_secs(30))?;
        let mut report = Command::new("perf");
        report.args(["report", "--stdio", "--no-children", "--quiet", "--input"]);
        report.arg(&data);
        report.args(["--fields", "overhead,dso,symbol", "--percent-limit", "0"]);
        println!("{} ({PROFILE})", scenario.label);
        for (name, percent) in by_crate(&process::capture(&mut report)?) {
            println!("  {percent:5.1} %  {name}");
        }
    }
    Ok(true)
}

/// Sums the lines `12.34%  OBJECT  [.] SYMBOL` of a report by crate, the largest first.
fn by_crate(report: &str) -> Vec<(String, f64)> {
    let mut sums = BTreeMap::<String, f64>::new();
    for line in report.lines() {
        let Some((percent, rest)) = line.trim().split_once('%') else {
            continue;
        };
        let (Ok(percent), Some((object, symbol))) =
            (percent.parse::<f64>(), rest.trim().split_once(' '))
        else {
            continue;
        };
        *sums.entry(owner(object, symbol)).or_default() += percent;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(_, left), (_, right)| right.total_cmp(left));
    sums
}

/// Returns the crate of a symbol, or the object that is not ours.
fn owner(object: &str, symbol: &str) -> String {
    if symbol.trim_start().starts_with("[k]") {
        return "kernel".to_owned();
    }
    if object.starts_with("libc") || object.starts_with("ld-") || object == "[vdso]" {
        return "libc".to_owned();
    }
    let name = symbol.trim_start().trim_start_matches("[.]").trim();
    // A drop belongs to the type that is dropped.
    let name = name
        .strip_prefix("core::ptr::drop_in_place")
        .unwrap_or(name);
    let path = name.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let path = path.trim_start_matches("dyn ").trim_start_matches("mut ");
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
    match &path[..end.unwrap_or(path.len())] {
        "core" | "alloc" | "std" => "std".to_owned(),
        "" => "unknown".to_owned(),
        name if end.is_none_or(|end| !path[end..].starts_with("::")) => format!("C: {name}"),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::by_crate;

    #[test]
    fn samples_are_summed_by_crate() {
        let report = "
    40.00%  bench-server  [.] <hyper::proto::h1::dispatch::Dispatcher<D,Bs,I,T>>::poll_catch
    20.00%  [kernel.kallsyms]  [k] tcp_sendmsg
    10.00%  bench-server  [.] mcp_core::wire::decode
     9.00%  bench-server  [.] core::ptr::drop_in_place<mcp_core::wire::Call>
     8.00%  libc.so.6  [.] malloc
     2.00%  bench-server  [.] alloc::vec::Vec<T>::push
     1.00%  bench-server  [.] ring_core_sha256
";
        let names = [
            "hyper",
            "kernel",
            "mcp_core",
            "libc",
            "std",
            "C: ring_core_sha256",
        ];
        let percents = [40.0, 20.0, 19.0, 8.0, 2.0, 1.0];
        let expected: Vec<_> = names.map(str::to_owned).into_iter().zip(percents).collect();
        assert_eq!(by_crate(report), expected);
    }
}

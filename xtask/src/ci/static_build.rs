//! The command `mcp` as one static program.

use std::process::Command;

use super::outcome::StepOutcome;
use super::programs::{build_programs, missing_target};
use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

const TARGET: &str = "x86_64-unknown-linux-musl";

/// Builds the command for musl, checks that it needs no shared library, and calls a tool with it. Skipped
/// on other machines than Linux on x86-64, and where the target or the C compiler for musl is missing.
pub(super) fn run(workspace: &Workspace) -> Result<StepOutcome> {
    if let Some(reason) = obstacle() {
        return Ok(StepOutcome::Skipped(reason));
    }
    let mut cargo = workspace.cargo(&format!(
        "build --quiet --package omnimcp-cli --target {TARGET}"
    ));
    process::run(cargo.env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    build_programs(workspace)?;
    let program = workspace.target().join(TARGET).join("debug/mcp");
    let libraries = process::capture(Command::new("ldd").arg(&program))?;
    if !libraries.contains("statically linked") {
        return Err(format!("{} needs shared libraries: {libraries}", program.display()).into());
    }
    let mut call = Command::new(program);
    call.args(["call", "test_simple_text", "--"]);
    call.arg(workspace.binary("debug", "everything-server"));
    let output = process::capture(call.arg("--stdio"))?;
    if output.contains("This is a simple text response") {
        Ok(StepOutcome::Passed)
    } else {
        Err(format!("the static program printed {output:?}").into())
    }
}

/// The reason why the program cannot be built here.
fn obstacle() -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some(format!("this machine cannot run {TARGET}"));
    }
    let without_compiler = || {
        let is_missing = !process::available("musl-gcc", &["--version"]);
        is_missing.then(|| "musl-gcc is not installed".to_owned())
    };
    missing_target(TARGET).or_else(without_compiler)
}

//! The crates for Windows: compiled with MinGW, and the tests of child processes run by Wine.

use std::fs;
use std::process::Command;

use super::outcome::StepOutcome;
use super::programs::missing_target;
use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

const TARGET: &str = "x86_64-pc-windows-gnu";
const COMPILER: &str = "x86_64-w64-mingw32-gcc";
/// The names of Wine for 64 bits. Debian's package `wine64` has it in a folder of its own.
const WINE: [&str; 3] = ["wine64", "/usr/lib/wine/wine64", "wine"];
/// A library that older versions of Wine do not have.
const LIBRARY: (&str, &str) = (
    "bcryptprimitives",
    include_str!("windows/bcryptprimitives.c"),
);

/// Lints the facade and the command for Windows, and runs the tests of pipes and child processes.
pub(super) fn run(workspace: &Workspace) -> Result<StepOutcome> {
    if let Some(reason) = obstacle() {
        return Ok(StepOutcome::Skipped(reason));
    }
    let mut clippy = workspace.cargo(&format!("clippy --quiet --all-features --target {TARGET}"));
    for package in ["omnimcp", "omnimcp-cli", "omnimcp-transport-stdio"] {
        clippy.args(["--package", package]);
    }
    process::run(clippy.args(["--", "-D", "warnings"]))?;
    let Some(wine) = WINE
        .into_iter()
        .find(|program| process::available(program, &["--version"]))
    else {
        let missing = "compiled; Wine is not installed, so that no test was run";
        return Ok(StepOutcome::Partial(missing.to_owned()));
    };
    build_library(workspace)?;
    let mut tests = workspace.cargo(&format!("test --quiet --target {TARGET} --all-features"));
    tests.args(["--package", "omnimcp-transport-stdio", "--test", "it"]);
    tests
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", wine)
        .env("WINEPREFIX", workspace.target().join("wine"))
        .env("WINEDEBUG", "-all");
    process::run(&mut tests)?;
    Ok(StepOutcome::Passed)
}

/// Builds the missing library beside the test programs, where Windows searches first.
fn build_library(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target().join(TARGET).join("debug/deps");
    fs::create_dir_all(&folder)?;
    let (name, source) = LIBRARY;
    let file = folder.join(format!("{name}.c"));
    fs::write(&file, source)?;
    let mut compiler = Command::new(COMPILER);
    compiler.arg("-shared").arg("-o");
    compiler.arg(folder.join(format!("{name}.dll")));
    process::run(compiler.arg(file).arg("-ladvapi32"))
}

/// The reason why nothing can be compiled here.
fn obstacle() -> Option<String> {
    let without_compiler = || {
        let is_missing = !process::available(COMPILER, &["--version"]);
        is_missing.then(|| format!("{COMPILER} is not installed"))
    };
    missing_target(TARGET).or_else(without_compiler)
}

//! `mcp gen`.

use std::path::Path;

use mcp::catalog::Impact;
use mcp::generate::{Generated, Generator, catalog_of};
use serde_json::json;

use super::diff;
use super::support::to_json;
use crate::cli::{GenArgs, GenCommand};
use crate::failure::Failure;
use crate::output::Output;
use crate::written;

/// The name of the struct or trait, without a file.
const DEFAULT_NAME: &str = "Server";

pub(super) async fn run(command: &GenCommand, output: &Output) -> Result<(), Failure> {
    let (args, generator) = match command {
        GenCommand::Rust(args) => (args, Generator::client(name(args))),
        GenCommand::RustServer(args) => (args, Generator::server(name(args))),
    };
    if let (Some(file), true) = (&args.output, args.check) {
        return check(args, file, output).await;
    }
    let snapshot = diff::newer(&args.target, output).await?;
    let generated = generator.generate(&snapshot).map_err(Failure::usage)?;
    let source = generated.to_source().map_err(Failure::usage)?;
    match &args.output {
        Some(file) => write(file, &source)?,
        None => output.raw(source.as_bytes()),
    }
    if args.output.is_some() {
        report(&generated, output)?;
    }
    Ok(())
}

/// Name of the struct or trait: `--name`, or the file name.
fn name(args: &GenArgs) -> String {
    if let Some(name) = &args.name {
        return name.clone();
    }
    let file = args.output.as_deref();
    // `src/shop/mod.rs` is the module `shop`.
    let stem = |file: &Path| file.file_stem()?.to_str().map(str::to_owned);
    match file.and_then(stem).as_deref() {
        Some("mod") => file.and_then(Path::parent).and_then(stem),
        Some(name) => Some(name.to_owned()),
        None => None,
    }
    .unwrap_or_else(|| DEFAULT_NAME.to_owned())
}

/// Writes the file, unless it has this content: a newer file would be compiled again.
fn write(file: &Path, source: &str) -> Result<(), Failure> {
    let is_file = file.metadata().is_ok_and(|found| found.is_file());
    if is_file && mcp_files::read(file, source.len() as u64).is_ok_and(|old| old == source) {
        return Ok(());
    }
    written::write(file, source)
}

fn report(generated: &Generated, output: &Output) -> Result<(), Failure> {
    let report = generated.report();
    if output.json {
        output.document(&json!({ "full": report.full(), "tools": to_json(report)? }))
    } else {
        report
            .to_string()
            .lines()
            .for_each(|line| output.note(line))
    }
    Ok(())
}

/// Compares the server with the catalog of the file.
async fn check(args: &GenArgs, file: &Path, output: &Output) -> Result<(), Failure> {
    let source = diff::read_text(file)?;
    let old = catalog_of(&source).map_err(|error| Failure::unusable(file, error))?;
    // The file has no rows of templates.
    let new = diff::newer(&args.target, output).await?;
    let diff = old.diff(&new.without_template_data());
    diff::print(&diff, output)?;
    if diff.impact() == Some(Impact::Compatible) {
        output.note("the file still fits; generate it again to use the changes");
    }
    let cure = "generate it again without --check, and adapt the program";
    diff::require_compatible(&diff, file, cure)
}

//! `mcp diff`.

use std::path::Path;

use mcp::catalog::{Diff, Impact, Snapshot};
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use super::support::{close, to_json};
use crate::cli::{DiffArgs, TargetArgs};
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target;

/// Largest size of a snapshot file: 64 MiB.
const MAX_BYTES: u64 = 64 << 20;

pub(super) async fn run(args: &DiffArgs, output: &Output) -> Result<(), Failure> {
    let old = read(&args.old).await?;
    let new = newer(&args.target, output).await?;
    let diff = old.diff(&new);
    print(&diff, output)?;
    let cure = "keep what they use, or write a new snapshot";
    require_compatible(&diff, &args.old, cure)
}

/// Fails when a difference breaks clients of the older snapshot, which is in the file.
pub(super) fn require_compatible(diff: &Diff, file: &Path, cure: &str) -> Result<(), Failure> {
    let is_breaking = |impact| impact == Impact::Breaking;
    let breaking = diff
        .differences()
        .iter()
        .filter(|difference| is_breaking(difference.impact));
    match breaking.count() {
        0 => Ok(()),
        count => Err(Failure::new(
            FailureKind::Breaking,
            format!(
                "{count} of the changes break clients of {}; {cure}",
                file.display()
            ),
        )),
    }
}

/// Reads the newer snapshot from a file, or from a server.
pub(super) async fn newer(args: &TargetArgs, output: &Output) -> Result<Snapshot, Failure> {
    if let ([file], []) = (&*args.server.words, &*args.server.command)
        && Path::new(file).is_file()
    {
        return read(Path::new(file)).await;
    }
    let client = target::connect_only(args, output).await?;
    let snapshot = Snapshot::capture(&client).await;
    close(&client).await;
    Ok(snapshot?)
}

/// Reads a snapshot from a file.
pub(super) async fn read(path: &Path) -> Result<Snapshot, Failure> {
    let text = read_text(path).await?;
    text.parse()
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// Reads a file with a snapshot.
pub(super) async fn read_text(path: &Path) -> Result<String, Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", path.display()));
    let file = tokio::fs::File::open(path)
        .await
        .map_err(|error| failed(&error))?;
    let mut text = String::new();
    let mut limited = file.take(MAX_BYTES + 1);
    limited
        .read_to_string(&mut text)
        .await
        .map_err(|error| failed(&error))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(failed(&"a snapshot has at most 64 MiB"));
    }
    Ok(text)
}

pub(super) fn print(diff: &Diff, output: &Output) -> Result<(), Failure> {
    if output.json {
        output.document(&json!({
            "impact": diff.impact().map(Impact::as_str),
            "differences": to_json(diff)?,
        }));
        return Ok(());
    }
    if diff.impact().is_none() {
        output.note("no differences");
    }
    for impact in [Impact::Breaking, Impact::Compatible, Impact::Cosmetic] {
        let differences = diff.differences().iter();
        let rows = differences.filter(|difference| difference.impact == impact);
        let rows: Vec<_> = rows
            .map(|row| (row.path.clone(), row.reason.clone()))
            .collect();
        if !rows.is_empty() {
            output.heading(impact.as_str());
            output.rows(&rows);
        }
    }
    Ok(())
}

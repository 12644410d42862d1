//! `mcp diff`.

use std::path::Path;

use mcp::catalog::{Diff, Impact, Snapshot};
use serde_json::json;

use super::support::to_json;
use crate::cli::{DiffArgs, TargetArgs};
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target;

/// Largest size of a snapshot file in bytes: 64 MiB.
const MAX_BYTES: u64 = 64 << 20;

pub(super) async fn run(args: &DiffArgs, output: &Output) -> Result<(), Failure> {
    let old = read(&args.old)?;
    let new = newer(&args.target, output).await?;
    let diff = old.diff(&new);
    print(&diff, output)?;
    let cure = "keep what they use, or write a new snapshot";
    require_compatible(&diff, &args.old, cure)
}

/// Fails when a difference breaks clients of the older snapshot. `file` is that snapshot's file, for the message.
pub(super) fn require_compatible(diff: &Diff, file: &Path, cure: &str) -> Result<(), Failure> {
    let differences = diff.differences().iter();
    let breaking = differences.filter(|difference| difference.impact == Impact::Breaking);
    let (count, file) = (breaking.count(), file.display());
    if count == 0 {
        return Ok(());
    }
    let message = format!("{count} of the changes break clients of {file}; {cure}");
    Err(Failure::new(FailureKind::Breaking, message))
}

/// Reads the newer snapshot from a file, or from a server.
pub(super) async fn newer(args: &TargetArgs, output: &Output) -> Result<Snapshot, Failure> {
    if let ([file], []) = (&*args.server.words, &*args.server.command)
        && Path::new(file).is_file()
    {
        return read(Path::new(file));
    }
    capture(args, output).await
}

/// Captures a snapshot of a server.
pub(super) async fn capture(args: &TargetArgs, output: &Output) -> Result<Snapshot, Failure> {
    let capture = async |client: &mcp::Client| Ok(Snapshot::capture(client).await?);
    target::with_client_only(args, output, capture).await
}

/// Reads a snapshot from a file.
pub(super) fn read(path: &Path) -> Result<Snapshot, Failure> {
    let text = read_text(path)?;
    text.parse().map_err(|error| Failure::unusable(path, error))
}

/// Reads a file with a snapshot.
pub(super) fn read_text(path: &Path) -> Result<String, Failure> {
    let text = mcp_files::read(path, MAX_BYTES);
    text.map_err(|error| Failure::unusable(path, error))
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
        let rows = rows.map(|row| (&row.path, &row.reason));
        output.section(impact.as_str(), rows);
    }
    Ok(())
}

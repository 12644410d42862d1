//! `mcp snapshot`.

use mcp::catalog::Snapshot;
use mcp::types::escape_json;

use super::support::close;
use crate::cli::SnapshotArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &SnapshotArgs, output: &Output) -> Result<(), Failure> {
    let client = target::connect_only(&args.target, output).await?;
    let snapshot = Snapshot::capture(&client).await;
    close(&client).await;
    let snapshot = snapshot?;
    if let Some(path) = &args.output {
        let written = tokio::fs::write(path, &*escape_json(&snapshot.to_json())).await;
        return written.map_err(|error| Failure::unwritable(path, &error));
    }
    if output.json {
        output.document(snapshot.as_value())
    } else {
        output.json_text(&snapshot.to_json())
    }
    Ok(())
}

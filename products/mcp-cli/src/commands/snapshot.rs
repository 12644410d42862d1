//! `mcp snapshot`.

use mcp::types::escape_json;

use super::diff;
use crate::cli::SnapshotArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::written;

pub(super) async fn run(args: &SnapshotArgs, output: &Output) -> Result<(), Failure> {
    let snapshot = diff::capture(&args.target, output).await?;
    if let Some(path) = &args.output {
        return written::write(path, escape_json(&snapshot.to_json()).as_bytes());
    }
    if output.json {
        output.document(snapshot.as_value())
    } else {
        output.json_text(&snapshot.to_json())
    }
    Ok(())
}

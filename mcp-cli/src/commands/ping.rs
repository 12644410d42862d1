//! `mcp ping`.

use std::time::Instant;

use serde_json::json;

use super::support::close;
use crate::cli::TargetArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let client = target::connect_only(args, output).await?;
    let start = Instant::now();
    let done = client.ping().await;
    let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
    close(&client).await;
    done?;
    if output.json {
        output.document(&json!({ "milliseconds": milliseconds }));
    } else {
        output.line(&format!("{milliseconds:.1} ms"));
    }
    Ok(())
}

//! `mcp ping`.

use std::time::Instant;

use serde_json::json;

use crate::cli::TargetArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let ping = async |client: &mcp::Client| {
        let start = Instant::now();
        client.ping().await?;
        Ok(start.elapsed().as_secs_f64() * 1000.0)
    };
    let milliseconds = target::with_client_only(args, output, ping).await?;
    output.answer(
        &json!({ "milliseconds": milliseconds }),
        &format!("{milliseconds:.1} ms"),
    );
    Ok(())
}

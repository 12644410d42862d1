//! `mcp proxy`.

use mcp::gateway::{Relay, RelayError, ToolPatterns};

use super::lines;
use crate::cli::ProxyArgs;
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &ProxyArgs, output: &Output) -> Result<(), Failure> {
    let channel = target::channel_with_login(&args.login, output).await?;
    let patterns = ToolPatterns::new(&args.ignore_tool);
    let mut relay = Relay::new(channel);
    if !patterns.is_empty() {
        relay = relay.hide_tools(move |name| patterns.matches(name));
    }
    let done = relay.run(lines::input(), lines::output()).await;
    done.map_err(|error| failure(&error))
}

/// Converts a relay error.
pub(super) fn failure(error: &RelayError) -> Failure {
    let kind = match error {
        RelayError::Closed(_) => FailureKind::Unreachable,
        _ => FailureKind::Usage,
    };
    Failure::new(kind, error.to_string())
}

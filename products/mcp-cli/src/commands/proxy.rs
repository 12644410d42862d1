//! `mcp proxy`.

use mcp::gateway::{Relay, ToolPatterns};

use super::lines;
use crate::cli::ProxyArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::target;

pub(super) async fn run(args: &ProxyArgs, output: &Output) -> Result<(), Failure> {
    let channel = target::channel_with_login(&args.login, output).await?;
    let patterns = ToolPatterns::new(&args.ignore_tool);
    let mut relay = Relay::new(channel);
    if !patterns.is_empty() {
        relay = relay.hide_tools(move |name| patterns.matches(name));
    }
    Ok(relay.run(lines::input(), lines::output()).await?)
}

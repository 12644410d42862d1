//! Changes of the configuration file while the gateway runs.

use std::time::Duration;

use mcp::gateway::GatewayControl;
use mcp::gateway::config::GatewayConfig;

use super::source::Source;
use crate::failure::{Failure, usage};
use crate::output;

/// Time between two looks at the file. Its content is compared: notifications of file systems do not reach all
/// mounted folders, and file times do not change with every replacement.
const INTERVAL: Duration = Duration::from_secs(1);

/// Applies changes of the file, which had this content and these settings at the start.
pub(super) async fn follow(
    source: Source,
    control: GatewayControl,
    mut content: Option<Vec<u8>>,
    config: Option<GatewayConfig>,
) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        // A file that is being replaced may be missing for a moment.
        let Some(next) = source.content().await else {
            continue;
        };
        if content.as_ref() == Some(&next) {
            continue;
        }
        content = Some(next);
        match reload(&source, &control, config.as_ref()).await {
            Ok(()) => output::status(&format!("{} was read again", source.path())),
            Err(failure) => {
                let path = source.path();
                output::status(&format!(
                    "{path} was not applied, the gateway goes on as before: {failure}"
                ));
            }
        }
    }
}

async fn reload(
    source: &Source,
    control: &GatewayControl,
    started: Option<&GatewayConfig>,
) -> Result<(), Failure> {
    let loaded = source.load().await?;
    if let (Some(started), Some(next)) = (started, &loaded.config)
        && let Some(table) = fixed(started, next)
    {
        return Err(usage!(
            "the table `{table}` has changed, which is read at the start only; start the gateway again"
        ));
    }
    let reloaded = control.reload(loaded.gateway).await;
    reloaded.map_err(Failure::usage)
}

/// Returns a table of restrictions that has changed, and that a running gateway cannot apply.
fn fixed(started: &GatewayConfig, next: &GatewayConfig) -> Option<&'static str> {
    let tables = [
        ("authorization", started.authorization == next.authorization),
        ("tools", started.tools == next.tools),
        ("http", started.http == next.http),
    ];
    let mut changed = tables.into_iter().filter(|(_, is_same)| !is_same);
    changed.next().map(|(table, _)| table)
}

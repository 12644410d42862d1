//! Changes of the configuration file while the gateway runs.

use std::time::Duration;

use mcp::gateway::GatewayControl;

use super::source::Source;
use crate::failure::Failure;
use crate::output;

/// Time between two looks at the file. Its content is compared: notifications of file systems do not reach all
/// mounted folders, and file times do not change with every replacement.
const INTERVAL: Duration = Duration::from_secs(1);

/// Applies changes of the file, which had this content.
pub(super) async fn follow(source: Source, control: GatewayControl, mut content: Option<Vec<u8>>) {
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
        match reload(&source, &control).await {
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

async fn reload(source: &Source, control: &GatewayControl) -> Result<(), Failure> {
    let loaded = source.load().await?;
    let reloaded = control.reload(loaded.gateway).await;
    reloaded.map_err(Failure::usage)
}

//! A tool that lets its client come again for the answer.

use std::time::Duration;

use mcp::Extension;
use mcp::core::StreamControl;
use tokio::time::sleep;

pub(crate) struct Polling;

#[mcp::tools(routes = routes)]
impl Polling {
    /// Ends the connection before the answer is there
    #[tool]
    async fn test_reconnection(control: Option<Extension<StreamControl>>) -> &'static str {
        if let Some(Extension(control)) = control {
            control.release();
        }
        sleep(Duration::from_millis(100)).await;
        "Reconnection test completed successfully"
    }
}

//! A tool whose client polls for the result.

use std::time::Duration;

use mcp::Extension;
use mcp::core::StreamControl;
use tokio::time::sleep;

pub(crate) struct Polling;

#[mcp::server(routes = routes)]
impl Polling {
    /// Closes the connection before the result is available
    #[tool]
    async fn test_reconnection(control: Option<Extension<StreamControl>>) -> &'static str {
        if let Some(Extension(control)) = control {
            control.release();
        }
        sleep(Duration::from_millis(100)).await;
        "Reconnection test completed successfully"
    }
}

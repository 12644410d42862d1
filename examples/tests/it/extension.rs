//! The extension of `src/budget.rs` on every transport and in both eras.

use std::time::Duration;

use examples::budget::{Budget, GetBudget};
use mcp::prelude::*;
use mcp_testing::Pair;
use tokio::time::timeout;

fn server() -> Server {
    Server::new("press", "1.0.0")
        .tool(Tool::new("print").handler(|| "printed"))
        .extension(Budget::of_server(1))
}

/// Uses the request of each direction, the notification, the layer and the tool of the extension.
async fn use_extension(client: &Client, mut left: tokio::sync::watch::Receiver<u32>) {
    let budget = client.extension::<Budget>().unwrap();
    assert_eq!(budget.settings().credits, 1);
    left.mark_unchanged();
    let printed = client.call("print", ()).await.unwrap();
    assert_eq!(printed.text(), "printed");
    let notified = timeout(Duration::from_secs(10), left.changed()).await;
    notified.unwrap().unwrap();
    assert_eq!(*left.borrow(), 0);
    let refused = client.call("print", ()).await.unwrap_err().to_string();
    assert!(refused.contains("no credits are left"), "{refused}");
    let topped_up = client.call("top_up", ()).await.unwrap();
    assert_eq!(topped_up.text(), "3 credits");
    assert_eq!(budget.request::<GetBudget>(&()).await.unwrap().credits, 3);
}

#[tokio::test]
async fn extension_works_on_pipes_and_over_http_in_both_eras() {
    for version in [None, Some(ProtocolVersion::V2025_11_25)] {
        for start in [Pair::http, Pair::stdio, Pair::messages] {
            let (budget, left) = Budget::of_client(3);
            let mut pair = start(server()).client(Client::builder().extension(budget));
            if let Some(version) = version {
                pair = pair.revision(version);
            }
            let connected = pair.connect().await.unwrap();
            use_extension(&connected.client, left).await;
            connected.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn extension_works_in_process() {
    let (budget, left) = Budget::of_client(3);
    let builder = Client::builder().extension(budget);
    let client = mcp_testing::connect_with(server(), builder).await.unwrap();
    use_extension(&client, left).await;
}

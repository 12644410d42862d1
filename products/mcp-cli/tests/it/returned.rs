//! Output schemas and results behind `mcp serve` and `mcp proxy`: the listed schema accepts each result, in each revision.

#[path = "../../../../integrations/mcp-testing/tests/it/returned/check.rs"]
mod check;
#[path = "../../../../integrations/mcp-testing/tests/it/returned/tools.rs"]
mod tools;

use std::collections::BTreeMap;
use std::process::Command;

use mcp::ConnectMode;
use mcp::prelude::*;
use mcp::types::ProtocolVersion;

use self::check::check;
use crate::gateway::start;
use crate::kit::{folder, on_thread};

/// Starts a server with all tools over HTTP. Returns its URL and the number of values by name.
fn serve_tools() -> (String, BTreeMap<String, usize>) {
    let all = || tools::tools().into_iter().chain(tools::raw_tools());
    let counts = all()
        .map(|(tool, count)| (tool.tool().name.clone(), count))
        .collect();
    let origin = on_thread(move |listener| async move {
        let server = all().fold(Server::new("s", "1"), |server, (tool, _)| server.tool(tool));
        drop(mcp::serve_http(server, listener).await);
    });
    (format!("{origin}/mcp"), counts)
}

// spec: TOOL-14, TOOL-16, TOOL-18
#[tokio::test(flavor = "multi_thread")]
async fn served_schema_accepts_each_value_in_each_revision() {
    let (url, counts) = serve_tools();
    let served = start(&["serve", &url, "--listen", "127.0.0.1:0"]);
    for version in ProtocolVersion::ALL {
        let client = Client::builder().mode(ConnectMode::Pin(version));
        let client = client.connect(&*served.url).await.unwrap();
        check(&client, &counts, version).await;
        client.close().await.unwrap();
    }
}

// spec: TOOL-14, TOOL-16, TOOL-18
#[tokio::test(flavor = "multi_thread")]
async fn relayed_schema_accepts_each_value_in_each_revision() {
    let (url, counts) = serve_tools();
    for version in ProtocolVersion::ALL {
        let mut proxy = Command::new(env!("CARGO_BIN_EXE_mcp"));
        proxy
            .args(["proxy", &url])
            .env("HOME", folder("returned_home"));
        let client = Client::builder().mode(ConnectMode::Pin(version));
        let client = client.connect(proxy).await.unwrap();
        check(&client, &counts, version).await;
        client.close().await.unwrap();
    }
}

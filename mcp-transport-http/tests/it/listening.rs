//! Subscriptions over sockets.

use std::sync::Arc;
use std::time::Duration;

use mcp_core::{
    BoxFuture, ChangeEvent, Changes, Exchange, Fault, MemoryBus, Reply, ServerProfile, Service,
};
use mcp_transport_http::{Serve, Shutdown, StreamableHttp};
use mcp_types::{Implementation, ServerCapabilities};
use tokio::net::TcpListener;

use crate::support::{Client, within};

struct Changing(Changes);

impl Service for Changing {
    fn profile(&self) -> Arc<ServerProfile> {
        let offers = ServerCapabilities::default().with_tools(true);
        let mut profile = ServerProfile::new(Implementation::new("test", "1"));
        profile.capabilities = offers;
        Arc::new(profile)
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        Box::pin(std::future::ready(Fault::Deadline.into()))
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.0.clone())
    }
}

#[tokio::test]
async fn disconnected_subscriptions_are_removed_and_others_complete_on_drain() {
    let bus = Arc::new(MemoryBus::default());
    let changes = Changes::from(bus.clone());
    let endpoint = StreamableHttp::new(Changing(changes.clone()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (addr, shutdown) = (listener.local_addr().unwrap(), Shutdown::new());
    let serve = Serve::service(endpoint).shutdown_with(shutdown.clone());
    let serving = tokio::spawn(serve.run(listener));

    let body = r#"{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: subscriptions/listen\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut clients = Vec::new();
    for _ in 0..10 {
        let mut client = Client::connect(addr).await;
        client.send(&request).await;
        client.until("subscriptions/acknowledged").await.unwrap();
        clients.push(client);
    }
    assert_eq!(
        (changes.active_subscriptions(), bus.subscriber_count()),
        (10, 10)
    );
    changes.publish(ChangeEvent::Tools);
    for client in &mut clients {
        client.until("tools/list_changed").await.unwrap();
    }
    let mut last = clients.pop().unwrap();
    drop(clients);
    within(async {
        while changes.active_subscriptions() > 1 || bus.subscriber_count() > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    shutdown.drain();
    let end = last.until("0\r\n\r\n").await.unwrap();
    assert!(end.contains(r#""resultType":"complete""#), "{end}");
    within(serving).await.unwrap().unwrap();
    assert_eq!(
        (changes.active_subscriptions(), bus.subscriber_count()),
        (0, 0)
    );
}

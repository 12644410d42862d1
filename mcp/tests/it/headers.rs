//! Headers that a client sends with every request.

use mcp::prelude::*;
use mcp::{ClientBuilder, HttpChannel};
use tokio::net::TcpListener;

/// A server whose tool returns two headers of its request.
fn server() -> Server {
    let format_headers = |Headers(headers): Headers| {
        let value = |name: &str| match headers.get(name) {
            Some(value) => value.to_str().unwrap_or_default().to_owned(),
            None => "none".to_owned(),
        };
        format!("{}, {}", value("authorization"), value("x-tenant"))
    };
    Server::new("mirror", "1.0.0").tool(Tool::new("headers").handler(format_headers))
}

#[tokio::test]
async fn client_headers_are_sent_with_every_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { mcp::serve_http(server(), listener).await.unwrap() });
    for mode in [
        ConnectMode::Pin(ProtocolVersion::LATEST),
        ConnectMode::Legacy,
    ] {
        let builder: ClientBuilder = Client::builder()
            .mode(mode)
            .bearer_token("secret")
            .header("x-tenant", "acme");
        let channel = HttpChannel::new(&url).unwrap();
        let channel = channel.header("x-tenant", "of the channel").unwrap();
        for client in [
            builder.clone().connect(url.as_str()).await.unwrap(),
            builder.clone().connect(channel).await.unwrap(),
        ] {
            let text = client.call("headers", ()).await.unwrap().text();
            assert_eq!(text, "Bearer secret, acme");
            let call = client.call("headers", ()).header("x-tenant", "of the call");
            assert_eq!(call.await.unwrap().text(), "Bearer secret, of the call");
            client.close().await.unwrap();
        }
        assert!(!format!("{builder:?}").contains("secret"));
    }
    serving.abort();

    let invalid = Client::builder().header("x tenant", "acme");
    let error = invalid.connect(url.as_str()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the header \"x tenant\" cannot be sent: its name or its value is invalid"
    );
}

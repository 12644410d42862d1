//! The endpoint in axum's server, and behind axum's router.

use std::time::Duration;

use axum::{Extension, Router};
use mcp_transport_http::{Serve, Shutdown};
use tokio::net::TcpListener;

use crate::support::{Running, drained, echo, endless, endpoint, within};

async fn serve(app: Router) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (addr, shutdown) = (listener.local_addr().unwrap(), Shutdown::new());
    let handle = shutdown.clone();
    let server =
        axum::serve(listener, app).with_graceful_shutdown(async move { handle.draining().await });
    Running {
        addr,
        shutdown,
        task: tokio::spawn(async move { Ok(server.await?) }),
    }
}

#[tokio::test]
async fn endpoint_serves_as_a_route_and_nested() {
    let route = Router::new().route_service("/mcp", endpoint(echo));
    let nested = Router::new().nest_service("/mcp", endpoint(echo));
    for app in [route, nested] {
        let server = serve(app).await;
        server.assert_serving().await;
        server.shutdown.drain();
        within(server.task).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn draining_serve_ends_streams_behind_a_router() {
    let (endpoint, begun, gone) = endless();
    let app = Router::new()
        .nest_service("/mcp", endpoint.commit_after(Duration::ZERO))
        .layer(Extension("of a layer"));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (addr, shutdown) = (listener.local_addr().unwrap(), Shutdown::new());
    let serve = Serve::service(app)
        .drain_timeout(Duration::from_millis(50))
        .shutdown_with(shutdown.clone());
    let server = Running {
        addr,
        shutdown,
        task: tokio::spawn(serve.run(listener)),
    };
    let rest = drained(&server, &begun).await;
    assert!(rest.contains("shutting down"), "{rest}");
    within(gone.notified()).await;
    server.stop().await;
}

//! The endpoint in somebody else's server.

use axum::Router;
use mcp_transport_http::Shutdown;

use crate::support::{Running, echo, endpoint, within};

async fn serve(app: Router) -> Running {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (addr, shutdown) = (listener.local_addr().unwrap(), Shutdown::new());
    let handle = shutdown.clone();
    let server =
        axum::serve(listener, app).with_graceful_shutdown(async move { handle.draining().await });
    Running {
        addr,
        shutdown,
        task: tokio::spawn(server.into_future()),
    }
}

#[tokio::test]
async fn as_a_route_and_nested() {
    let route = Router::new().route_service("/mcp", endpoint(echo));
    let nested = Router::new().nest_service("/mcp", endpoint(echo));
    for app in [route, nested] {
        let server = serve(app).await;
        server.assert_serving().await;
        server.shutdown.drain();
        within(server.task).await.unwrap().unwrap();
    }
}

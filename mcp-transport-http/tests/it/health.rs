//! `GET /health` and `GET /ready`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Request;
use mcp_transport_http::{HealthChecks, Serve};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::{advance, sleep};
use tower_service::Service as _;

use crate::support::{Client, Running, echo, endpoint, start, within};

async fn status(client: &mut Client, request: &str) -> (u16, String) {
    client
        .send(format!(
            "{request} HTTP/1.1\r\nHost: balancer.example.com\r\n\r\n"
        ))
        .await;
    let (head, body) = client.response().await.unwrap();
    (head.status, body)
}

/// Asks the checks as a service.
async fn ready(health: &HealthChecks) -> u16 {
    let request = Request::get("/ready").body(()).unwrap();
    let Ok(response) = health.clone().call(request).await;
    response.status().as_u16()
}

async fn get(server: &Running, path: &str) -> u16 {
    let mut client = server.connect().await;
    status(&mut client, &format!("GET {path}")).await.0
}

#[tokio::test]
async fn health_and_readiness_are_answered_for_every_host() {
    let check = || async { Err::<(), _>("the password is hunter2") };
    let health = HealthChecks::new().ready(check);
    let server = start(endpoint(echo), |serve| serve.health_checks(health)).await;
    let mut client = server.connect().await;
    let ok = (200, "ok\n".to_owned());
    assert_eq!(status(&mut client, "GET /health").await, ok);
    let (code, body) = status(&mut client, "GET /ready").await;
    assert_eq!((code, body.contains("hunter2")), (503, false));
    for (request, code) in [
        ("DELETE /ready", 405),
        ("GET /deep/health", 404),
        ("GET /other", 404),
    ] {
        assert_eq!(status(&mut client, request).await.0, code, "{request}");
    }
    server.assert_serving().await;
    server.stop().await;
}

#[tokio::test]
async fn server_without_health_checks_has_no_such_paths() {
    let server = start(endpoint(echo), |serve| serve).await;
    assert_eq!(get(&server, "/health").await, 404);
    assert_eq!(get(&server, "/ready").await, 404);
    server.stop().await;
}

#[tokio::test(start_paused = true)]
async fn check_runs_at_intervals_and_neither_hangs_nor_panics_the_server() {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let health = HealthChecks::new()
        .timeout(Duration::from_secs(1))
        .ready(move || {
            let run = count.fetch_add(1, Ordering::Relaxed);
            async move {
                match run {
                    0 => Ok(()),
                    1 => panic!("a defect"),
                    _ => {
                        sleep(Duration::from_secs(3600)).await;
                        Err("unreachable")
                    }
                }
            }
        });
    for _ in 0..10 {
        assert_eq!(ready(&health).await, 200);
    }
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    advance(Duration::from_secs(1)).await;
    assert_eq!(ready(&health).await, 503);
    advance(Duration::from_secs(1)).await;
    assert_eq!(ready(&health).await, 503);
    assert_eq!(runs.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn server_that_shuts_down_is_not_ready_and_serves_until_the_delay_ends() {
    let (stop, stopped) = oneshot::channel::<()>();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Serve::service(endpoint(echo))
        .health_checks(HealthChecks::new())
        .drain_delay(Duration::from_millis(500))
        .shutdown_on(async move { drop(stopped.await) });
    let task = tokio::spawn(serve.run(listener));
    let mut client = Client::connect(address).await;
    assert_eq!(status(&mut client, "GET /ready").await.0, 200);
    stop.send(()).unwrap();
    let mut code = 200;
    for _ in 0..100 {
        code = status(&mut client, "GET /ready").await.0;
        if code != 200 {
            break;
        }
        sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(code, 503);
    assert_eq!(status(&mut client, "GET /health").await.0, 200);
    let mut new = Client::connect(address).await;
    new.call("alive", false).await;
    assert_eq!(new.json().await["result"]["content"][0]["text"], "alive");
    within(task).await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

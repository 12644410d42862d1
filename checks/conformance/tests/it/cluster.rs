//! Three processes that share a Redis server, behind a proxy that sends each request to the next one.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use conformance::cluster::{Node, Proxy, RedisServer, free_port};
use http::StatusCode;
use mcp::prelude::*;
use mcp::{ConnectMode, ElicitRequest};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

/// Longer than every operation here, so that a hang fails the test.
const LIMIT: Duration = Duration::from_secs(60);
const NODES: usize = 3;

async fn redis() -> Option<RedisServer> {
    let redis = RedisServer::start().await.unwrap();
    if redis.is_none() {
        eprintln!("skipped: redis-server is not installed");
    }
    redis
}

async fn start(redis: &RedisServer) -> Node {
    let program = Path::new(env!("CARGO_BIN_EXE_everything-server"));
    Node::start(program, Some(&redis.url())).await.unwrap()
}

async fn start_all(redis: &RedisServer) -> Vec<Node> {
    let mut nodes = Vec::new();
    for _ in 0..NODES {
        nodes.push(start(redis).await);
    }
    nodes
}

fn addresses(nodes: &[Node]) -> Vec<String> {
    nodes.iter().map(|node| node.address().to_owned()).collect()
}

async fn client(url: &str, mode: ConnectMode) -> Client {
    let builder = Client::builder().mode(mode);
    let builder = builder.on_elicit(|form: ElicitRequest| async move {
        form.accept(json!({ "username": "ada", "email": "ada@example.com" }))
    });
    timeout(LIMIT, builder.connect(url)).await.unwrap().unwrap()
}

async fn ask(client: &Client) -> mcp::Result<String> {
    let call = client.call("test_elicitation", json!({ "message": "Who?" }));
    let result = timeout(LIMIT, call).await.expect("the call does not end")?;
    Ok(result.text())
}

#[tokio::test]
async fn sessions_survive_a_killed_node_behind_a_proxy() {
    let Some(redis) = redis().await else {
        return;
    };
    let mut nodes = start_all(&redis).await;
    let (proxy, url) = Proxy::start(addresses(&nodes), true).await.unwrap();
    for path in ["/health", "/ready"] {
        let status = proxy.status(nodes[0].address(), path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
    }
    let legacy = client(&url, ConnectMode::Legacy).await;
    let modern = client(&url, ConnectMode::Auto).await;
    // Each message of a call reaches another node than the one before.
    for _ in 0..5 {
        for client in [&legacy, &modern] {
            let text = ask(client).await.unwrap();
            assert!(text.contains("accept"), "{text}");
        }
    }
    // The proxy learns from a refused connection that the node has ended.
    nodes.remove(0).kill().await.unwrap();
    for _ in 0..5 {
        for client in [&legacy, &modern] {
            let text = ask(client).await.unwrap();
            assert!(text.contains("accept"), "{text}");
        }
    }
    // A node that starts again takes part at once.
    nodes.push(start(&redis).await);
    proxy.set_nodes(addresses(&nodes));
    for _ in 0..3 {
        assert!(ask(&legacy).await.unwrap().contains("accept"));
    }
    assert_eq!(proxy.opened_sessions(), 1);
}

#[tokio::test]
async fn rolling_restart_at_all_nodes_fails_no_call() {
    let Some(redis) = redis().await else {
        return;
    };
    let mut nodes = start_all(&redis).await;
    let (proxy, url) = Proxy::start(addresses(&nodes), false).await.unwrap();
    let clients = [ConnectMode::Legacy, ConnectMode::Auto].map(|mode| {
        let url = url.clone();
        async move { client(&url, mode).await }
    });
    let clients = futures_util::future::join_all(clients).await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let callers: Vec<_> = clients
        .into_iter()
        .map(|client| {
            let stopped = stopped.clone();
            tokio::spawn(async move {
                let mut calls = 0;
                while !*stopped.borrow() {
                    assert!(ask(&client).await.unwrap().contains("accept"));
                    let progress = client.call("test_tool_with_progress", json!({}));
                    let progress = timeout(LIMIT, progress).await.unwrap().unwrap();
                    assert!(progress.text().contains("successfully"));
                    calls += 1;
                }
                calls
            })
        })
        .collect();
    for _ in 0..NODES {
        let old = nodes.remove(0);
        old.terminate().await.unwrap();
        // As a load balancer does, the proxy stops to send requests when the node is not ready.
        while proxy.status(old.address(), "/ready").await == StatusCode::OK {
            sleep(Duration::from_millis(20)).await;
        }
        proxy.set_nodes(addresses(&nodes));
        assert!(timeout(LIMIT, old.wait()).await.unwrap().unwrap().success());
        nodes.push(start(&redis).await);
        proxy.set_nodes(addresses(&nodes));
    }
    stop.send(true).unwrap();
    for caller in callers {
        assert!(caller.await.unwrap() > 0);
    }
    assert_eq!(proxy.opened_sessions(), 1);
}

#[tokio::test]
async fn task_is_answered_and_ended_by_other_nodes() {
    let Some(redis) = redis().await else {
        return;
    };
    let nodes = start_all(&redis).await;
    let (_proxy, url) = Proxy::start(addresses(&nodes), true).await.unwrap();
    let builder = Client::builder().tasks();
    let client = timeout(LIMIT, builder.connect(url.as_str())).await.unwrap();
    let client = client.unwrap();
    let call = client.call("slow_compute", json!({ "seconds": 0.5 }));
    let handle = timeout(LIMIT, call.start()).await.unwrap().unwrap();
    assert!(handle.id().is_some());
    let result = timeout(LIMIT, handle.result()).await.unwrap().unwrap();
    assert!(result.text().contains("finished"), "{}", result.text());
}

/// Returns the configuration that `mcp new` writes, for these nodes and this port.
fn nginx_configuration(nodes: &[Node], port: u16, folder: &Path) -> String {
    let template = include_str!("../../../../products/mcp-cli/templates/deploy/nginx.conf");
    let server = "server node:8000 max_fails=1 fail_timeout=2s;";
    assert!(template.contains(server), "{template}");
    let servers = nodes
        .iter()
        .map(|node| server.replace("node:8000", node.address()));
    let servers: String = servers.collect();
    let configured = template.replace(server, &servers);
    let configured = configured.replace("listen 80;", &format!("listen 127.0.0.1:{port};"));
    let folder = folder.display();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n\
         events {{}}\nhttp {{\naccess_log off;\nclient_body_temp_path {folder}/body;\n\
         proxy_temp_path {folder}/proxy;\nfastcgi_temp_path {folder}/fastcgi;\n\
         uwsgi_temp_path {folder}/uwsgi;\nscgi_temp_path {folder}/scgi;\n{configured}}}\n"
    )
}

#[tokio::test]
async fn documented_nginx_configuration_serves_three_nodes() {
    let Some(redis) = redis().await else {
        return;
    };
    let nginx = ["nginx", "/usr/sbin/nginx"];
    let is_installed = |program: &&&str| {
        let mut version = std::process::Command::new(program);
        version.arg("-v").stderr(Stdio::null()).status().is_ok()
    };
    let Some(program) = nginx.iter().find(is_installed) else {
        eprintln!("skipped: nginx is not installed");
        return;
    };
    let mut nodes = start_all(&redis).await;
    let folder = std::env::temp_dir().join(format!("mcp-nginx-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let port = free_port().unwrap();
    let file = folder.join("nginx.conf");
    std::fs::write(&file, nginx_configuration(&nodes, port, &folder)).unwrap();
    let mut command = Command::new(program);
    command.arg("-p").arg(&folder).arg("-c").arg(&file);
    let _nginx = command.kill_on_drop(true).spawn().unwrap();
    for _ in 0..500 {
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    let url = format!("http://127.0.0.1:{port}/mcp");
    let legacy = client(&url, ConnectMode::Legacy).await;
    let modern = client(&url, ConnectMode::Auto).await;
    let both = async || {
        for client in [&legacy, &modern] {
            assert!(ask(client).await.unwrap().contains("accept"));
            let mut seen = Vec::new();
            let call = client.call("test_tool_with_progress", json!({}));
            let call = call.on_progress(|progress| seen.push(progress.progress));
            timeout(LIMIT, call).await.unwrap().unwrap();
            assert_eq!(seen, [0.0, 50.0, 100.0]);
        }
    };
    for _ in 0..4 {
        both().await;
    }
    nodes.remove(0).kill().await.unwrap();
    // Connections that nginx keeps to the killed node are gone after their first use.
    sleep(Duration::from_millis(100)).await;
    for _ in 0..4 {
        both().await;
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

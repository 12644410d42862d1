//! Servers whose lists change, over connections that break.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::StreamExt;
use mcp::Group;
use mcp::group::{GroupEvent, Health};
use mcp::prelude::*;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Upper bound of every wait; reached only if a test fails.
const LIMIT: Duration = Duration::from_secs(20);

const ERAS: [ConnectMode; 2] = [
    ConnectMode::Pin(ProtocolVersion::LATEST),
    ConnectMode::Legacy,
];

/// A server behind a TCP proxy that can cut all connections.
struct Proxied {
    url: String,
    tools: Tools,
    cuts: watch::Sender<()>,
    tasks: Vec<JoinHandle<()>>,
}

impl Proxied {
    async fn start(server: Server) -> Self {
        let tools = server.tools();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move { mcp::serve_http(server, listener).await.unwrap() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let cuts = watch::Sender::new(());
        let proxying = tokio::spawn(proxy(listener, upstream, cuts.clone()));
        Self {
            url,
            tools,
            cuts,
            tasks: vec![serving, proxying],
        }
    }

    /// Closes all connections. New connections are accepted immediately.
    fn cut(&self) {
        self.cuts.send_replace(());
    }
}

impl Drop for Proxied {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn proxy(listener: TcpListener, upstream: SocketAddr, cuts: watch::Sender<()>) {
    while let Ok((mut downstream, _)) = listener.accept().await {
        let mut cut = cuts.subscribe();
        tokio::spawn(async move {
            let Ok(mut upstream) = TcpStream::connect(upstream).await else {
                return;
            };
            tokio::select! {
                _ = copy_bidirectional(&mut downstream, &mut upstream) => {}
                _ = cut.changed() => {}
            }
        });
    }
}

fn tool(name: &str) -> mcp::ToolRoute {
    Tool::new(name).handler(|| "called")
}

fn server() -> Server {
    let hour = CacheHint::public(Duration::from_secs(3600));
    Server::new("s", "1").tool(tool("a")).tools_cache(hour)
}

async fn within<W: IntoFuture>(work: W) -> W::Output {
    timeout(LIMIT, work.into_future()).await.expect("timeout")
}

async fn names(client: &Client) -> Vec<String> {
    let tools = within(client.list_tools()).await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn subscription_survives_broken_connection() {
    for mode in ERAS {
        let server = Proxied::start(server()).await;
        let client = Client::builder()
            .mode(mode)
            .connect(&server.url)
            .await
            .unwrap();
        let mut changes = within(client.changes().tools_changed()).await.unwrap();
        server.tools.add(tool("b")).unwrap();
        assert_eq!(
            within(changes.next()).await.unwrap().unwrap(),
            Change::Tools
        );
        server.cut();
        let missed = within(changes.next()).await.unwrap().unwrap();
        let Change::Missed(missed) = missed else {
            panic!("{missed:?}")
        };
        assert!(missed.tools_list_changed);
        server.tools.add(tool("c")).unwrap();
        assert_eq!(
            within(changes.next()).await.unwrap().unwrap(),
            Change::Tools
        );
        assert_eq!(names(&client).await, ["a", "b", "c"]);
        within(client.close()).await.unwrap();
    }
}

#[tokio::test]
async fn change_invalidates_cached_list() {
    for mode in ERAS {
        let server = Proxied::start(server()).await;
        let client = Client::builder()
            .mode(mode)
            .connect(&server.url)
            .await
            .unwrap();
        let mut changes = within(client.changes().tools_changed()).await.unwrap();
        assert_eq!(names(&client).await, ["a"]);
        server.tools.add(tool("b")).unwrap();
        // spec: CACHE-05
        assert_eq!(
            within(changes.next()).await.unwrap().unwrap(),
            Change::Tools
        );
        assert_eq!(names(&client).await, ["a", "b"]);

        // A change during the interruption: after it, cached lists are stale.
        server.cut();
        server.tools.add(tool("c")).unwrap();
        let missed = within(changes.next()).await.unwrap().unwrap();
        assert!(matches!(missed, Change::Missed(_)), "{missed:?}");
        assert_eq!(names(&client).await, ["a", "b", "c"]);
    }
}

#[tokio::test]
async fn group_of_both_eras_reports_changes() {
    let (modern, legacy) = (
        Proxied::start(server()).await,
        Proxied::start(server()).await,
    );
    let mut group = Group::builder();
    for ((name, proxied), mode) in [("modern", &modern), ("legacy", &legacy)]
        .into_iter()
        .zip(ERAS)
    {
        let client = Client::builder().mode(mode);
        group = group.target(name, proxied.url.clone(), client);
    }
    let group = group.build();
    let mut events = group.events();
    let tools = within(group.list_tools()).await;
    let names: Vec<_> = tools.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["modern__a", "legacy__a"]);
    let mut running = 0;
    while running < 2 {
        let event = within(events.next()).await.unwrap();
        running += usize::from(matches!(
            event,
            GroupEvent::Health {
                health: Health::Running,
                ..
            }
        ));
    }
    // The subscription starts some time after the server is running; changes before are not reported.
    for (name, proxied) in [("modern", &modern), ("legacy", &legacy)] {
        within(async {
            for count in 0.. {
                proxied.tools.add(tool(&format!("b{count}"))).unwrap();
                let event = timeout(Duration::from_millis(200), events.next()).await;
                if let Ok(Some(GroupEvent::Changed { server, change, .. })) = event
                    && &*server == name
                {
                    assert_eq!(change, Change::Tools);
                    return;
                }
            }
        })
        .await;
        let called = within(group.call(&format!("{name}__b0"), ())).await;
        assert_eq!(called.unwrap().text(), "called");
    }
    within(group.close()).await;
}

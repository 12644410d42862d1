//! Servers that change, over sockets that break.

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

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(20);

const ERAS: [ConnectMode; 2] = [
    ConnectMode::Pin(ProtocolVersion::LATEST),
    ConnectMode::Legacy,
];

/// A server that is reached over a line which can be cut.
struct Line {
    url: String,
    tools: Tools,
    cuts: watch::Sender<()>,
    tasks: Vec<JoinHandle<()>>,
}

impl Line {
    async fn to(server: Server) -> Self {
        let tools = server.tools();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let there = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move { mcp::serve_http(server, listener).await.unwrap() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let cuts = watch::Sender::new(());
        let passing = tokio::spawn(pass(listener, there, cuts.clone()));
        Self {
            url,
            tools,
            cuts,
            tasks: vec![serving, passing],
        }
    }

    /// Ends all connections; new ones can be made at once.
    fn cut(&self) {
        self.cuts.send_replace(());
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn pass(listener: TcpListener, there: SocketAddr, cuts: watch::Sender<()>) {
    while let Ok((mut here, _)) = listener.accept().await {
        let mut cut = cuts.subscribe();
        tokio::spawn(async move {
            let Ok(mut there) = TcpStream::connect(there).await else {
                return;
            };
            tokio::select! {
                _ = copy_bidirectional(&mut here, &mut there) => {}
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
    timeout(LIMIT, work.into_future())
        .await
        .expect("it takes too long")
}

async fn names(client: &Client) -> Vec<String> {
    let tools = within(client.list_all_tools()).await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn a_subscription_outlives_its_connection() {
    for mode in ERAS {
        let line = Line::to(server()).await;
        let client = Client::builder()
            .mode(mode)
            .connect(&line.url)
            .await
            .unwrap();
        let mut changes = within(client.changes().tools_changed()).await.unwrap();
        line.tools.add(tool("b")).unwrap();
        assert_eq!(
            within(changes.next()).await.unwrap().unwrap(),
            Change::Tools
        );
        line.cut();
        let missed = within(changes.next()).await.unwrap().unwrap();
        let Change::Missed(missed) = missed else {
            panic!("{missed:?}")
        };
        assert!(missed.tools_list_changed);
        line.tools.add(tool("c")).unwrap();
        assert_eq!(
            within(changes.next()).await.unwrap().unwrap(),
            Change::Tools
        );
        assert_eq!(names(&client).await, ["a", "b", "c"]);
        within(client.close()).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_kept_is_forgotten_when_it_changes() {
    for mode in ERAS {
        let line = Line::to(server()).await;
        let client = Client::builder()
            .mode(mode)
            .connect(&line.url)
            .await
            .unwrap();
        let mut changes = within(client.changes().tools_changed()).await.unwrap();
        assert_eq!(names(&client).await, ["a"]);
        line.tools.add(tool("b")).unwrap();
        // spec: CACHE-05
        assert_eq!(
            within(changes.next()).await.unwrap().unwrap(),
            Change::Tools
        );
        assert_eq!(names(&client).await, ["a", "b"]);

        // A change that nobody could hear of: nothing that was kept is taken for fresh any more.
        line.cut();
        line.tools.add(tool("c")).unwrap();
        let missed = within(changes.next()).await.unwrap().unwrap();
        assert!(matches!(missed, Change::Missed(_)), "{missed:?}");
        assert_eq!(names(&client).await, ["a", "b", "c"]);
    }
}

#[tokio::test]
async fn a_group_of_both_eras() {
    let (new, old) = (Line::to(server()).await, Line::to(server()).await);
    let mut group = Group::builder();
    for ((name, line), mode) in [("new", &new), ("old", &old)].into_iter().zip(ERAS) {
        let client = Client::builder().mode(mode);
        group = group.target(name, line.url.clone(), client);
    }
    let group = group.build();
    let mut events = group.events();
    let catalogue = within(group.list_tools()).await;
    let names: Vec<_> = catalogue.items.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["new__a", "old__a"]);
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
    // Listening begins some time after the start: until then there is nothing to hear.
    for (name, line) in [("new", &new), ("old", &old)] {
        within(async {
            for count in 0.. {
                line.tools.add(tool(&format!("b{count}"))).unwrap();
                let heard = timeout(Duration::from_millis(200), events.next()).await;
                if let Ok(Some(GroupEvent::Changed { server, change, .. })) = heard
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

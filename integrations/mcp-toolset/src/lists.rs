//! The tools of a set: requested from the servers, compared with the pins, and kept while nothing has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use mcp_client::group::Group;
use mcp_client::{Client, Error};
use mcp_types::Tool;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::JoinError;
use tokio::time::timeout;

use crate::definition::Definition as _;
use crate::logged::Logged;
use crate::names::Names;
use crate::pins::PinFile;
use crate::search::CALL_TOOL;

/// Longest wait of a call for lists that are known already.
const LIST_LIMIT: Duration = Duration::from_secs(1);

/// Longest time in which an unchanged list is not compared with the pins again: a file that could not be written may be
/// writable by then.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

type Filter = Arc<dyn Fn(&Tool) -> bool + Send + Sync>;

/// The servers of a set.
#[derive(Clone)]
pub(crate) enum Source {
    Group(Group),
    Client(Client),
}

/// The lists of a set's servers.
pub(crate) struct Lists {
    source: Source,
    /// The name of a client's server.
    pub(crate) server_name: Arc<str>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) pins: Option<PinFile>,
    /// The names of the set's own tools.
    pub(crate) own: BTreeSet<&'static str>,
    last: Mutex<Option<Made>>,
    /// The request for lists that runs.
    pending: Mutex<Option<Gathering>>,
    logged: Mutex<Logged>,
}

/// A list, and what it was made of.
#[derive(Clone)]
struct Made {
    gathered: Arc<Gathered>,
    /// The tools that the filters accept, by place.
    accepted: Vec<bool>,
    /// The number of the pin file before it was compared.
    pins: u64,
    at: Instant,
    list: Arc<List>,
}

/// A request for lists. `None`: it has panicked.
type Gathering = Shared<BoxFuture<'static, Option<Result<Arc<Gathered>, Arc<Error>>>>>;

/// The answers of the servers.
struct Gathered {
    /// All servers, also those without tools.
    servers: Vec<Arc<str>>,
    items: Vec<Item>,
    failures: Vec<(Arc<str>, Error)>,
}

#[derive(PartialEq)]
struct Item {
    server: Arc<str>,
    /// The tool's name on its server.
    own: String,
    /// The tool with its name in the set.
    tool: Tool,
}

/// The tools that are offered.
#[derive(Default)]
pub(crate) struct List {
    pub(crate) tools: Vec<Tool>,
    pub(crate) names: Names,
    /// The tools' servers, and their own names there, by tool name.
    origins: BTreeMap<String, (Arc<str>, String)>,
    /// The names of tools that are held.
    pub(crate) held: BTreeSet<String>,
}

impl Source {
    /// Requests the tools from all servers.
    async fn gather(self, server_name: Arc<str>) -> Result<Gathered, Error> {
        match self {
            Self::Client(client) => {
                let mut tools = client.list_tools().await?;
                // Of two tools with one name, the first counts, as in groups and lock files.
                let mut seen = BTreeSet::new();
                tools.retain(|tool| seen.insert(tool.name.clone()));
                let items = tools.into_iter().map(|tool| Item {
                    server: server_name.clone(),
                    own: tool.name.clone(),
                    tool,
                });
                Ok(Gathered {
                    items: items.collect(),
                    servers: vec![server_name],
                    failures: Vec::new(),
                })
            }
            Self::Group(group) => {
                let list = group.list_tools().await;
                let items = list.items.into_iter().map(|listed| {
                    let mut tool = listed.item;
                    Item {
                        server: listed.server,
                        own: mem::replace(&mut tool.name, listed.name),
                        tool,
                    }
                });
                let servers = group.health().into_iter().map(|(server, _)| server);
                Ok(Gathered {
                    items: items.collect(),
                    servers: servers.collect(),
                    failures: list.failures,
                })
            }
        }
    }
}

impl Gathered {
    /// Returns the servers that have failed.
    fn failed(&self) -> Vec<&Arc<str>> {
        self.failures.iter().map(|(server, _)| server).collect()
    }

    /// Returns true for equal answers. Schemas that a client keeps are compared by their addresses.
    fn is_same(&self, other: &Self) -> bool {
        self.servers == other.servers
            && self.failed() == other.failed()
            && self.items == other.items
    }
}

impl Lists {
    pub(crate) fn new(source: Source) -> Self {
        Self {
            source,
            server_name: "".into(),
            filters: Vec::new(),
            pins: None,
            own: BTreeSet::new(),
            last: Mutex::default(),
            pending: Mutex::default(),
            logged: Mutex::default(),
        }
    }

    fn is_deferred(&self) -> bool {
        self.own.contains(CALL_TOOL)
    }

    /// Returns the list that was made last. Before the first one, it is empty.
    pub(crate) fn last(&self) -> Arc<List> {
        let last = self.last.lock();
        last.as_ref()
            .map(|made| made.list.clone())
            .unwrap_or_default()
    }

    /// Requests the tools from all servers.
    pub(crate) async fn list(&self) -> Result<Arc<List>, Error> {
        let gathering = self.source.clone().gather(self.server_name.clone());
        let gathered = Arc::new(gathering.await?);
        Ok(self.list_of(gathered).await)
    }

    /// Returns the list that the model knows. Before the first definitions, it is requested. A deferred set follows changes.
    pub(crate) async fn current(&self) -> Result<Arc<List>, Arc<Error>> {
        let last = self.last();
        if last.tools.is_empty() {
            return self.list().await.map_err(Arc::new);
        }
        if !self.is_deferred() {
            return Ok(last);
        }
        let Ok(runtime) = Handle::try_current() else {
            return self.list().await.map_err(Arc::new);
        };
        self.list_in_time(&runtime).await.unwrap_or(Ok(last))
    }

    /// Requests the list of tools. `None`: a server has not answered in time. The request goes on, and the next one takes its
    /// answer: a server that does not answer does not delay the others for longer.
    async fn list_in_time(&self, runtime: &Handle) -> Option<Result<Arc<List>, Arc<Error>>> {
        let gathering = {
            let mut pending = self.pending.lock();
            let running = pending.take().filter(|running| running.peek().is_none());
            let start = || {
                let gathering = self.source.clone().gather(self.server_name.clone());
                let listing = runtime.spawn(gathering);
                async move { Some(listing.await.ok()?.map(Arc::new).map_err(Arc::new)) }
                    .boxed()
                    .shared()
            };
            pending.insert(running.unwrap_or_else(start)).clone()
        };
        match timeout(LIST_LIMIT, gathering).await.ok()?? {
            Ok(gathered) => Some(Ok(self.list_of(gathered).await)),
            Err(error) => Some(Err(error)),
        }
    }

    /// Makes the list of what the servers have answered, unless it is the former one.
    async fn list_of(&self, gathered: Arc<Gathered>) -> Arc<List> {
        let pins = self.pins_number().await;
        let accepted = gathered.items.iter().map(|item| self.accepts(&item.tool));
        let accepted: Vec<bool> = accepted.collect();
        if let Some(made) = self.unchanged(&gathered, &accepted, pins) {
            return made;
        }
        self.logged.lock().warn_of_failures(&gathered.failures);
        // Also servers without tools: tools that follow later are new.
        let failed = gathered.failed();
        let mut by_server: BTreeMap<&Arc<str>, Vec<&Item>> = BTreeMap::new();
        for server in gathered
            .servers
            .iter()
            .filter(|server| !failed.contains(server))
        {
            by_server.insert(server, Vec::new());
        }
        for item in &gathered.items {
            by_server.entry(&item.server).or_default().push(item);
        }
        let mut held = BTreeSet::new();
        for (server, items) in by_server {
            held.extend(self.held(server, items).await);
        }
        // Also those that are left out or held: no other tool answers to their names.
        let all = gathered.items.iter().map(|item| &*item.tool.name);
        let own: Vec<&str> = self.own.iter().copied().collect();
        // The name that a model is shown is the one that it calls: a search shows the tools' own names.
        let names = if self.is_deferred() {
            Names::own(all, &own)
        } else {
            Names::new(all, &own)
        };
        let mut list = List {
            names,
            ..List::default()
        };
        for (item, _) in gathered
            .items
            .iter()
            .zip(&accepted)
            .filter(|(_, accepted)| **accepted)
        {
            let name = &item.tool.name;
            if held.contains(name) {
                list.held.insert(name.clone());
            } else {
                let origin = (item.server.clone(), item.own.clone());
                list.origins.insert(name.clone(), origin);
                list.tools.push(item.tool.clone());
            }
        }
        let list = Arc::new(list);
        *self.last.lock() = Some(Made {
            gathered,
            accepted,
            pins,
            at: Instant::now(),
            list: list.clone(),
        });
        list
    }

    fn accepts(&self, tool: &Tool) -> bool {
        !self.own.contains(&*tool.name) && self.filters.iter().all(|filter| filter(tool))
    }

    /// Returns the list that was made of the same answers, filters and pins.
    fn unchanged(&self, gathered: &Gathered, accepted: &[bool], pins: u64) -> Option<Arc<List>> {
        let made = self.last.lock().clone()?;
        let is_checked = made.list.held.is_empty() || made.at.elapsed() < CHECK_INTERVAL;
        let is_same = is_checked
            && made.pins == pins
            && made.accepted == accepted
            && made.gathered.is_same(gathered);
        is_same.then_some(made.list)
    }

    /// Returns the number of the pin file, which another process may have changed.
    async fn pins_number(&self) -> u64 {
        let Some(pins) = self.pins.clone() else {
            return 0;
        };
        let refreshed = run_blocking(move || pins.refresh()).await;
        refreshed.unwrap_or_default()
    }

    /// Compares the tools of a server with the pins. Returns the names of those that are held.
    async fn held(&self, server: &Arc<str>, items: Vec<&Item>) -> Vec<String> {
        let Some(pins) = &self.pins else {
            return Vec::new();
        };
        let listed = items.iter().map(|item| {
            let mut tool = item.tool.clone();
            tool.name.clone_from(&item.own);
            tool
        });
        let listed: Arc<Vec<Tool>> = Arc::new(listed.collect());
        let (file, name, checked) = (pins.clone(), server.clone(), listed.clone());
        if let Err(error) = run_blocking(move || file.check(&name, &checked)).await {
            // What was not recorded is not offered.
            tracing::error!(error = %mcp_types::escaped(&error), "the pins cannot be checked");
        }
        let items = items.iter().zip(&*listed);
        let held = items.filter(|(_, tool)| pins.offered(server, *tool).is_none());
        held.map(|(item, _)| item.tool.name.clone()).collect()
    }

    /// Returns the client of a server.
    pub(crate) async fn client(&self, server: &str) -> Result<Client, Error> {
        match &self.source {
            Source::Group(group) => group.client(server).await,
            Source::Client(client) => Ok(client.clone()),
        }
    }

    /// Returns whether the server still has the tool with this definition.
    pub(crate) async fn still_has(&self, list: &List, tool: &Tool) -> bool {
        let (server, own) = list.origin(&tool.name);
        // No other server delays the call.
        let listed = async { self.client(&server).await?.list_tools().await };
        let mut listed = listed.await.into_iter().flatten();
        // Of two tools with one name, the first counts.
        let Some(mut now) = listed.find(|other| other.name == own) else {
            return false;
        };
        now.name.clone_from(&tool.name);
        now.pinned() == tool.pinned()
    }
}

/// Runs work with the file of pins, on a thread for blocking work in a Tokio runtime: another process may have the lock.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    match Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await,
        Err(_) => Ok(work()),
    }
}

impl List {
    /// Returns the server of a tool of this list and its own name there.
    pub(crate) fn origin(&self, name: &str) -> (Arc<str>, String) {
        self.origins.get(name).cloned().unwrap_or_default()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Tool> {
        let own = self.names.find(name)?;
        self.tools.iter().find(|tool| tool.name == own)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use mcp::InProcess;
    use mcp::group::Group;
    use mcp::prelude::*;

    use super::{Lists, Source};
    use crate::pins::PinFile;

    #[tokio::test]
    async fn unchanged_list_is_made_once() {
        let server = Arc::new(Server::new("files", "1.0.0"));
        let tools = server.tools();
        tools.put(Tool::new("read").handler(|| "read")).unwrap();
        let served = server.clone();
        let group = Group::builder()
            .server("files", move || Client::connect(InProcess(served.clone())))
            .build();
        let client = Client::connect(InProcess(server.clone())).await.unwrap();
        let folder = std::env::temp_dir().join(format!("mcp-made-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for source in [Source::Group(group), Source::Client(client)] {
            let file = folder.join("mcp.lock");
            let _ = std::fs::remove_file(&file);
            let accepts = Arc::new(AtomicBool::new(true));
            let filter = accepts.clone();
            let mut lists = Lists::new(source);
            lists.pins = Some(PinFile::open(&file).unwrap());
            lists.filters = vec![Arc::new(move |_| filter.load(Ordering::Relaxed))];
            let list = async || lists.list().await.unwrap();
            // The first list writes the file.
            list().await;
            let first = list().await;
            assert!(Arc::ptr_eq(&first, &list().await));
            // A filter is asked again.
            accepts.store(false, Ordering::Relaxed);
            assert!(list().await.tools.is_empty());
            accepts.store(true, Ordering::Relaxed);
            tools.put(Tool::new("write").handler(|| "written")).unwrap();
            let held = async {
                while list().await.held.is_empty() {
                    tokio::task::yield_now().await;
                }
            };
            let limit = std::time::Duration::from_secs(20);
            tokio::time::timeout(limit, held).await.unwrap();
            assert!(Arc::ptr_eq(&list().await, &list().await));
            // A user approves it with another process.
            let user = PinFile::open(&file).unwrap();
            assert!(user.approve(&user.held()[0]).unwrap());
            assert_eq!(list().await.tools.len(), 2);
            tools.remove("write");
        }
    }
}

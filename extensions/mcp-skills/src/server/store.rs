//! The current catalog: its changes by the program, and its refresh when files change.

use std::sync::Arc;

use mcp_server::Notify;
use parking_lot::{Mutex, RwLock};

use super::catalog::{Catalog, CatalogChanges};
use super::error::SkillsError;
use super::file::SkillFile;
use super::folder::Folder;
use super::generator::FileBytes;
use super::state::{Scan, State};

/// A server's skills.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) state: Mutex<State>,
    current: RwLock<Arc<Catalog>>,
    /// Held while the folders are walked. `state` is never locked meanwhile.
    walk: Mutex<()>,
    /// The servers that announce changes by the program.
    servers: Mutex<Vec<Notify>>,
}

/// The catalog, and the changes that this call has noticed.
pub(crate) type Checked = (Arc<Catalog>, CatalogChanges);

impl Store {
    /// Returns the current catalog.
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        self.current.read().clone()
    }

    /// Adds a server that announces changes by the program, until it is dropped.
    pub(crate) fn add_server(&self, notify: Notify) {
        let mut servers = self.servers.lock();
        servers.retain(|server| !server.is_gone());
        servers.push(notify);
    }

    /// Changes the skills from code, and announces the changes. An error changes nothing.
    pub(super) fn edit<T>(
        &self,
        change: impl FnOnce(&mut State) -> Result<T, SkillsError>,
    ) -> Result<T, SkillsError> {
        let (value, changes) = {
            let mut state = self.state.lock();
            let mut next = state.clone();
            let value = change(&mut next)?;
            (value, self.replace(&mut state, next)?)
        };
        let servers = self.servers.lock().clone();
        servers.iter().for_each(|server| changes.announce(server));
        Ok(value)
    }

    fn replace(&self, state: &mut State, next: State) -> Result<CatalogChanges, SkillsError> {
        let catalog = Arc::new(next.catalog()?);
        *state = next;
        let mut current = self.current.write();
        let changes = current.changes_to(&catalog);
        *current = catalog;
        Ok(changes)
    }

    /// Adds a folder's skills. Blocks on files.
    pub(super) fn add_folder(&self, folder: Folder) -> Result<(), SkillsError> {
        self.walk(Some(folder), true).map(drop)
    }

    /// Walks the folders, and one more, and replaces the catalog. With `by_stamp`, files with the same stamp
    /// are not read again.
    fn walk(&self, folder: Option<Folder>, by_stamp: bool) -> Result<CatalogChanges, SkillsError> {
        let _held = self.walk.lock();
        let (mut folders, limits) = {
            let state = self.state.lock();
            (state.folders.clone(), state.limits)
        };
        folders.extend(folder.map(Arc::new));
        let known = if by_stamp {
            self.catalog()
        } else {
            Arc::default()
        };
        let scan = Scan::new(&folders, &limits, &known)?;
        let mut state = self.state.lock();
        let mut next = state.clone();
        next.folders = folders;
        next.scan = scan;
        self.replace(&mut state, next)
    }

    /// Returns the catalog. Looks for changed files first if the folders are watched. Blocks on files.
    pub(crate) fn check(&self) -> Checked {
        if self.is_watched() {
            self.refresh(true)
        } else {
            (self.catalog(), CatalogChanges::default())
        }
    }

    fn is_watched(&self) -> bool {
        let state = self.state.lock();
        state.is_watched && !state.folders.is_empty()
    }

    fn refresh(&self, by_stamp: bool) -> Checked {
        let changes = self.walk(None, by_stamp).unwrap_or_else(|error| {
            tracing::warn!(error = %mcp_types::escaped(&error), "changed skills not served: the former ones stay");
            CatalogChanges::default()
        });
        (self.catalog(), changes)
    }

    /// Reads a file by its decoded path, and returns the changes that were noticed meanwhile. Blocks on files.
    ///
    /// Bytes that differ from the published digest are never returned: the catalog is rebuilt if the
    /// folders are watched, and the file is refused otherwise.
    pub(crate) fn read(&self, path: &str) -> (ReadFile, CatalogChanges) {
        let file = self.catalog().files.get(path).cloned();
        let is_known = file.is_some();
        if let Some(file) = file {
            let outcome = read_file(file);
            if outcome.is_ok() || !self.is_watched() {
                return (outcome, CatalogChanges::default());
            }
        }
        let (catalog, changes) = if is_known {
            self.refresh(false)
        } else {
            self.check()
        };
        let file = catalog.files.get(path).cloned();
        let outcome = file.map_or(Err(ReadError::Unknown), read_file);
        (outcome, changes)
    }
}

impl CatalogChanges {
    /// Notifies a server's subscribed clients.
    pub(crate) fn announce(&self, server: &Notify) {
        if self.is_list_changed {
            server.resources_changed();
        }
        for uri in &self.changed_files {
            server.resource_updated(uri.as_str());
        }
    }
}

pub(crate) type ReadFile = Result<(Arc<SkillFile>, FileBytes), ReadError>;

pub(crate) enum ReadError {
    /// No skill has this file.
    Unknown,
    /// The file differs from its published digest.
    Changed,
    Failed(SkillsError),
}

fn read_file(file: Arc<SkillFile>) -> ReadFile {
    match file.read() {
        Ok(Some(bytes)) => Ok((file, bytes)),
        Ok(None) => Err(ReadError::Changed),
        Err(error) => Err(ReadError::Failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use mcp_server::Server;

    use super::Store;

    #[test]
    fn dropped_servers_are_forgotten() {
        let store = Store::default();
        let server = Server::new("s", "1");
        store.add_server(server.notify());
        for _ in 0..10 {
            store.add_server(Server::new("short-lived", "1").notify());
        }
        assert_eq!(store.servers.lock().len(), 2);
    }
}

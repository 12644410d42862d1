//! Tools and prompts whose definitions a user has approved: [`PinFile`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_client::catalog::{Diff, Snapshot, SnapshotError};
use mcp_client::group::{Consent, ConsentError, Consents, Subject};
use mcp_core::Pace;
use mcp_types::{escape_line, escaped};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::definition::{Definition, PROMPT, TOOL};
use crate::rank::cut;

/// Bytes of one server's tools, or of its prompts, as the file has them: a sixteenth of its limit. Those of a server with more
/// are not offered, so that it does not fill the file of all servers.
const MAX_SERVER_BYTES: usize = 4 << 20;
/// Largest number of held items that are logged at once.
const MAX_LOGGED: usize = 20;
/// Length of a difference in the log, in characters.
const MAX_DIFFERENCE: usize = 500;
/// Changes of a server that are logged and written at once, and the time after which one more is. What is between them is held
/// in memory.
const MAX_CHANGES: u32 = 10;
const CHANGE_INTERVAL: Duration = Duration::from_secs(30);

/// A lock file with the definitions that a user has approved, so that a server cannot change what a model reads.
///
/// The file has name, title, description, schemas and annotations of each tool, by server, and the page that a host shows for
/// it (`_meta.ui`). Of a prompt, it has name, title, description and arguments. The tools and the prompts of a server that the
/// file does not have are approved when they are listed for the first time, with a warning in the log, unless
/// [`hold_new`](Self::hold_new) is set. From then on an item that the server changes or adds is held: models neither see nor
/// call it until a user approves it, with `mcp pin FILE` or [`approve`](Self::approve). So are all items of a server that has
/// listed none of their kind at first. Icons, other members of `_meta` and members that the protocol does not define are not
/// compared.
///
/// A tool set compares its tools when it lists them: a deferred set at each call, another one at each
/// [`definitions`](crate::ToolSet::definitions). Until then the model calls a tool by the definition that it has read.
///
/// Clones share the file, and changes of other processes are read. The file is read and written under a lock, that of a file
/// beside it (`FILE.guard`). If the file cannot be written, or is damaged meanwhile, a new server's items are held, and the file
/// stays as it is. If a server changes its list often, ten changes are logged and written at once, and then one per 30 seconds:
/// what is held in between is held in memory.
///
/// # Examples
///
/// ```no_run
/// use mcp::Group;
/// use mcp::toolset::{PinFile, ToolSet};
///
/// # fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let group = Group::load("mcp.json")?;
/// let pins = PinFile::open("mcp.lock")?;
/// let tools = ToolSet::from(&group).pin(pins.clone());
/// for held in pins.held() {
///     println!("{}: {}", held.subject.owner, held.subject.name);
///     for difference in held.diff()?.differences() {
///         println!("{}: {}", difference.path, difference.reason);
///     }
/// }
/// # let _ = tools;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct PinFile(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    consents: Consents,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The items of servers that the file does not have are held.
    holds_new: bool,
    /// The last lists that are not written yet, by kind and server.
    unwritten: BTreeMap<(&'static str, String), Definitions>,
    /// The pace at which the changes of a server are logged and written.
    paces: BTreeMap<String, Pace>,
}

/// Definitions of one kind by name, as a server lists them.
type Definitions = BTreeMap<String, Value>;

/// A server's pins of one kind by name.
type Pins = BTreeMap<String, Consent>;

/// A tool or prompt that models neither see nor call until a user approves it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HeldItem {
    /// The kind (`tool` or `prompt`), the server, the name, and the definition that the server lists. A user who has seen it
    /// approves its [fingerprint](Subject::fingerprint).
    pub subject: Subject,
    /// The approved definition. `None`: the server has added the item.
    pub approved: Option<Value>,
}

impl HeldItem {
    /// Returns the difference from the approved definition. The impact of each one is that on programs. Do not show it to
    /// users: a description is cosmetic for programs, and is what a model obeys.
    ///
    /// # Errors
    ///
    /// Returns a [`SnapshotError`] if a definition cannot be a part of a snapshot.
    pub fn diff(&self) -> Result<Diff, SnapshotError> {
        let list = format!("{}s", self.subject.kind);
        let old = Snapshot::from_value(json!({ &list: Vec::from_iter(&self.approved) }))?;
        let new = Snapshot::from_value(json!({ list: [&self.subject.definition] }))?;
        Ok(old.diff(&new))
    }
}

impl PinFile {
    /// Reads the file, if it exists.
    ///
    /// # Errors
    ///
    /// Returns a [`ConsentError`] if the file cannot be read, is a link, or is not a file with consents.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ConsentError> {
        let path = path.into();
        Ok(Self(Arc::new(Shared {
            consents: Consents::open_in_project(&path, &[TOOL, PROMPT])?,
            path,
            state: Mutex::default(),
        })))
    }

    /// Holds the tools and prompts of servers that the file does not have, instead of approving them at their first use.
    /// Default: they are approved. Clones have the same setting.
    #[must_use]
    pub fn hold_new(self) -> Self {
        self.0.state.lock().holds_new = true;
        self
    }

    /// Compares all tools, or all prompts, that a server lists with the file: approves those of a new server, and records which
    /// ones are held. The log names them, with their differences. Reads and writes the file on this thread.
    ///
    /// Tool sets and gateways call it. Programs need it only for lists of their own.
    pub fn check<T: Definition>(&self, server: &str, items: &[T]) {
        self.check_at(server, items, Instant::now());
    }

    fn check_at<T: Definition>(&self, server: &str, items: &[T], now: Instant) {
        let (kind, path) = (T::KIND, self.0.path.display());
        let mut listed = Definitions::new();
        for item in items {
            // Of two items with one name, the first counts.
            let name = item.name().to_owned();
            listed.entry(name).or_insert_with(|| item.pinned_json());
        }
        let state = &mut *self.0.state.lock();
        self.0.consents.refresh();
        let key = (kind, server.to_owned());
        let known = self.0.consents.view(kind, |all| all.get(server).cloned());
        let next = next(known.as_ref(), &listed, state.holds_new);
        if known.as_ref() == Some(&next) {
            state.unwritten.remove(&key);
            return;
        }
        if state.unwritten.get(&key) == Some(&listed) {
            return;
        }
        let is_logged = state.permits(server, now);
        // Deep values are mostly indentation.
        let part = BTreeMap::from([(kind, BTreeMap::from([(server, &next)]))]);
        let mut room = vec![0; MAX_SERVER_BYTES];
        if serde_json::to_writer_pretty(&mut room[..], &part).is_err() {
            if is_logged {
                tracing::error!(
                    server,
                    "the {}s of a server are too large for the pin file: new and changed ones are not offered",
                    escaped(&kind)
                );
            }
            return;
        }
        let Some(known) = known else {
            let count = next.len();
            match self.record(state, &key, &listed) {
                Err(error) => log_unwritten(server, kind, &error),
                Ok(()) if count == 0 => {}
                Ok(()) if state.holds_new => {
                    tracing::warn!(server, count, path = %escaped(&path), "the {}s of a new server are held: {}", escaped(&kind), escaped(self.command()));
                }
                Ok(()) => {
                    tracing::warn!(server, count, path = %escaped(&path), "the {}s of a server are approved at their first use", escaped(&kind));
                }
            }
            return;
        };
        if is_logged {
            let written = self.record(state, &key, &listed);
            self.warn_of_held(kind, server, &known, &next);
            if let Err(error) = written {
                log_unwritten(server, kind, &error);
                state.unwritten.insert(key, listed);
            }
        } else {
            state.unwritten.insert(key, listed);
        }
    }

    /// Writes the pins of a server that has listed these items, beside what other processes have written meanwhile.
    fn record(
        &self,
        state: &mut State,
        key: &(&'static str, String),
        listed: &Definitions,
    ) -> Result<(), ConsentError> {
        let next = |known: Option<&Pins>| Some(next(known, listed, state.holds_new));
        self.0.consents.update(key.0, &key.1, next)?;
        state.unwritten.remove(key);
        Ok(())
    }

    fn warn_of_held(&self, kind: &'static str, server: &str, known: &Pins, next: &Pins) {
        let held = next.iter().filter(|(name, pin)| {
            let before = known.get(*name).and_then(|pin| pin.held.as_ref());
            pin.held.is_some() && pin.held.as_ref() != before
        });
        for held in held
            .take(MAX_LOGGED)
            .filter_map(|pin| held_item(kind, server, pin))
        {
            let item = cut(&held.subject.name, MAX_DIFFERENCE);
            let lines = |diff: Diff| {
                let lines = diff.differences().iter();
                let lines =
                    lines.map(|difference| format!("{}: {}", difference.path, difference.reason));
                lines.collect::<Vec<_>>().join("\n")
            };
            let difference = held.diff().map_or_else(|error| error.to_string(), lines);
            let difference = escape_line(cut(&difference, MAX_DIFFERENCE)).into_owned();
            tracing::warn!(
                server,
                item,
                difference,
                "a {} is held until it is approved: {}",
                escaped(&kind),
                escaped(self.command())
            );
        }
    }

    /// Returns a tool or a prompt as users, models and hosts may see it: without what is not compared, such as icons and further
    /// members of `_meta`, in which a server could put other instructions. `None`: it is held.
    pub fn offered<T: Definition>(&self, server: &str, item: &T) -> Option<T> {
        let pinned = item.pinned();
        let is_agreed = self.0.consents.view(T::KIND, |all| {
            let agreed = all.get(server)?.get(item.name())?.agreed.as_ref()?;
            Some(*agreed == pinned.to_json())
        });
        is_agreed?.then(|| item.complete(pinned))
    }

    /// Returns the tools and then the prompts that are held, by server and name.
    pub fn held(&self) -> Vec<HeldItem> {
        let state = self.0.state.lock();
        let mut held = Vec::new();
        for kind in [TOOL, PROMPT] {
            self.0.consents.view(kind, |all| {
                for (server, pins) in all {
                    let pins = state.with_unwritten(kind, server, Some(pins));
                    held.extend(pins.iter().filter_map(|pin| held_item(kind, server, pin)));
                }
            });
        }
        held
    }

    /// Approves an item, and writes the file. Returns false if the item is not held with this definition any more.
    ///
    /// # Errors
    ///
    /// Returns a [`ConsentError`] if the file cannot be read or written.
    pub fn approve(&self, held: &HeldItem) -> Result<bool, ConsentError> {
        let state = &mut *self.0.state.lock();
        let Subject {
            kind,
            owner,
            name,
            definition,
            ..
        } = &held.subject;
        let approved = self.0.consents.update(kind, owner, |pins| {
            let mut pins = state.with_unwritten(kind, owner, pins);
            let pin = pins.get_mut(name)?;
            if pin.held.as_ref() != Some(definition) {
                return None;
            }
            pin.agreed = pin.held.take();
            Some(pins)
        })?;
        if approved {
            state.unwritten.remove(&(*kind, owner.clone()));
        }
        Ok(approved)
    }

    /// Reads the file if another process has changed it. Returns a number that is another one after each change.
    pub fn refresh(&self) -> u64 {
        self.refresh_at(Instant::now())
    }

    fn refresh_at(&self, now: Instant) -> u64 {
        let state = &mut *self.0.state.lock();
        self.0.consents.refresh();
        for (key, listed) in state.unwritten.clone() {
            if state.permits(&key.1, now)
                && let Err(error) = self.record(state, &key, &listed)
            {
                log_unwritten(&key.1, key.0, &error);
            }
        }
        self.0.consents.refresh()
    }

    /// Returns the answer to a call of a held tool, or to a request for a held prompt, for callers on other machines: it names
    /// the file without its folder.
    pub fn refusal(&self, name: &str) -> String {
        refusal(name, Path::new(self.0.path.file_name().unwrap_or_default()))
    }

    /// Returns the answer to a call of a held tool for a model and its user, who types the command at this machine.
    /// Without its folder if a shell would read the path in another way: others name folders.
    #[cfg(feature = "client")]
    pub(crate) fn refusal_here(&self, name: &str) -> String {
        refusal(name, self.typed_path())
    }

    fn command(&self) -> String {
        command(self.typed_path())
    }

    fn typed_path(&self) -> &Path {
        let path = &*self.0.path;
        let others = if cfg!(windows) { "/._-\\:" } else { "/._-" };
        let is_plain = |c: char| c.is_alphanumeric() || others.contains(c);
        match path.to_str() {
            Some(text) if text.chars().all(is_plain) => path,
            _ => Path::new(path.file_name().unwrap_or_default()),
        }
    }
}

fn refusal(name: &str, file: &Path) -> String {
    format!(
        "{:?} is held: its server has changed or added it, and nobody has approved that; do not repeat the call. {} shows \
         the change, and approves it",
        escape_line(cut(name, MAX_DIFFERENCE)),
        command(file)
    )
}

fn command(file: &Path) -> String {
    format!("`mcp pin {}`", escape_line(&file.to_string_lossy()))
}

fn log_unwritten(server: &str, kind: &str, error: &ConsentError) {
    tracing::error!(server, error = %escaped(error), "new and changed {}s are not offered", escaped(&kind));
}

/// Returns the pins of a server after it has listed these items.
fn next(known: Option<&Pins>, listed: &Definitions, holds_new: bool) -> Pins {
    let mut next = known.cloned().unwrap_or_default();
    next.values_mut().for_each(|pin| pin.held = None);
    let is_approved = known.is_none() && !holds_new;
    for (name, definition) in listed {
        let pin = next.entry(name.clone()).or_default();
        if is_approved {
            pin.agreed = Some(definition.clone());
        } else if pin.agreed.as_ref() != Some(definition) {
            pin.held = Some(definition.clone());
        }
    }
    next.retain(|_, pin| *pin != Consent::default());
    next
}

fn held_item(
    kind: &'static str,
    server: &str,
    (name, pin): (&String, &Consent),
) -> Option<HeldItem> {
    Some(HeldItem {
        subject: Subject::new(kind, server, name, pin.held.clone()?),
        approved: pin.agreed.clone(),
    })
}

impl State {
    /// Returns the pins of a server after its last list, also if that is not written yet.
    fn with_unwritten(&self, kind: &'static str, server: &str, pins: Option<&Pins>) -> Pins {
        match self.unwritten.get(&(kind, server.to_owned())) {
            Some(listed) => next(pins, listed, self.holds_new),
            None => pins.cloned().unwrap_or_default(),
        }
    }

    /// Returns whether a change of a server is logged and written now, and counts it.
    fn permits(&mut self, server: &str, now: Instant) -> bool {
        let pace = self.paces.entry(server.to_owned()).or_default();
        pace.permit(now, MAX_CHANGES, CHANGE_INTERVAL).is_ok()
    }
}

#[cfg(test)]
mod tests;

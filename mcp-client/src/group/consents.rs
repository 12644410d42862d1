//! What a user has agreed to: [`Consents`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_core::ServerIdentity;
use mcp_types::{JsonObject, escaped};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::file::ConsentError;
use self::file::Stamp;

mod file;

/// Largest number of owners with consents that are kept without a file, and of consents per owner.
const MAX_IN_MEMORY: usize = 10_000;

/// Something that a user is asked about: a command, a skill, a call, a definition. `Debug` omits the definition, which can
/// contain secrets.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Subject {
    /// The kind, such as `command`.
    pub kind: &'static str,
    /// Where it comes from, in the user's words: a file, or a server's name.
    pub owner: String,
    /// The name that the owner gives it.
    pub name: String,
    /// Everything that decides about the answer, as a JSON object.
    pub definition: Value,
}

impl Subject {
    /// Creates a subject.
    pub fn new(
        kind: &'static str,
        owner: impl Into<String>,
        name: impl Into<String>,
        definition: Value,
    ) -> Self {
        Self {
            kind,
            owner: owner.into(),
            name: name.into(),
            definition,
        }
    }

    /// Returns the SHA-256 hash of kind, owner, name and definition, as 64 hexadecimal digits. The order of an object's members
    /// does not change it.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::group::Subject;
    /// use serde_json::json;
    ///
    /// let subject = |folder: &str| Subject::new("folder", "editor", "work", json!({"path": folder}));
    /// assert_eq!(subject("/tmp").fingerprint(), subject("/tmp").fingerprint());
    /// assert_ne!(subject("/tmp").fingerprint(), subject("/").fingerprint());
    /// ```
    pub fn fingerprint(&self) -> String {
        let mut definition = self.definition.clone();
        definition.sort_all_objects();
        let definition = definition.to_string();
        let parts = [self.kind, &self.owner, &self.name, &definition];
        ServerIdentity::from_parts("consent", parts).to_string()
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("kind", &self.kind)
            .field("owner", &self.owner)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// An entry of [`Consents`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Consent {
    /// The user's agreement: the [fingerprint](Subject::fingerprint) of a subject, or its whole definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<Value>,
    /// A definition that waits for the user's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Value>,
    /// Members that other programs have written.
    #[serde(flatten)]
    other: JsonObject,
}

/// An owner's consents of one kind, by name.
type ByName = BTreeMap<String, Consent>;

/// By kind and owner.
type Entries = BTreeMap<String, BTreeMap<String, ByName>>;

/// A store with what a user has agreed to: in memory, or in a JSON file that a user can read and edit.
///
/// An agreement counts as long as the subject is the one that the user has seen: each [fingerprint](Subject::fingerprint)
/// covers the whole definition. A line that is removed from the file does not count any more, also in a program that runs.
/// One file is enough for all kinds.
///
/// The file is replaced at once under a lock, that of a file beside it (`FILE.guard`); changes of other processes are read.
/// A new file can be read by its user alone. It has at most 64 MiB. Clones share the store.
///
/// # Examples
///
/// ```no_run
/// use mcp::group::{Consents, GroupConfig};
///
/// # fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let consents = Consents::open("consents.json")?;
/// // The user is asked once about each command, also after a restart.
/// let config = GroupConfig::read("mcp.json")?
///     .approve(|command| async move { command.command == "npx" })
///     .remember(consents);
/// # let _ = config;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Consents(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    path: Option<PathBuf>,
    entries: Entries,
    /// The fingerprints of consents that could not be written.
    unwritten: BTreeSet<String>,
    /// The stamp of the file that was read or written last.
    stamp: Stamp,
    /// The stamp of the file whose error is in the log.
    logged: Stamp,
    changes: u64,
}

impl Consents {
    /// Creates a store in memory.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Reads a file, if it exists. Its folder must exist when the first consent is written.
    ///
    /// # Errors
    ///
    /// Returns a [`ConsentError`] if the file cannot be read, or has another format.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ConsentError> {
        let mut state = State {
            path: Some(path.into()),
            ..State::default()
        };
        state.read()?;
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// Returns whether the user has agreed to exactly this subject. Reads the file if it has changed. Without a readable file,
    /// the answer is no.
    pub fn contains(&self, subject: &Subject) -> bool {
        let mut state = self.0.lock();
        let fingerprint = subject.fingerprint();
        if state.unwritten.contains(&fingerprint) {
            return true;
        }
        if !state.read_logged() || state.is_missing() {
            return false;
        }
        let known = state.of(subject.kind, &subject.owner);
        let agreed = known.and_then(|known| known.get(&subject.name)?.agreed.as_ref());
        agreed.is_some_and(|agreed| match agreed {
            Value::String(agreed) => *agreed == fingerprint,
            definition => definition.is_object() && *definition == subject.definition,
        })
    }

    /// Records that the user has agreed to a subject, instead of an earlier one of the same name. Returns whether it is stored:
    /// if the file cannot be read or written, the agreement counts as long as the program runs, with a warning in the log.
    pub fn insert(&self, subject: &Subject) -> bool {
        let state = &mut *self.0.lock();
        if state.is_missing() {
            state.entries.remove(subject.kind);
        }
        let fingerprint = subject.fingerprint();
        let stored = state.update(subject.kind, &subject.owner, |known| {
            let mut next = known.cloned().unwrap_or_default();
            let consent = next.entry(subject.name.clone()).or_default();
            consent.agreed = Some(fingerprint.clone().into());
            Some(next)
        });
        let Err(error) = stored else {
            return true;
        };
        tracing::warn!(kind = subject.kind, error = %escaped(&error), "a consent counts only as long as the program runs");
        if state.unwritten.len() < MAX_IN_MEMORY {
            state.unwritten.insert(fingerprint);
        }
        false
    }

    /// Reads the file if another process has changed it. Returns a number that is another one after each change. If the file
    /// cannot be read, the log has its error once, and the entries stay as they were.
    pub fn refresh(&self) -> u64 {
        let mut state = self.0.lock();
        state.read_logged();
        state.changes
    }

    /// Returns what `view` makes of the entries of one kind, by owner and name. The store is locked while `view` runs. An owner
    /// without entries is listed if that was recorded.
    pub fn view<T>(&self, kind: &str, view: impl FnOnce(&BTreeMap<String, ByName>) -> T) -> T {
        view(self.0.lock().entries.get(kind).unwrap_or(&BTreeMap::new()))
    }

    /// Replaces an owner's entries of one kind by those that `change` makes of the present ones, which are read under the file's
    /// lock. Returns false if `change` returns `None`: nothing is written.
    ///
    /// # Errors
    ///
    /// Returns a [`ConsentError`] if the file cannot be read or written. The entries stay as they were.
    pub fn update(
        &self,
        kind: &str,
        owner: &str,
        change: impl FnOnce(Option<&ByName>) -> Option<ByName>,
    ) -> Result<bool, ConsentError> {
        self.0.lock().update(kind, owner, change)
    }
}

impl fmt::Debug for Consents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consents")
            .field("path", &self.0.lock().path)
            .finish_non_exhaustive()
    }
}

impl State {
    fn of(&self, kind: &str, owner: &str) -> Option<&ByName> {
        self.entries.get(kind)?.get(owner)
    }

    /// Returns whether there is a path without a file.
    fn is_missing(&self) -> bool {
        let path = self.path.as_deref();
        path.is_some_and(|path| file::stamp(path).is_none())
    }

    /// Reads the file unless it is the one that was read or written last. A file that was removed is written again with the
    /// next change. One with an error is not: it is read again each time.
    fn read(&mut self) -> Result<(), ConsentError> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let stamp = file::stamp(path);
        if stamp.is_none() || stamp == self.stamp {
            return Ok(());
        }
        let Some(entries) = file::read::<Entries>(path)? else {
            return Ok(());
        };
        self.stamp = stamp;
        if entries != self.entries {
            self.entries = entries;
            self.changes += 1;
        }
        Ok(())
    }

    /// Reads the file. The log has an error once for each content. Returns whether the entries are those of the file.
    fn read_logged(&mut self) -> bool {
        let Err(error) = self.read() else {
            return true;
        };
        let found = self.path.as_deref().and_then(file::stamp);
        if self.logged != found {
            self.logged = found;
            tracing::error!(error = %escaped(&error), "a file with consents is not used: pins stay as they were, and the user is asked again about all else");
        }
        false
    }

    fn update(
        &mut self,
        kind: &str,
        owner: &str,
        change: impl FnOnce(Option<&ByName>) -> Option<ByName>,
    ) -> Result<bool, ConsentError> {
        let path = self.path.clone();
        let _guard = path.as_deref().map(file::lock).transpose()?;
        self.read()?;
        let Some(next) = change(self.of(kind, owner)) else {
            return Ok(false);
        };
        let owners = self.entries.entry(kind.to_owned()).or_default();
        let Some(path) = path else {
            let is_full = owners.len() >= MAX_IN_MEMORY && !owners.contains_key(owner);
            if !is_full && next.len() <= MAX_IN_MEMORY {
                owners.insert(owner.to_owned(), next);
                self.changes += 1;
            }
            return Ok(true);
        };
        let before = owners.insert(owner.to_owned(), next);
        if let Err(error) = self.write(&path) {
            let owners = self.entries.entry(kind.to_owned()).or_default();
            match before {
                Some(before) => owners.insert(owner.to_owned(), before),
                None => owners.remove(owner),
            };
            return Err(error);
        }
        self.changes += 1;
        Ok(true)
    }

    fn write(&mut self, path: &Path) -> Result<(), ConsentError> {
        file::write(path, &self.entries)?;
        self.stamp = file::stamp(path);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use serde_json::{Value, json};

    use super::{ConsentError, Consents, Subject};

    fn file(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("mcp-consents-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(name);
        let _ = fs::remove_file(&file);
        file
    }

    #[test]
    fn fingerprint_depends_on_each_part_and_not_on_the_order_of_members() {
        let base = Subject::new("command", "a", "b", json!({"c": {"x": 1, "y": 2}}));
        let same = Subject::new("command", "a", "b", json!({"c": {"y": 2, "x": 1}}));
        assert_eq!(base.fingerprint(), same.fingerprint());
        for other in [
            Subject::new("skill", "a", "b", base.definition.clone()),
            Subject::new("command", "ab", "", base.definition.clone()),
            Subject::new("command", "", "ab", base.definition.clone()),
            Subject::new("command", "a", "b", json!({"c": {"x": 1}})),
            Subject::new("command", "a", "b", json!({"c": "{\"x\":1,\"y\":2}"})),
        ] {
            assert_ne!(base.fingerprint(), other.fingerprint(), "{other:?}");
        }
        assert!(
            !format!("{:?}", Subject::new("k", "o", "n", json!({"s": "secret"})))
                .contains("secret")
        );
    }

    /// A definition that is the fingerprint of another one is not that one.
    #[test]
    fn fingerprint_as_a_definition_is_not_agreed_to() {
        let consents = Consents::in_memory();
        let agreed = Subject::new("call", "a", "b", json!({"c": 1}));
        assert!(consents.insert(&agreed));
        assert!(consents.contains(&agreed));
        let forged = Value::from(agreed.fingerprint());
        assert!(!consents.contains(&Subject::new("call", "a", "b", forged)));
    }

    #[test]
    fn foreign_members_stay_and_removed_or_damaged_files_agree_to_nothing() {
        let path = file("kept.json");
        let foreign = json!({"call": {"a": {"x": {"agreed": "1", "note": "hello"}}}, "other": {}});
        fs::write(&path, foreign.to_string()).unwrap();
        let consents = Consents::open(&path).unwrap();
        let subject = Subject::new("call", "a", "y", json!({"c": 1}));
        assert!(consents.insert(&subject));
        assert!(Consents::open(&path).unwrap().contains(&subject));
        let text = fs::read_to_string(&path).unwrap();
        let written: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(written["call"]["a"]["x"], foreign["call"]["a"]["x"]);
        assert_eq!(written["other"], json!({}));

        fs::write(&path, text.clone() + ",").unwrap();
        assert!(!consents.contains(&subject), "damaged");
        let error = Consents::open(&path).unwrap_err();
        assert!(matches!(error, ConsentError::Malformed { .. }), "{error:?}");
        let second = Subject::new("call", "a", "z", json!({"c": 1}));
        assert!(!consents.insert(&second) && consents.contains(&second));
        fs::write(&path, text).unwrap();
        assert!(consents.contains(&subject), "restored");
        fs::remove_file(&path).unwrap();
        assert!(!consents.contains(&subject), "removed");
        let other = Subject::new("call", "b", "y", json!({"c": 1}));
        assert!(consents.insert(&other));
        assert!(consents.contains(&other) && !consents.contains(&subject));
    }
}

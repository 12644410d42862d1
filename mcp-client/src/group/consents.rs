//! Answers of a user that are remembered: [`Consents`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mcp_core::ServerIdentity;
use mcp_types::{JsonObject, escaped};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::file::ConsentError;
use self::file::{Place, Stamp};

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
    /// Its origin in the user's words: a file, or a server's name.
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
/// One file is enough for all kinds. The default is a store in memory.
///
/// The file is replaced at once under a lock, that of a file beside it (`FILE.guard`); changes of other processes are read.
/// A new file can be read by its user alone. It has at most 64 MiB. On Unix, a file that others can write is not used, nor a
/// link in a folder that they can write to. A removed file agrees to nothing. Clones share the store.
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
    place: Option<Place>,
    /// The kinds whose entries stay if the file is removed.
    kept: &'static [&'static str],
    entries: Entries,
    /// The fingerprints of consents that could not be written, by kind, owner and name.
    unwritten: BTreeMap<(&'static str, String, String), String>,
    /// The stamp of the file that was read or written last.
    stamp: Stamp,
    /// The stamp of the file whose error is in the log.
    logged: Stamp,
    changes: u64,
}

impl Consents {
    /// Reads the user's own file, if it exists. Its folder must exist when the first consent is written. A link stays one, and the
    /// file behind it is written.
    ///
    /// # Errors
    ///
    /// Returns a [`ConsentError`] if the file cannot be read, has another format, or others can have written it.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ConsentError> {
        Self::open_place(path.into(), true, &[])
    }

    /// Reads a file in a project, if it exists: others can have written it, so that it is not for permissions such as those to
    /// run commands. A link is refused, because it could name a file outside of the project. If the file is removed while the
    /// program runs, the entries of the kinds `kept` stay, and the next [`update`](Self::update) writes them again.
    ///
    /// # Errors
    ///
    /// Returns a [`ConsentError`] if the file cannot be read, has another format, or is a link.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::group::Consents;
    ///
    /// # fn run() -> Result<(), mcp::group::ConsentError> {
    /// let reviewed = Consents::open_in_project("reviewed.json", &["tool"])?;
    /// println!("{}", reviewed.view("tool", |servers| servers.len()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn open_in_project(
        path: impl Into<PathBuf>,
        kept: &'static [&'static str],
    ) -> Result<Self, ConsentError> {
        Self::open_place(path.into(), false, kept)
    }

    fn open_place(
        path: PathBuf,
        is_own: bool,
        kept: &'static [&'static str],
    ) -> Result<Self, ConsentError> {
        let mut state = State {
            place: Some(Place { path, is_own }),
            kept,
            ..State::default()
        };
        state.read()?;
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// Returns whether the user has agreed to exactly this subject. Reads the file if it has changed. Without a readable file,
    /// the answer is no.
    pub fn contains(&self, subject: &Subject) -> bool {
        let fingerprint = subject.fingerprint();
        let mut state = self.0.lock();
        let is_current = state.read_logged();
        if let Some(agreed) = state.unwritten.get(&key(subject)) {
            return *agreed == fingerprint;
        }
        if !is_current {
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
    /// if the file cannot be read or written, the agreement counts as long as the program runs, with a warning in the log. A file
    /// is written on a blocking thread, after other processes that write it, for up to 5 seconds.
    ///
    /// # Panics
    ///
    /// Panics outside of a Tokio runtime if the store has a file.
    pub async fn insert(&self, subject: &Subject) -> bool {
        if self.0.lock().place.is_none() {
            return self.insert_blocking(subject);
        }
        let (store, subject) = (self.clone(), subject.clone());
        let written = tokio::task::spawn_blocking(move || store.insert_blocking(&subject));
        written.await.unwrap_or(false)
    }

    fn insert_blocking(&self, subject: &Subject) -> bool {
        let fingerprint = subject.fingerprint();
        let stored = self.update(subject.kind, &subject.owner, |known| {
            let mut next = known.cloned().unwrap_or_default();
            let consent = next.entry(subject.name.clone()).or_default();
            consent.agreed = Some(fingerprint.clone().into());
            Some(next)
        });
        let (key, mut state) = (key(subject), self.0.lock());
        let Err(error) = stored else {
            state.unwritten.remove(&key);
            return true;
        };
        tracing::warn!(kind = subject.kind, error = %escaped(&error), "a consent counts only as long as the program runs");
        if state.unwritten.len() < MAX_IN_MEMORY || state.unwritten.contains_key(&key) {
            state.unwritten.insert(key, fingerprint);
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
        // Other threads can read the store while this one waits for another process.
        let place = self.0.lock().place.clone();
        let _guard = place.as_ref().map(Place::lock).transpose()?;
        self.0.lock().update(place, kind, owner, change)
    }
}

impl fmt::Debug for Consents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        f.debug_struct("Consents")
            .field("path", &state.place.as_ref().map(|place| &place.path))
            .finish_non_exhaustive()
    }
}

impl State {
    fn of(&self, kind: &str, owner: &str) -> Option<&ByName> {
        self.entries.get(kind)?.get(owner)
    }

    /// Reads the file unless it is the one that was read or written last. One with an error is read again each time. Of one that
    /// was removed, the entries of the kinds that stay are written again with the next change.
    fn read(&mut self) -> Result<(), ConsentError> {
        let Some(place) = &self.place else {
            return Ok(());
        };
        let stamp = place.stamp();
        if stamp == self.stamp {
            return Ok(());
        }
        let entries = place.read::<Entries>()?.unwrap_or_else(|| {
            self.unwritten.clear();
            let kept = self.kept.iter().filter_map(|kind| {
                let entries = self.entries.get(*kind)?;
                Some(((*kind).to_owned(), entries.clone()))
            });
            kept.collect()
        });
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
        let found = self.place.as_ref().and_then(Place::stamp);
        if self.logged != found {
            self.logged = found;
            tracing::error!(error = %escaped(&error), "a file with consents is not used: pins stay as they were, and the user is asked again about all else");
        }
        false
    }

    /// Changes the entries. The caller has the lock of the place.
    fn update(
        &mut self,
        place: Option<Place>,
        kind: &str,
        owner: &str,
        change: impl FnOnce(Option<&ByName>) -> Option<ByName>,
    ) -> Result<bool, ConsentError> {
        self.read()?;
        let Some(next) = change(self.of(kind, owner)) else {
            return Ok(false);
        };
        let owners = self.entries.entry(kind.to_owned()).or_default();
        let Some(place) = place else {
            let is_full = owners.len() >= MAX_IN_MEMORY && !owners.contains_key(owner);
            if !is_full && next.len() <= MAX_IN_MEMORY {
                owners.insert(owner.to_owned(), next);
                self.changes += 1;
            }
            return Ok(true);
        };
        let before = owners.insert(owner.to_owned(), next);
        if let Err(error) = place.write(&self.entries) {
            let owners = self.entries.entry(kind.to_owned()).or_default();
            match before {
                Some(before) => owners.insert(owner.to_owned(), before),
                None => owners.remove(owner),
            };
            return Err(error);
        }
        self.stamp = place.stamp();
        self.changes += 1;
        Ok(true)
    }
}

fn key(subject: &Subject) -> (&'static str, String, String) {
    (subject.kind, subject.owner.clone(), subject.name.clone())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::{fs, thread};

    use serde_json::{Value, json};

    use super::{Consent, ConsentError, Consents, Place, Subject};

    fn file(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("mcp-consents-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(name);
        let _ = fs::remove_file(&file);
        file
    }

    #[test]
    fn fingerprint_depends_on_each_part_but_not_on_member_order() {
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
        let consents = Consents::default();
        let agreed = Subject::new("call", "a", "b", json!({"c": 1}));
        assert!(consents.insert_blocking(&agreed));
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
        assert!(consents.insert_blocking(&subject));
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
        assert!(!consents.insert_blocking(&second) && consents.contains(&second));
        fs::write(&path, text).unwrap();
        assert!(consents.contains(&subject), "restored");
        fs::remove_file(&path).unwrap();
        assert!(!consents.contains(&subject), "removed");
        let other = Subject::new("call", "b", "y", json!({"c": 1}));
        assert!(consents.insert_blocking(&other));
        assert!(consents.contains(&other) && !consents.contains(&subject));
    }

    /// One file has all kinds: an answer about one of them does not bring those of the others back.
    #[test]
    fn removed_file_agrees_to_nothing_of_any_kind() {
        let path = file("kinds.json");
        let consents = Consents::open(&path).unwrap();
        let [command, skill] =
            ["command", "skill"].map(|kind| Subject::new(kind, "a", "b", json!({"c": 1})));
        assert!(consents.insert_blocking(&command) && consents.contains(&command));
        let pins = Consents::open_in_project(&path, &["tool"]).unwrap();
        let pin = |name: &str| {
            let pin = |_: Option<&_>| Some([(name.to_owned(), Consent::default())].into());
            assert!(pins.update("tool", name, pin).unwrap());
        };
        pin("files");
        fs::remove_file(&path).unwrap();
        pin("mail");
        assert_eq!(pins.view("tool", |servers| servers.len()), 2);
        assert!(!consents.contains(&command), "written by pins");
        fs::remove_file(&path).unwrap();
        assert!(consents.insert_blocking(&skill));
        for consents in [&consents, &Consents::open(&path).unwrap()] {
            assert!(consents.contains(&skill) && !consents.contains(&command));
        }
    }

    #[test]
    fn later_answer_replaces_one_that_could_not_be_written() {
        let folder = file("late");
        let _ = fs::remove_dir_all(&folder);
        let consents = Consents::open(folder.join("consents.json")).unwrap();
        let [first, second, third] =
            [1, 2, 3].map(|number| Subject::new("call", "a", "b", json!({"c": number})));
        assert!(!consents.insert_blocking(&first) && consents.contains(&first));
        assert!(!consents.insert_blocking(&second) && consents.contains(&second));
        assert!(!consents.contains(&first));
        fs::create_dir(&folder).unwrap();
        assert!(consents.insert_blocking(&third) && consents.contains(&third));
        assert!(!consents.contains(&second), "it is replaced");
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Another user who can write the file could agree to commands.
    #[cfg(unix)]
    #[test]
    fn file_that_others_can_write_agrees_to_nothing() {
        use std::os::unix::fs::PermissionsExt as _;

        let path = file("private.json");
        let consents = Consents::open(&path).unwrap();
        let subject = Subject::new("command", "a", "b", json!({"c": 1}));
        assert!(consents.insert_blocking(&subject) && consents.contains(&subject));
        let set_mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        for mode in [0o666, 0o620, 0o602] {
            set_mode(mode);
            assert!(!consents.contains(&subject), "{mode:o}");
            let error = Consents::open(&path).unwrap_err();
            assert!(
                matches!(error, ConsentError::Unreadable { .. }),
                "{error:?}"
            );
            assert!(Consents::open_in_project(&path, &[]).is_ok());
        }
        set_mode(0o600);
        assert!(consents.contains(&subject));
    }

    #[cfg(unix)]
    #[test]
    fn link_of_the_user_stays_and_that_of_a_project_is_refused() {
        let (path, link) = (file("linked.json"), file("link.json"));
        let consents = Consents::open(&path).unwrap();
        let subject = Subject::new("command", "a", "b", json!({"c": 1}));
        assert!(consents.insert_blocking(&subject));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let linked = Consents::open(&link).unwrap();
        assert!(linked.insert_blocking(&Subject::new("command", "a", "c", json!({"c": 1}))));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(consents.contains(&subject) && linked.contains(&subject));
        let error = Consents::open_in_project(&link, &[]).unwrap_err();
        assert!(error.to_string().contains("it is a link"), "{error}");
    }

    /// A reader of a pipe would wait for its other end.
    #[cfg(unix)]
    #[test]
    fn pipe_is_refused() {
        let path = file("pipe.json");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        for opened in [Consents::open(&path), Consents::open_in_project(&path, &[])] {
            let error = opened.unwrap_err();
            assert!(error.to_string().contains("it is not a file"), "{error}");
        }
    }

    /// Calls of tools go on while an answer waits for another process.
    #[test]
    fn store_is_read_while_an_answer_waits_for_the_lock() {
        let path = file("locked.json");
        let consents = Consents::open(&path).unwrap();
        let [first, second] =
            [1, 2].map(|number| Subject::new("call", "a", "b", json!({"c": number})));
        assert!(consents.insert_blocking(&first));
        let other = Place { path, is_own: true }.lock().unwrap();
        let waiting = consents.clone();
        let inserted = thread::spawn(move || waiting.insert_blocking(&second));
        for _ in 0..1000 {
            assert!(consents.contains(&first) && !inserted.is_finished());
        }
        drop(other);
        assert!(inserted.join().unwrap());
    }

    #[tokio::test]
    async fn answer_that_waits_for_the_lock_blocks_no_other_task() {
        let path = file("async.json");
        let consents = Consents::open(&path).unwrap();
        let other = Place { path, is_own: true }.lock().unwrap();
        let subject = Subject::new("call", "a", "b", json!({"c": 1}));
        let mut inserted = std::pin::pin!(consents.insert(&subject));
        assert!(futures::poll!(&mut inserted).is_pending());
        drop(other);
        assert!(inserted.await && consents.contains(&subject));
    }
}

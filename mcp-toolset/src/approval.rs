//! Call approval before they reach a server: [`Approval`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mcp_core::{BoxFuture, catch_panic_sync};
use mcp_types::Tool;
use parking_lot::Mutex;
use serde_json::Value;

use crate::pins::tool_digest;
use crate::trust_file::{self, Stamp, TrustError, stamp};

type Rule = Arc<dyn Fn(&ProposedCall) -> Verdict + Send + Sync>;
type Ask = Arc<dyn Fn(ProposedCall) -> BoxFuture<'static, Answer> + Send + Sync>;

/// A call that a model proposes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProposedCall {
    /// The server's name in the group. Empty for a client's tools.
    pub server: Arc<str>,
    /// The tool, with its name in the group.
    pub tool: Tool,
    /// The arguments as the server receives them.
    pub arguments: Value,
    /// A rule asks about this call. The answer counts for this call only.
    pub is_by_rule: bool,
}

/// A rule's decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The call runs without a question, unless another rule asks or denies.
    Allow,
    /// The user is asked about this call, each time, whatever was answered before.
    Ask,
    /// The call does not run.
    Deny,
    /// The rule says nothing about the call: the other rules decide, then the annotations.
    NoOpinion,
}

/// The user's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// This call runs.
    Once,
    /// This call and all later calls of the tool run, as long as the tool set lives and the tool's definition stays.
    Session,
    /// As [`Session`](Self::Session), and in later runs of the program as well, if it
    /// [remembers](Approval::remember) approvals.
    Always,
    /// The call does not run.
    Deny,
}

/// The decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The call runs without a question.
    Allowed,
    /// The user has agreed to the call. Meanwhile the tool may have changed.
    Agreed,
    /// The call does not run, for this reason.
    Refused(&'static str),
}

impl Decision {
    const DENIED: Self = Self::Refused(
        "the user did not allow this call; do not repeat it, and say what you wanted to do",
    );
}

/// Definition digests by server and tool, so that a user can read the file.
type Digests = BTreeMap<String, BTreeMap<String, String>>;

/// The definitions that run without a question.
#[derive(Default)]
struct Approved {
    session: BTreeSet<String>,
    always: Digests,
    file: Option<PathBuf>,
    /// The file that was read or written last.
    stamp: Stamp,
}

/// Decides which calls of a model run. A denied call is a result that the model reads.
///
/// # Examples
///
/// ```
/// use mcp::toolset::{Answer, Approval, ProposedCall, Verdict};
///
/// let approval = Approval::by_annotations()
///     .trust(["files"])
///     .rule(|call: &ProposedCall| match call.arguments["path"].as_str() {
///         Some(path) if path.starts_with("/etc") => Verdict::Deny,
///         Some(path) if path.contains("/.ssh") => Verdict::Ask,
///         _ => Verdict::NoOpinion,
///     })
///     .ask(|call: ProposedCall| async move {
///         println!("{} wants {}", call.tool.name, call.arguments);
///         Answer::Once
///     });
/// # let _ = approval;
/// ```
#[derive(Clone)]
#[must_use = "approves nothing until it is passed to a tool set"]
pub struct Approval {
    trusted: BTreeSet<String>,
    rules: Vec<Rule>,
    ask: Option<Ask>,
    approved: Arc<Mutex<Approved>>,
}

impl Approval {
    /// Allows calls of tools that only read and reach nothing outside, by the annotations of trusted servers. Annotations are
    /// claims of the server: tools of other servers count as destructive and open-world. The user decides about all other
    /// calls; without [`ask`](Self::ask) they are denied.
    pub fn by_annotations() -> Self {
        Self {
            trusted: BTreeSet::new(),
            rules: Vec::new(),
            ask: None,
            approved: Arc::default(),
        }
    }

    /// Keeps the answer [`Answer::Always`] in a file. It holds for the definition that the user has approved: the user is asked
    /// about a changed tool again. Remove a line of the file to be asked again, also in a program that runs. Changes of other processes are read.
    ///
    /// # Errors
    ///
    /// Returns a [`TrustError`] if the file exists and cannot be read, or has another format.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::toolset::{Answer, Approval, ProposedCall};
    ///
    /// # fn run() -> Result<(), mcp::toolset::TrustError> {
    /// let approval = Approval::by_annotations()
    ///     .remember("approvals.json")?
    ///     .ask(|_: ProposedCall| async { Answer::Always });
    /// # let _ = approval;
    /// # Ok(())
    /// # }
    /// ```
    pub fn remember(self, file: impl Into<PathBuf>) -> Result<Self, TrustError> {
        let file = file.into();
        let read_before = stamp(&file);
        let always = trust_file::read(&file)?.unwrap_or_default();
        let mut approved = self.approved.lock();
        (approved.always, approved.file) = (always, Some(file));
        approved.stamp = read_before;
        drop(approved);
        Ok(self)
    }

    /// Trusts the server annotations, by their names in the group. The name of a client's server is empty.
    pub fn trust<S: Into<String>>(mut self, servers: impl IntoIterator<Item = S>) -> Self {
        self.trusted.extend(servers.into_iter().map(Into::into));
        self
    }

    /// Adds a rule for tools and arguments. Of several rules, one that denies wins, then one that asks, then one that allows.
    /// Without an opinion of a rule, the annotations decide. A call during which the rule panics is denied.
    pub fn rule(mut self, rule: impl Fn(&ProposedCall) -> Verdict + Send + Sync + 'static) -> Self {
        self.rules.push(Arc::new(rule));
        self
    }

    /// Sets the function that asks the user. Calls of one reply may be asked at the same time.
    pub fn ask<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(ProposedCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        self.ask = Some(Arc::new(move |call| Box::pin(ask(call))));
        self
    }

    /// Decides about a call.
    pub(crate) async fn decide(&self, mut call: ProposedCall) -> Decision {
        let verdicts = self.rules.iter().map(|rule| {
            let verdict = catch_panic_sync(|| rule(&call));
            verdict.unwrap_or(Verdict::Deny)
        });
        let verdicts: Vec<Verdict> = verdicts.collect();
        if verdicts.contains(&Verdict::Deny) {
            return Decision::Refused("a rule of this program forbids this call; do not repeat it");
        }
        call.is_by_rule = verdicts.contains(&Verdict::Ask);
        if !call.is_by_rule && (verdicts.contains(&Verdict::Allow) || self.is_harmless(&call)) {
            return Decision::Allowed;
        }
        let (server, tool) = (call.server.clone(), call.tool.name.clone());
        let (digest, is_by_rule) = (tool_digest(&server, &call.tool), call.is_by_rule);
        if !is_by_rule && self.approved.lock().contains(&server, &tool, &digest) {
            return Decision::Allowed;
        }
        let Some(ask) = &self.ask else {
            return Decision::DENIED;
        };
        match ask(call).await {
            Answer::Deny => return Decision::DENIED,
            Answer::Session if !is_by_rule => {
                self.approved.lock().session.insert(digest);
            }
            Answer::Always if !is_by_rule => self.approved.lock().add(&server, tool, digest),
            Answer::Once | Answer::Session | Answer::Always => {}
        }
        Decision::Agreed
    }

    fn is_harmless(&self, call: &ProposedCall) -> bool {
        let hints = call.tool.annotations.as_ref();
        let reads = hints.and_then(|hints| hints.read_only_hint) == Some(true);
        let is_closed = hints.and_then(|hints| hints.open_world_hint) == Some(false);
        reads && is_closed && self.trusted.contains(&*call.server)
    }
}

impl Approved {
    fn contains(&mut self, server: &str, tool: &str, digest: &String) -> bool {
        self.refresh();
        let always = self.always.get(server).and_then(|tools| tools.get(tool));
        self.session.contains(digest) || always == Some(digest)
    }

    /// Reads the file if it has changed. Without a readable file, nothing is approved for always.
    fn refresh(&mut self) {
        let Some(file) = &self.file else {
            return;
        };
        let now = stamp(file);
        if now == self.stamp {
            return;
        }
        self.stamp = now;
        self.always = match trust_file::read(file) {
            Ok(always) => always.unwrap_or_default(),
            Err(error) => {
                tracing::warn!(error = %mcp_types::escaped(&error), "the approvals for always do not count");
                Digests::new()
            }
        };
    }

    /// Adds a definition to those in the file. If that fails, the answer holds for the session.
    fn add(&mut self, server: &str, tool: String, digest: String) {
        let Some(file) = self.file.clone() else {
            self.session.insert(digest);
            return;
        };
        let added = trust_file::lock(&file).and_then(|_guard| {
            let mut always: Digests = trust_file::read(&file)?.unwrap_or_default();
            let tools = always.entry(server.to_owned()).or_default();
            tools.insert(tool, digest.clone());
            trust_file::write(&file, &always)?;
            (self.always, self.stamp) = (always, stamp(&file));
            Ok(())
        });
        if let Err(error) = added {
            tracing::warn!(error = %mcp_types::escaped(&error), "the approval of a tool holds for this session only");
            self.session.insert(digest);
        }
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval")
            .field("trusted", &self.trusted)
            .finish_non_exhaustive()
    }
}

//! Call approval before they reach a server: [`Approval`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mcp_client::catalog::Snapshot;

use mcp_core::{BoxFuture, catch_panic_sync};
use mcp_types::Tool;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::pins::pinned;
use crate::trust_file::{self, TrustError};

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
}

/// A rule's decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The call runs without a question.
    Allow,
    /// The user decides.
    Ask,
    /// The call does not run.
    Deny,
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

/// Definition digests by server and tool, so that a user can read the file.
type Digests = BTreeMap<String, BTreeMap<String, String>>;

/// The definitions that run without a question.
#[derive(Default)]
struct Approved {
    session: BTreeSet<String>,
    always: Digests,
    file: Option<PathBuf>,
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
///         _ => Verdict::Ask,
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
    /// about a changed tool again. Remove a line of the file to be asked again.
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
        let always = trust_file::read(&file)?.unwrap_or_default();
        let mut approved = self.approved.lock();
        (approved.always, approved.file) = (always, Some(file));
        drop(approved);
        Ok(self)
    }

    /// Trusts the server annotations, by their names in the group. The name of a client's server is empty.
    pub fn trust<S: Into<String>>(mut self, servers: impl IntoIterator<Item = S>) -> Self {
        self.trusted.extend(servers.into_iter().map(Into::into));
        self
    }

    /// Adds a rule for tools and arguments. A rule that denies wins, then a rule that allows; [`Verdict::Ask`] leaves the
    /// decision to the annotations. A call during which the rule panics is denied.
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

    /// Returns the reason why a call does not run.
    pub(crate) async fn refusal(&self, call: ProposedCall) -> Option<&'static str> {
        const DENIED: &str =
            "the user did not allow this call; do not repeat it, and say what you wanted to do";

        let verdicts = self.rules.iter().map(|rule| {
            let verdict = catch_panic_sync(|| rule(&call));
            verdict.unwrap_or(Verdict::Deny)
        });
        let verdicts: Vec<Verdict> = verdicts.collect();
        if verdicts.contains(&Verdict::Deny) {
            return Some("a rule of this program forbids this call; do not repeat it");
        }
        if verdicts.contains(&Verdict::Allow) || self.is_harmless(&call) {
            return None;
        }
        let (server, tool) = (call.server.clone(), call.tool.name.clone());
        let digest = digest(&server, &call.tool);
        if self.approved.lock().contains(&server, &tool, &digest) {
            return None;
        }
        let Some(ask) = &self.ask else {
            return Some(DENIED);
        };
        match ask(call).await {
            Answer::Once => {}
            Answer::Session => drop(self.approved.lock().session.insert(digest)),
            Answer::Always => self.approved.lock().add(&server, tool, digest),
            Answer::Deny => return Some(DENIED),
        }
        None
    }

    fn is_harmless(&self, call: &ProposedCall) -> bool {
        let hints = call.tool.annotations.as_ref();
        let reads = hints.and_then(|hints| hints.read_only_hint) == Some(true);
        let is_closed = hints.and_then(|hints| hints.open_world_hint) == Some(false);
        reads && is_closed && self.trusted.contains(&*call.server)
    }
}

impl Approved {
    fn contains(&self, server: &str, tool: &str, digest: &String) -> bool {
        let always = self.always.get(server).and_then(|tools| tools.get(tool));
        self.session.contains(digest) || always == Some(digest)
    }

    /// Adds a definition, and writes the file. If that fails, the answer holds for the session.
    fn add(&mut self, server: &str, tool: String, digest: String) {
        let tools = self.always.entry(server.to_owned()).or_default();
        tools.insert(tool, digest);
        if let Some(file) = &self.file
            && let Err(error) = trust_file::write(file, &self.always)
        {
            tracing::warn!(error = %mcp_types::escaped(&error), "the approval of a tool holds for this session only");
        }
    }
}

/// Returns the SHA-256 digest of what models and users read of a tool.
fn digest(server: &str, tool: &Tool) -> String {
    // The keys of a snapshot are sorted.
    let tools = Snapshot::from_value(json!({ "tools": [pinned(tool)] }));
    let tools = tools.map_or(Value::Null, |tools| tools.as_value().clone());
    let digest = hmac_sha256::Hash::hash(json!([server, tools]).to_string().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval")
            .field("trusted", &self.trusted)
            .finish_non_exhaustive()
    }
}

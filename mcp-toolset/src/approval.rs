//! Approval of calls before they reach a server: [`Approval`].

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use mcp_core::{BoxFuture, catch_panic_sync};
use mcp_types::Tool;
use parking_lot::Mutex;
use serde_json::Value;

type Rule = Arc<dyn Fn(&ProposedCall) -> Verdict + Send + Sync>;
type Ask = Arc<dyn Fn(ProposedCall) -> BoxFuture<'static, Answer> + Send + Sync>;

/// A call that a model proposes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProposedCall {
    /// The name of the server in the group. Empty for the tools of a client.
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
    /// The call does not run.
    Deny,
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
    /// The definitions that run without a question, as JSON.
    session: Arc<Mutex<BTreeSet<String>>>,
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
            session: Arc::default(),
        }
    }

    /// Trusts the annotations of servers, by their names in the group. The name of a client's server is empty.
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
        let definition = serde_json::to_string(&(&call.server, &call.tool)).unwrap_or_default();
        if verdicts.contains(&Verdict::Allow)
            || self.is_harmless(&call)
            || self.session.lock().contains(&definition)
        {
            return None;
        }
        let Some(ask) = &self.ask else {
            return Some(DENIED);
        };
        match ask(call).await {
            Answer::Once => None,
            Answer::Session => {
                self.session.lock().insert(definition);
                None
            }
            Answer::Deny => Some(DENIED),
        }
    }

    fn is_harmless(&self, call: &ProposedCall) -> bool {
        let hints = call.tool.annotations.as_ref();
        let reads = hints.and_then(|hints| hints.read_only_hint) == Some(true);
        let is_closed = hints.and_then(|hints| hints.open_world_hint) == Some(false);
        reads && is_closed && self.trusted.contains(&*call.server)
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval")
            .field("trusted", &self.trusted)
            .finish_non_exhaustive()
    }
}

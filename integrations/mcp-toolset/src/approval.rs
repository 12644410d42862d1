//! Call approval before they reach a server: [`Approval`].

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use mcp_client::group::{Consents, Subject};
use mcp_core::{BoxFuture, catch_panic_sync};
use mcp_types::Tool;
use serde_json::Value;

use crate::definition::Definition as _;

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

/// The reason why a call does not run that the user has denied.
const DENIED: &str =
    "the user did not allow this call; do not repeat it, and say what you wanted to do";

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
    session: Consents,
    always: Option<Consents>,
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
            session: Consents::default(),
            always: None,
        }
    }

    /// Keeps the answer [`Answer::Always`] in a store, such as a file. It holds for the definition that the user has approved: the
    /// user is asked about a changed tool again. Remove a line of the file to be asked again, also in a program that runs.
    ///
    /// The store knows a server by its name alone, which is empty for a client without
    /// [`server_name`](crate::ToolSet::server_name): use one store per project if servers of different projects can have one name.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::group::Consents;
    /// use mcp::toolset::{Answer, Approval, ProposedCall};
    ///
    /// # fn run() -> Result<(), mcp::group::ConsentError> {
    /// let approval = Approval::by_annotations()
    ///     .remember(Consents::open("approvals.json")?)
    ///     .ask(|_: ProposedCall| async { Answer::Always });
    /// # let _ = approval;
    /// # Ok(())
    /// # }
    /// ```
    pub fn remember(mut self, consents: Consents) -> Self {
        self.always = Some(consents);
        self
    }

    /// Trusts the server annotations, by their names in the group. The name of a client's server is empty; no server of a file
    /// has that name.
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

    /// Decides about a call. Returns whether the user was asked: meanwhile the tool may have changed.
    ///
    /// # Errors
    ///
    /// Returns the reason why the call does not run.
    pub(crate) async fn decide(&self, mut call: ProposedCall) -> Result<bool, &'static str> {
        let verdicts = self.rules.iter().map(|rule| {
            let verdict = catch_panic_sync(|| rule(&call));
            verdict.unwrap_or(Verdict::Deny)
        });
        let verdicts: Vec<Verdict> = verdicts.collect();
        if verdicts.contains(&Verdict::Deny) {
            return Err("a rule of this program forbids this call; do not repeat it");
        }
        call.is_by_rule = verdicts.contains(&Verdict::Ask);
        if !call.is_by_rule && (verdicts.contains(&Verdict::Allow) || self.is_harmless(&call)) {
            return Ok(false);
        }
        let is_by_rule = call.is_by_rule;
        let subject = Subject::new(
            "call",
            &*call.server,
            &*call.tool.name,
            call.tool.pinned_json(),
        );
        if !is_by_rule && self.stores().any(|store| store.contains(&subject)) {
            return Ok(false);
        }
        let ask = self.ask.as_ref().ok_or(DENIED)?;
        let store = match ask(call).await {
            Answer::Deny => return Err(DENIED),
            Answer::Once => None,
            Answer::Session => Some(&self.session),
            Answer::Always => Some(self.always.as_ref().unwrap_or(&self.session)),
        };
        if let Some(store) = store.filter(|_| !is_by_rule) {
            store.insert(&subject).await;
        }
        Ok(true)
    }

    fn stores(&self) -> impl Iterator<Item = &Consents> {
        self.always.iter().chain([&self.session])
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

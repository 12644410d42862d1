//! [`ToolSet`]: the server tools for a model.

use std::fmt;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _};
use mcp_client::Client;
use mcp_client::group::Group;
use mcp_core::schema::{JsonSchema, Validator as _};
use mcp_schema::{Limit, SchemaError};
use mcp_types::{CallToolResult, RawObject, Tool, escape_line};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::yield_now;

use crate::approval::{Approval, ProposedCall};
use crate::budget::{self, READ_RESULT, StoredResults, Tokens, read_result_tool};
use crate::lists::{List, Lists, Source};
use crate::logged::Logged;
use crate::media::MediaTaken;
use crate::names::folded;
use crate::pins::PinFile;
use crate::provider::Provider;
use crate::rank::WordRanker;
use crate::reply::{self, ReplyError};
use crate::result::{self, ModelCall, Part, clean};
use crate::schema::{restore, rewrite};
use crate::search;

/// Characters of a description where the provider documents no limit.
const MAX_DESCRIPTION: usize = 8_000;

/// JSON size of a tool schema, in bytes. A tool with a larger one is left out.
const MAX_SCHEMA_BYTES: usize = 200_000;

/// JSON size of all definitions, in bytes: a million tokens, which is all that the largest models read.
const MAX_DEFINITION_BYTES: usize = 4_000_000;

/// Steps through the schemas of all tools: those of 100 tools at the limit of one. A call cannot exceed the latter.
const MAX_STEPS: usize = 1_000_000;

/// Calls of one reply that run. Models send a few.
const MAX_CALLS: usize = 128;
/// Calls that run at once.
const MAX_RUNNING: usize = 16;

/// Answer to a call of a tool that has changed while the user was asked.
const CHANGED: &str = "the tool has changed while the user was asked, so that the call did not run; read its definition again";

/// The tools of a [`Group`] or a [`Client`] for a model: definitions in its provider's shape, a reply's calls, and
/// results as the provider's blocks.
///
/// Lists are those of the servers at the time of [`definitions`](Self::definitions); clients with a cache request them again
/// only after a change. Schemas, names and results are rewritten for the provider, and
/// arguments back for the server.
///
/// # Examples
///
/// ```no_run
/// use mcp::Group;
/// use mcp::toolset::{Provider, Tokens, ToolSet};
/// use serde_json::{Value, json};
///
/// # async fn call_the_model(request: Value) -> mcp::Result<Value> { Ok(request) }
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let group = Group::load("mcp.json")?;
/// let tools = ToolSet::from(&group)
///     .filter(|tool| !tool.name.starts_with("admin__"))
///     .result_budget(Tokens(20_000));
/// let definitions = tools.definitions(Provider::Anthropic).await?;
/// let request = json!({ "messages": [{"role": "user", "content": "Who am I?"}], "tools": definitions });
/// let reply = call_the_model(request).await?;
/// let results = tools.run(Provider::Anthropic, &reply).await?;
/// let next = json!({ "role": "user", "content": results });
/// # let _ = next;
/// # Ok(())
/// # }
/// ```
#[must_use = "a tool set does nothing until its definitions are sent to a model"]
pub struct ToolSet {
    lists: Lists,
    approval: Option<Approval>,
    budget: Option<Tokens>,
    is_text_only: bool,
    ranker: Option<WordRanker>,
    results: StoredResults,
    logged: Mutex<Logged>,
}

impl From<&Group> for ToolSet {
    fn from(group: &Group) -> Self {
        Self::new(Source::Group(group.clone()))
    }
}

impl From<&Client> for ToolSet {
    fn from(client: &Client) -> Self {
        Self::new(Source::Client(client.clone()))
    }
}

impl ToolSet {
    fn new(source: Source) -> Self {
        Self {
            lists: Lists::new(source),
            approval: None,
            budget: None,
            is_text_only: false,
            ranker: None,
            results: StoredResults::default(),
            logged: Mutex::default(),
        }
    }

    /// Names the server of a client for [approvals](Self::approve) and [pins](Self::pin). Sets of several clients that share a
    /// file need different names. Default: empty. The name that a server gives itself is not used, because it can change it.
    /// Servers of a group have their names there.
    pub fn server_name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.lists.server_name = name.into();
        self
    }

    /// Leaves out tools that `filter` does not accept. A group's tools have their names in the group. Calls of them fail.
    pub fn filter(mut self, filter: impl Fn(&Tool) -> bool + Send + Sync + 'static) -> Self {
        self.lists.filters.push(Arc::new(filter));
        self
    }

    /// Sets which calls run. Default: all.
    pub fn approve(mut self, approval: Approval) -> Self {
        self.approval = Some(approval);
        self
    }

    /// Offers only tools with the definitions in a lock file: a server cannot change what the model reads. See [`PinFile`].
    /// Default: the definitions that the servers send.
    pub fn pin(mut self, pins: PinFile) -> Self {
        self.lists.pins = Some(pins);
        self
    }

    /// Replaces images and sounds in results by lines of text, for models that read text only: their provider refuses a request
    /// with media. Default: media that the provider accepts stay.
    pub fn text_only(mut self) -> Self {
        self.is_text_only = true;
        self
    }

    /// Sets the maximum size of a result, in all of its blocks. Default: no limit. What is beyond is cut in the middle with a note
    /// that names what is missing, and the model reads it with a further tool, `read_result`. An image counts as a token per 750
    /// pixels, at most 1,600; one that does not fit is a line of text. A server can ask for more, up
    /// to 500,000 characters, with `anthropic/maxResultSizeChars` in the `_meta` of the tool or of the result.
    pub fn result_budget(mut self, budget: Tokens) -> Self {
        self.budget = Some(budget);
        self.lists.own.insert(READ_RESULT);
        self
    }

    /// Offers the three [`search`] tools instead of all tools, ranked by [`WordRanker`].
    pub fn deferred(mut self) -> Self {
        self.ranker = Some(WordRanker::new());
        let own = [
            search::SEARCH_TOOLS,
            search::DESCRIBE_TOOLS,
            search::CALL_TOOL,
        ];
        self.lists.own.extend(own);
        self
    }

    /// Lists the tools, and returns the `tools` value of a request. Tools beyond the number that the provider accepts
    /// are left out, with a warning in the log; see [`deferred`](Self::deferred). So are tools with a schema above 200 kB or the
    /// limits of [`JsonSchema`](mcp_core::schema::JsonSchema), and tools beyond 4 MB of definitions. The log has each of them once
    /// while it is listed, and 20 of one list by name.
    ///
    /// # Errors
    ///
    /// Returns the client's error. A server of a group that cannot be listed is left out, with a warning in the log.
    pub async fn definitions(&self, provider: Provider) -> Result<Value, mcp_client::Error> {
        let list = self.lists.list().await?;
        let profile = provider.profile();
        let own: Vec<Tool> = self.own_tools().collect();
        let all = list.tools.iter().filter(|_| self.ranker.is_none());
        let max = profile.max_tools.unwrap_or(usize::MAX);
        let max = max.saturating_sub(own.len());
        let beyond = all.clone().count().saturating_sub(max);
        let mut left_out = Vec::new();
        let (mut bytes, mut steps) = (0, MAX_STEPS);
        let mut definitions = Vec::new();
        // The set's own tools first: they are never left out.
        for tool in own.iter().chain(all.take(max)) {
            // Other tasks run between two schemas.
            yield_now().await;
            let name = list.names.name(&tool.name);
            match definition(provider, name, tool, &mut steps) {
                Ok(definition) => {
                    let size = definition.to_string().len();
                    if bytes + size <= MAX_DEFINITION_BYTES {
                        bytes += size;
                        definitions.push(definition);
                    } else {
                        let reason = "the definitions are too large; use `deferred`".to_owned();
                        left_out.push((name, reason));
                    }
                }
                Err(error) => left_out.push((name, error.to_string())),
            }
        }
        let listed = list.tools.iter().map(|tool| list.names.name(&tool.name));
        let mut logged = self.logged.lock();
        logged.warn_of_left_out(listed.collect(), (beyond, max), left_out);
        drop(logged);
        let count = own.len().min(definitions.len());
        definitions.rotate_left(count);
        Ok(result::tools(provider, definitions))
    }

    /// Runs the tool calls of a reply concurrently, 16 at once, and returns their results as the provider's blocks, in call order.
    /// Of more than 128 calls, the others do not run.
    /// The reply is the provider's answer, or the message in it.
    ///
    /// The first bytes of an image or a sound decide about its type. One that the provider refuses is a line of text, as are those
    /// beyond 20 or 10 MB in the results of a reply. Media that a provider does not accept in results follow after all of them: for OpenAI chat completions as a
    /// user message, which says that they are data, and for Gemini as parts.
    ///
    /// The result of a failed call says why it failed. Empty: the reply has no calls.
    ///
    /// # Errors
    ///
    /// Returns a [`ReplyError`] if the reply does not have the provider's shape, such as that of another provider.
    pub async fn run(&self, provider: Provider, reply: &Value) -> Result<Vec<Value>, ReplyError> {
        reply::check(provider, reply)?;
        let calls = result::calls(provider, reply);
        let results = self.answers(&calls).await;
        let mut taken = MediaTaken::default();
        let (mut blocks, mut all) = (Vec::new(), Vec::new());
        for (call, result) in calls.iter().zip(&results) {
            let parts = self.parts(provider, call, result, &mut taken);
            blocks.push(result::block(provider, call, &parts, result.is_error()));
            all.push((call, parts));
        }
        blocks.extend(result::media_after(provider, &all));
        Ok(blocks)
    }

    /// Returns the parts of a result, within the budget.
    fn parts(
        &self,
        provider: Provider,
        call: &ModelCall,
        result: &CallToolResult,
        taken: &mut MediaTaken,
    ) -> Vec<Part> {
        let mut parts = result::parts(result, provider, self.is_text_only, taken);
        let is_read = self.own_name(&call.name) == Some(READ_RESULT);
        if let Some(budget) = self.budget {
            let budget = budget.max(budget::hint(result.meta.as_ref()));
            if is_read {
                shorten_read(&mut parts, budget);
            } else {
                self.results.shorten(&mut parts, budget);
            }
        }
        parts
    }

    /// Answers the calls of a reply, in their order. They share one list.
    async fn answers(&self, calls: &[ModelCall]) -> Vec<CallToolResult> {
        if calls.is_empty() {
            return Vec::new();
        }
        let list = match self.lists.current().await {
            Ok(list) => list,
            Err(error) => return vec![failed(&error); calls.len()],
        };
        let running = calls.iter().take(MAX_CALLS);
        let running: Vec<_> = running.map(|call| self.answer(call, &list)).collect();
        let running = stream::iter(running).buffered(MAX_RUNNING);
        let mut results: Vec<CallToolResult> = running.collect().await;
        let text = format!("the call did not run: a reply may have {MAX_CALLS} calls");
        results.resize(calls.len(), CallToolResult::error(text));
        results
    }

    async fn answer(&self, call: &ModelCall, list: &List) -> CallToolResult {
        match self.own_name(&call.name) {
            Some(READ_RESULT) => self.results.read(&call.arguments),
            Some(own) => self.answer_deferred(own, call, list).await,
            None => {
                let unknown = || format!("no tool is named {:?}", escape_line(&call.name));
                self.call_named(list, &call.name, call.arguments.clone(), unknown)
                    .await
            }
        }
    }

    /// Answers a call to one of the three tools in a deferred set.
    async fn answer_deferred(&self, own: &str, call: &ModelCall, list: &List) -> CallToolResult {
        let Some(ranker) = &self.ranker else {
            return CallToolResult::error(search::unknown_tool(&call.name));
        };
        let arguments = RawObject::from_value(&call.arguments).ok();
        match own {
            search::SEARCH_TOOLS => {
                search::search_tools(ranker, &list.tools, arguments.as_ref()).await
            }
            search::DESCRIBE_TOOLS => search::describe_tools(&list.tools, arguments.as_ref()),
            _ => match search::inner_call(arguments.as_ref()) {
                Err(problem) => CallToolResult::error(problem),
                Ok(inner) => {
                    let arguments = inner.arguments.as_ref().map(RawObject::parse);
                    let arguments = arguments.and_then(Result::ok);
                    let arguments = arguments.unwrap_or_else(|| json!({}));
                    let unknown = || search::unknown_tool(&inner.name);
                    self.call_named(list, &inner.name, arguments, unknown).await
                }
            },
        }
    }

    /// Calls a tool by the name that the model has sent. Returns why it is held, or `unknown`, if there is none.
    async fn call_named(
        &self,
        list: &List,
        name: &str,
        arguments: Value,
        unknown: impl FnOnce() -> String,
    ) -> CallToolResult {
        if let Some(tool) = list.find(name) {
            return self.call(list, tool, arguments).await;
        }
        let held = list.names.find(name).filter(|own| list.held.contains(*own));
        let refusal = held.and_then(|own| Some(self.lists.pins.as_ref()?.refusal_here(own)));
        CallToolResult::error(refusal.unwrap_or_else(unknown))
    }

    /// Checks arguments and calls a tool.
    async fn call(&self, list: &List, tool: &Tool, arguments: Value) -> CallToolResult {
        let mut steps = MAX_STEPS;
        let arguments = match restore(arguments, &tool.input_schema, &mut steps) {
            Ok(arguments) => arguments,
            Err(error) => {
                return CallToolResult::error(clean(&format!(
                    "the tool cannot be called: {error}"
                )));
            }
        };
        if !arguments.is_object() {
            return CallToolResult::error("the arguments must be a JSON object");
        }
        // A schema that cannot be checked is checked by the server.
        if let Ok(check) = JsonSchema.compile(&tool.input_schema)
            && let Err(violations) = check.check(&arguments)
        {
            return CallToolResult::error(format!("the arguments do not fit: {violations}"));
        }
        let (server, own) = list.origin(&tool.name);
        if let Some(approval) = &self.approval {
            let call = ProposedCall {
                server: server.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                is_by_rule: false,
            };
            match approval.decide(call).await {
                Err(reason) => return CallToolResult::error(reason),
                Ok(true) if !self.lists.still_has(list, tool).await => {
                    return CallToolResult::error(CHANGED);
                }
                Ok(_) => {}
            }
        }
        // By server and own name: the tool's name in the group may be another server's by now.
        let called = async {
            self.lists
                .client(&server)
                .await?
                .call(own, &arguments)
                .await
        };
        let mut result = called.await.unwrap_or_else(|error| failed(&error));
        budget::add_hint(&mut result, tool);
        result
    }

    /// Returns the tools of the set itself.
    fn own_tools(&self) -> impl Iterator<Item = Tool> {
        let deferred = self.ranker.is_some().then(search::tools);
        let read = self.budget.is_some().then(read_result_tool);
        deferred.into_iter().flatten().chain(read)
    }

    /// Returns the name of the set's own tool that a model has named. Models change case and separators.
    fn own_name(&self, name: &str) -> Option<&'static str> {
        let wanted = folded(name);
        let mut own = self.lists.own.iter().copied();
        own.find(|own| folded(own) == wanted)
    }
}

/// Returns the definition of a tool. `steps`: those that the schemas of the list may still take.
fn definition(
    provider: Provider,
    name: &str,
    tool: &Tool,
    steps: &mut usize,
) -> Result<Value, SchemaError> {
    let profile = provider.profile();
    let limit = profile.max_description.unwrap_or(MAX_DESCRIPTION);
    let text = tool.description.as_deref().map(clean).unwrap_or_default();
    let text = match text.trim() {
        "" => clean(tool.display_name()),
        _ => text,
    };
    let text: String = text.chars().take(limit).collect();
    let schema = result::clean_json(rewrite(&tool.input_schema, profile, steps)?);
    if schema.to_string().len() > MAX_SCHEMA_BYTES {
        return Err(Limit::Bytes(MAX_SCHEMA_BYTES).at(String::new()));
    }
    Ok(result::definition(provider, name, &text, schema))
}

/// Cuts an answer of `read_result` at its end: the model can ask for fewer lines.
fn shorten_read(parts: &mut [Part], budget: Tokens) {
    for part in parts {
        if let Part::Text(text) = part
            && Tokens::of(text) > budget
        {
            let cut: String = text.chars().take(budget.0.saturating_mul(4)).collect();
            *text = format!("{cut}\n[cut here: ask for fewer lines]");
        }
    }
}

fn failed(error: &mcp_client::Error) -> CallToolResult {
    CallToolResult::error(clean(&format!("the call failed: {error}")))
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSet")
            .field("tools", &self.lists.last().tools.len())
            .finish_non_exhaustive()
    }
}

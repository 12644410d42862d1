//! [`ToolMode::Search`]: clients find tools by search instead of in a list.
//!
//! The server replaces a `call_tool` request with the call that it contains before scopes, layers and routes see it. A
//! layer answers `tools/list`, `search_tools` and `describe_tools` from the tools that the caller may see.

use std::sync::Arc;

use mcp_core::tower::{Next, from_fn};
use mcp_core::{Call, CallerKey, Exchange, Fault, ItemKind, Listing, Principal, Reply, ResultBody};
use mcp_server::{Server, ToolError};
use mcp_toolset::{Ranker, WordRanker, search};
use mcp_types::{CallToolParams, CallToolResult, ContentBlock, ListToolsResult, Page, Tool};
use parking_lot::Mutex;

use crate::limits::limiter::Limiter;
use crate::starting::Starting;

use crate::patterns::ToolPatterns;

/// Instructions of a gateway in [`ToolMode::Search`].
const INSTRUCTIONS: &str = "Most tools of this server are not listed. search_tools finds tools for a task, \
    describe_tools returns their arguments, and call_tool calls one.";

/// The way in which clients find a gateway's tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolMode {
    /// `tools/list` has all tools.
    #[default]
    List,
    /// `tools/list` has `search_tools`, `describe_tools` and `call_tool`. With them, language models find, read and
    /// call the other tools.
    Search,
}

/// The search in the tools of a gateway. Clones share the ranker.
#[derive(Clone)]
pub(crate) struct ToolSearch {
    pub(crate) ranker: Arc<dyn Ranker>,
    /// Tools that stay listed.
    pub(crate) listed: ToolPatterns,
    /// Limits of `search_tools` and `describe_tools` together.
    pub(crate) limiter: Arc<Limiter>,
    copied: Arc<Mutex<Copied>>,
}

/// The tools in pages that the server keeps for all callers.
#[derive(Default)]
struct Copied {
    pages: Vec<Arc<Listing<ListToolsResult>>>,
    tools: Arc<[Tool]>,
}

impl Default for ToolSearch {
    fn default() -> Self {
        Self {
            ranker: Arc::new(WordRanker::new()),
            listed: ToolPatterns::default(),
            limiter: Arc::default(),
            copied: Arc::default(),
        }
    }
}

impl ToolSearch {
    /// Adds the search to a server. Its answers name the servers of `starting`, whose tools are not found yet.
    pub(crate) fn add_to(self, server: Server, starting: Starting) -> Server {
        let layer = from_fn(move |exchange: Exchange, next: Next| {
            let (search, starting) = (self.clone(), starting.clone());
            async move { search.answer(exchange, &next, &starting).await }
        });
        let server = server.instructions(INSTRUCTIONS);
        server.replace_calls(inner_call).layer(layer)
    }

    async fn answer(&self, exchange: Exchange, next: &Next, starting: &Starting) -> Reply {
        match &exchange.call {
            Call::ListTools(page) if page.cursor.is_some() => {
                Fault::bad_params("`params.cursor`: unknown cursor; start again without one").into()
            }
            Call::ListTools(_) => self.list(&exchange, next).await,
            Call::CallTool(_) if exchange.extensions.get::<Call>().is_some() => {
                unknown_as_result(next.run(exchange).await)
            }
            Call::CallTool(params) => {
                match &*params.name {
                    search::SEARCH_TOOLS | search::DESCRIBE_TOOLS => {
                        self.find(&exchange, next, (params, starting)).await
                    }
                    // The server has not replaced it: its arguments are invalid, or it calls one of the three tools.
                    search::CALL_TOOL => {
                        let problem = match search::inner_call(params.arguments.as_ref()) {
                            Err(problem) => problem,
                            Ok(inner) => format!("call {} itself, without call_tool", inner.name),
                        };
                        CallToolResult::error(problem).into()
                    }
                    _ => next.run(exchange).await,
                }
            }
            _ => next.run(exchange).await,
        }
    }

    /// Answers a call of `search_tools` or `describe_tools` within the limits.
    async fn find(
        &self,
        exchange: &Exchange,
        next: &Next,
        (params, starting): (&CallToolParams, &Starting),
    ) -> Reply {
        let caller = CallerKey::new(exchange.extensions.get::<Principal>());
        let arguments = params.arguments.as_ref();
        let mut refused = None;
        let finding = async {
            let result = match self.visible_tools(exchange, next).await {
                Err(reply) => {
                    refused = Some(reply);
                    CallToolResult::default()
                }
                Ok(tools) if params.name == search::SEARCH_TOOLS => {
                    let mut found = search::search_tools(&*self.ranker, &tools, arguments).await;
                    if !found.is_error() {
                        let missing = starting.missing_tools(exchange);
                        found.content.extend(missing.map(ContentBlock::text));
                    }
                    found
                }
                Ok(tools) => search::describe_tools(&tools, arguments),
            };
            Ok(result.into())
        };
        let found = async {
            self.limiter.count(&caller)?;
            let _turn = self.limiter.turn().await?;
            self.limiter.run(finding).await
        };
        let found: Result<ResultBody, ToolError> = found.await;
        match (refused, found) {
            (Some(reply), _) => reply,
            (None, Ok(body)) => body.into(),
            (None, Err(error)) => CallToolResult::error(error.to_string()).into(),
        }
    }

    /// Lists the tools that stay listed, and the search's three tools.
    async fn list(&self, exchange: &Exchange, next: &Next) -> Reply {
        let visible = match self.visible_tools(exchange, next).await {
            Ok(tools) => tools,
            Err(reply) => return reply,
        };
        let listed = visible.iter();
        let listed = listed.filter(|tool| self.listed.matches(&tool.name));
        let tools: Vec<Tool> = listed.cloned().chain(search::tools()).collect();
        let listing = Listing::new(ListToolsResult::from(tools));
        ResultBody::ListTools(Arc::new(listing)).into()
    }

    /// Returns the tools that the caller may see, except those that have the same name as one of the three tools. Pages that
    /// the server keeps, because all callers see them, are copied at the first search.
    ///
    /// # Errors
    ///
    /// Returns the first reply that is not a list of tools.
    async fn visible_tools(&self, exchange: &Exchange, next: &Next) -> Result<Arc<[Tool]>, Reply> {
        let mut pages = Vec::new();
        let mut page = Page::default();
        loop {
            let mut request = Exchange::new(Call::ListTools(page), exchange.facts.clone());
            request.extensions = exchange.extensions.clone();
            let reply = next.run(request).await;
            let Reply::Complete {
                body: ResultBody::ListTools(listing),
                ..
            } = reply
            else {
                return Err(reply);
            };
            let cursor = listing.next_cursor.clone();
            pages.push(listing);
            match cursor {
                Some(cursor) => page = Page::from(cursor),
                None => break,
            }
        }
        let is_kept = pages.iter().all(|page| Arc::strong_count(page) > 1);
        let kept = is_kept.then(|| pages.clone());
        if let Some(pages) = &kept {
            let copied = self.copied.lock();
            let is_same = |(one, other)| Arc::ptr_eq(one, other);
            if copied.pages.len() == pages.len() && copied.pages.iter().zip(pages).all(is_same) {
                return Ok(copied.tools.clone());
            }
        }
        let tools = pages
            .into_iter()
            .flat_map(|page| match Arc::try_unwrap(page) {
                Ok(page) => page.into_page().tools,
                Err(page) => page.tools.clone(),
            });
        let tools: Arc<[Tool]> = tools.filter(|tool| !is_own(&tool.name)).collect();
        if let Some(pages) = kept {
            let tools = tools.clone();
            *self.copied.lock() = Copied { pages, tools };
        }
        Ok(tools)
    }
}

fn is_own(name: &str) -> bool {
    [
        search::SEARCH_TOOLS,
        search::DESCRIBE_TOOLS,
        search::CALL_TOOL,
    ]
    .contains(&name)
}

/// Returns the call that a `call_tool` request contains. `None` for other requests, for invalid arguments, and for
/// calls of the three tools themselves.
fn inner_call(call: &Call) -> Option<Call> {
    let outer = match call {
        Call::CallTool(outer) if outer.name == search::CALL_TOOL => outer,
        _ => return None,
    };
    let mut inner = search::inner_call(outer.arguments.as_ref()).ok()?;
    inner.task.clone_from(&outer.task);
    (!is_own(&inner.name)).then_some(Call::CallTool(inner))
}

/// Converts the fault for an unknown tool into a result that the language model reads.
fn unknown_as_result(reply: Reply) -> Reply {
    match reply {
        Reply::Fault(Fault::NoSuchItem {
            kind: ItemKind::Tool,
            id,
        }) => CallToolResult::error(search::unknown_tool(&id)).into(),
        reply => reply,
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use mcp_core::ClientContext;
    use mcp_types::ProtocolVersion;

    use super::*;

    fn pages(listing: impl Fn() -> Arc<Listing<ListToolsResult>> + Send + Sync + 'static) -> Next {
        Next::new(move |_| {
            let body = ResultBody::ListTools(listing());
            Box::pin(ready(Reply::Complete { body, cache: None }))
        })
    }

    #[tokio::test]
    async fn list_that_is_kept_is_copied_once() {
        let search = ToolSearch::default();
        let facts = Arc::new(ClientContext::new(ProtocolVersion::LATEST));
        let exchange = Exchange::new(Call::ListTools(Page::default()), facts);
        let listing = |name: &str| {
            let tools = vec![Tool::new(name), Tool::new(search::SEARCH_TOOLS)];
            Arc::new(Listing::new(ListToolsResult::from(tools)))
        };
        let tools = async |next: &Next| search.visible_tools(&exchange, next).await.unwrap();
        let kept = listing("a");
        let kept = pages(move || kept.clone());
        let first = tools(&kept).await;
        assert_eq!(*first, [Tool::new("a")]);
        assert!(Arc::ptr_eq(&first, &tools(&kept).await));
        // A list of a single caller is neither used for others nor in the place of the kept one.
        let own = pages(move || listing("b"));
        assert_eq!(*tools(&own).await, [Tool::new("b")]);
        assert!(Arc::ptr_eq(&first, &tools(&kept).await));
        let other = listing("c");
        let other = pages(move || other.clone());
        assert_eq!(*tools(&other).await, [Tool::new("c")]);
    }
}

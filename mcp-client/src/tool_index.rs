//! What the tools of the server are known to need: which of their arguments headers repeat, and
//! what their results look like. Learned from the lists that the program asks for; no list is
//! asked for in secret, unless the server says that headers are missing.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use mcp_core::schema::{Check, Validator, check_result};
use mcp_core::{Call, ClientRequest, Listing, ParamHeaders};
use mcp_types::{CallToolResult, JsonObject, ListToolsResult, Tool};
use parking_lot::RwLock;

/// So many tools are remembered; when there are more, all are forgotten and learned again.
const MAX_TOOLS: usize = 10_000;

/// The name of a header without the common prefix, and its value.
pub(crate) type Params = Vec<(Box<str>, Box<str>)>;

/// A tool of the server that this client leaves out of its lists, because its definition is
/// invalid.
// spec: XHDR-08
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedTool {
    /// Its name.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for DroppedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the tool `{}` is left out: {}", self.name, self.reason)
    }
}

#[derive(Debug, Default)]
pub(crate) struct ToolIndex {
    validator: Option<Arc<dyn Validator>>,
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Tools that need something.
    tools: HashMap<String, Needs>,
    dropped: Vec<DroppedTool>,
}

#[derive(Debug)]
struct Needs {
    headers: Option<ParamHeaders>,
    output: Option<Arc<Output>>,
    /// The server says that it may be called twice.
    is_idempotent: bool,
}

/// The schema of a tool's results, and its check, made when the first result is there.
#[derive(Debug)]
struct Output {
    schema: Arc<JsonObject>,
    check: OnceLock<Result<Arc<dyn Check>, String>>,
}

impl ToolIndex {
    pub(crate) fn new(validator: Option<Arc<dyn Validator>>) -> Self {
        let known = RwLock::default();
        Self { validator, known }
    }

    /// The arguments of a call that headers repeat; none as long as the tool is unknown.
    // spec: XHDR-02, XHDR-12, XHDR-20
    pub(crate) fn params(&self, asked: &ClientRequest) -> Params {
        let ClientRequest::Call(Call::CallTool(params)) = asked else {
            return Params::new();
        };
        let known = self.known.read();
        let plan = known
            .tools
            .get(&params.name)
            .and_then(|needs| needs.headers.as_ref());
        // Arguments that say something twice are refused by the server, in its own words.
        let values = plan.and_then(|plan| plan.values(params.arguments.as_ref()).ok());
        let values = values.into_iter().flatten();
        values
            .filter_map(|found| Some((found.header.into(), found.value?.text()?.into())))
            .collect()
    }

    /// The tools that were left out.
    pub(crate) fn dropped(&self) -> Vec<DroppedTool> {
        self.known.read().dropped.clone()
    }

    /// The server has said that the tool may be called twice.
    pub(crate) fn is_idempotent(&self, tool: &str) -> bool {
        let known = self.known.read();
        known
            .tools
            .get(tool)
            .is_some_and(|needs| needs.is_idempotent)
    }

    /// Remembers the tools of a page. `mirrors` says whether headers repeat arguments: then tools
    /// whose annotations are invalid leave the page.
    // spec: XHDR-08, XHDR-09, XHDR-10
    pub(crate) fn learn(
        &self,
        page: Arc<Listing<ListToolsResult>>,
        mirrors: bool,
    ) -> Arc<Listing<ListToolsResult>> {
        let mut known = self.known.write();
        let mut dropped = Vec::new();
        for tool in &page.tools {
            known.dropped.retain(|old| old.name != tool.name);
            let headers = match ParamHeaders::from_schema(&tool.input_schema) {
                _ if !mirrors => None,
                Ok(headers) => headers,
                Err(error) => {
                    tracing::warn!(tool = tool.name, %error, "an invalid tool is left out");
                    dropped.push(DroppedTool {
                        name: tool.name.clone(),
                        reason: error.to_string(),
                    });
                    continue;
                }
            };
            let output = self.output(tool);
            let needs = Needs {
                headers,
                output,
                is_idempotent: is_idempotent(tool),
            };
            known.put(&tool.name, needs);
        }
        if dropped.is_empty() {
            return page;
        }
        let mut left = ListToolsResult::clone(&page);
        left.tools
            .retain(|tool| !dropped.iter().any(|dropped| dropped.name == tool.name));
        known.drop_all(dropped);
        Arc::new(Listing::new(left))
    }

    fn output(&self, tool: &Tool) -> Option<Arc<Output>> {
        let schema = tool.output_schema.clone()?;
        self.validator.as_ref().map(|_| {
            Arc::new(Output {
                schema,
                check: OnceLock::new(),
            })
        })
    }

    /// Compares a result with the output schema of its tool. Failures have none.
    // spec: TOOL-16, TOOL-17, JSCH-06
    pub(crate) fn check(&self, tool: &str, result: &CallToolResult) -> Result<(), String> {
        let output = self
            .known
            .read()
            .tools
            .get(tool)
            .and_then(|needs| needs.output.clone());
        let (Some(output), Some(validator)) = (output, &self.validator) else {
            return Ok(());
        };
        if result.is_error() {
            return Ok(());
        }
        let check = output.check.get_or_init(|| {
            let check = validator.compile(&output.schema);
            check.map_err(|error| error.to_string())
        });
        let check = check.as_ref().map_err(Clone::clone)?;
        check_result(&**check, result)
    }
}

fn is_idempotent(tool: &Tool) -> bool {
    tool.annotations
        .as_ref()
        .is_some_and(|says| says.read_only_hint == Some(true) || says.idempotent_hint == Some(true))
}

impl Known {
    fn put(&mut self, name: &str, needs: Needs) {
        if needs.headers.is_none() && needs.output.is_none() && !needs.is_idempotent {
            self.tools.remove(name);
            return;
        }
        if self.tools.len() >= MAX_TOOLS && !self.tools.contains_key(name) {
            self.tools.clear();
        }
        self.tools.insert(name.to_owned(), needs);
    }

    fn drop_all(&mut self, dropped: Vec<DroppedTool>) {
        for tool in &dropped {
            self.tools.remove(&tool.name);
        }
        if self.dropped.len() + dropped.len() > MAX_TOOLS {
            self.dropped.clear();
        }
        self.dropped.extend(dropped);
    }
}

//! An index of the listed tools: arguments that headers mirror, output schemas, idempotency hints.
//!
//! The index is filled from lists that the program requests. The client itself lists tools only when
//! the server reports a header mismatch.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use mcp_core::schema::{Check, Validator, check_result};
use mcp_core::{Call, ClientRequest, Listing, ParamHeaders, ResultBody};
use mcp_types::{CallToolResult, JsonObject, ListToolsResult, Tool};
use parking_lot::RwLock;

/// Largest number of indexed tools. When it is exceeded, the index is cleared.
const MAX_TOOLS: usize = 10_000;

/// Names of headers, without the common prefix, and their values.
pub(crate) type ParamHeaderValues = Vec<(Box<str>, Box<str>)>;

/// A tool that the client removes from lists because its definition is invalid.
// spec: XHDR-08
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedTool {
    /// The name.
    pub name: String,
    /// The defect of the definition.
    pub reason: String,
}

impl fmt::Display for DroppedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the tool `{}` is removed from the list: {}",
            self.name, self.reason
        )
    }
}

#[derive(Debug, Default)]
pub(crate) struct ToolIndex {
    validator: Option<Arc<dyn Validator>>,
    entries: RwLock<ToolEntries>,
}

#[derive(Debug, Default)]
struct ToolEntries {
    /// Tools with at least one property of interest.
    tools: HashMap<String, ToolEntry>,
    /// The removed tools, and the defects of their definitions.
    dropped: BTreeMap<String, String>,
}

#[derive(Debug)]
struct ToolEntry {
    headers: Option<ParamHeaders>,
    output: Option<Arc<OutputSchema>>,
    /// The annotations of the tool declare it read-only or idempotent.
    is_idempotent: bool,
}

/// The output schema of a tool. It is compiled at the first result.
#[derive(Debug)]
struct OutputSchema {
    schema: Arc<JsonObject>,
    check: OnceLock<Result<Arc<dyn Check>, String>>,
}

impl ToolIndex {
    pub(crate) fn new(validator: Option<Arc<dyn Validator>>) -> Self {
        let entries = RwLock::default();
        Self { validator, entries }
    }

    /// Records a page of tools, and checks the result of a tool against its output schema. Other
    /// results are returned unchanged.
    ///
    /// # Errors
    ///
    /// Returns the violation of the output schema.
    pub(crate) fn process_result(
        &self,
        request: &ClientRequest,
        body: ResultBody,
        mirrors: bool,
    ) -> Result<ResultBody, String> {
        match (request, body) {
            (_, ResultBody::ListTools(page)) => {
                Ok(ResultBody::ListTools(self.record_page(page, mirrors)))
            }
            (ClientRequest::Call(Call::CallTool(params)), ResultBody::CallTool(result)) => {
                self.check_output(&params.name, &result)?;
                Ok(ResultBody::CallTool(result))
            }
            (_, body) => Ok(body),
        }
    }

    /// Returns the arguments of a call that headers mirror. Empty for an unknown tool.
    // spec: XHDR-02, XHDR-12, XHDR-20
    pub(crate) fn params(&self, request: &ClientRequest) -> ParamHeaderValues {
        let ClientRequest::Call(Call::CallTool(params)) = request else {
            return ParamHeaderValues::new();
        };
        let entries = self.entries.read();
        let headers = entries
            .tools
            .get(&params.name)
            .and_then(|tool| tool.headers.as_ref());
        // Duplicate arguments are left to the server, which refuses them.
        let values = headers.and_then(|headers| headers.values(params.arguments.as_ref()).ok());
        let values = values.into_iter().flatten();
        values
            .filter_map(|found| Some((found.header.into(), found.value?.text()?.into())))
            .collect()
    }

    /// Returns the tools that were removed from lists, by name.
    pub(crate) fn dropped(&self) -> Vec<DroppedTool> {
        let entries = self.entries.read();
        let dropped = entries.dropped.iter();
        dropped
            .map(|(name, reason)| DroppedTool {
                name: name.clone(),
                reason: reason.clone(),
            })
            .collect()
    }

    /// Returns whether the server declares the tool read-only or idempotent.
    pub(crate) fn is_idempotent(&self, tool: &str) -> bool {
        let entries = self.entries.read();
        entries
            .tools
            .get(tool)
            .is_some_and(|tool| tool.is_idempotent)
    }

    /// Records the tools of a page. If headers mirror arguments (`mirrors`), tools with invalid
    /// header annotations are removed from the page.
    // spec: XHDR-08, XHDR-09, XHDR-10
    fn record_page(
        &self,
        page: Arc<Listing<ListToolsResult>>,
        mirrors: bool,
    ) -> Arc<Listing<ListToolsResult>> {
        let mut entries = self.entries.write();
        let mut dropped = HashSet::new();
        for tool in &page.tools {
            let headers = match ParamHeaders::from_schema(&tool.input_schema) {
                _ if !mirrors => None,
                Ok(headers) => headers,
                Err(error) => {
                    tracing::warn!(tool = tool.name, %error, "an invalid tool is removed from the list");
                    entries.drop_tool(&tool.name, error.to_string());
                    dropped.insert(&*tool.name);
                    continue;
                }
            };
            // Of two definitions with one name, an invalid one removes both.
            if dropped.contains(&*tool.name) {
                continue;
            }
            let entry = ToolEntry {
                headers,
                output: self.output_schema(tool),
                is_idempotent: is_idempotent(tool),
            };
            entries.insert(&tool.name, entry);
        }
        if dropped.is_empty() {
            return page;
        }
        let mut remaining = ListToolsResult::clone(&page);
        remaining
            .tools
            .retain(|tool| !dropped.contains(&*tool.name));
        Arc::new(Listing::new(remaining))
    }

    fn output_schema(&self, tool: &Tool) -> Option<Arc<OutputSchema>> {
        let schema = tool.output_schema.clone()?;
        self.validator.as_ref().map(|_| {
            Arc::new(OutputSchema {
                schema,
                check: OnceLock::new(),
            })
        })
    }

    /// Checks a result against the output schema of its tool. A result that is an error is valid.
    // spec: TOOL-16, TOOL-17, JSCH-06
    fn check_output(&self, tool: &str, result: &CallToolResult) -> Result<(), String> {
        let output = self
            .entries
            .read()
            .tools
            .get(tool)
            .and_then(|tool| tool.output.clone());
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
        .is_some_and(|it| it.read_only_hint == Some(true) || it.idempotent_hint == Some(true))
}

impl ToolEntries {
    fn insert(&mut self, name: &str, entry: ToolEntry) {
        self.dropped.remove(name);
        if entry.headers.is_none() && entry.output.is_none() && !entry.is_idempotent {
            self.tools.remove(name);
            return;
        }
        if self.tools.len() >= MAX_TOOLS && !self.tools.contains_key(name) {
            self.tools.clear();
        }
        self.tools.insert(name.to_owned(), entry);
    }

    /// Removes a tool with an invalid definition from the index.
    fn drop_tool(&mut self, name: &str, reason: String) {
        self.tools.remove(name);
        if self.dropped.len() >= MAX_TOOLS && !self.dropped.contains_key(name) {
            self.dropped.clear();
        }
        self.dropped.insert(name.to_owned(), reason);
    }
}

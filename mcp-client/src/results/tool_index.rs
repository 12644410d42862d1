//! An index of the listed tools: arguments that headers mirror, output schemas, idempotency hints.
//!
//! The index is filled from lists that the program requests. The client itself lists tools only when
//! the server reports a header mismatch. After the last page of a list, the index contains the tools of
//! this list only.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use mcp_core::schema::{Check, Validator, check_result};
use mcp_core::{Call, ClientRequest, Listing, Omission, ParamHeaders, ResultBody};
use mcp_types::{CallToolResult, JsonObject, ListToolsResult, Method, Tool};
use parking_lot::RwLock;

use super::omissions::{Omissions, is_first_page};

/// Largest number of indexed tools. When it is exceeded, the index is cleared.
const MAX_TOOLS: usize = 10_000;

/// Largest size of the indexed names and schemas in bytes. When it is exceeded, the index is cleared.
const MAX_BYTES: usize = 16 << 20;

/// Longest name of a tool in bytes.
const MAX_NAME: usize = 1024;

/// Header names, without the common prefix, and their values.
pub(crate) type ParamHeaderValues = Vec<(Box<str>, Box<str>)>;

#[derive(Debug, Default)]
pub(crate) struct ToolIndex {
    validator: Option<Arc<dyn Validator>>,
    entries: RwLock<ToolEntries>,
}

#[derive(Debug, Default)]
struct ToolEntries {
    /// Tools with at least one property of interest.
    tools: HashMap<Box<str>, IndexedTool>,
    /// Bytes of all tools.
    bytes: usize,
    /// The number of the latest list. It grows with each first page.
    list: u64,
}

#[derive(Debug)]
struct IndexedTool {
    headers: Option<ParamHeaders>,
    output: Option<Arc<OutputSchema>>,
    /// The annotations of the tool declare it read-only or idempotent.
    is_idempotent: bool,
    /// Bytes of the name and of the schemas.
    bytes: usize,
    /// The number of the list that contained the tool last.
    list: u64,
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
        omissions: &Omissions,
    ) -> Result<ResultBody, String> {
        match (request, body) {
            (_, ResultBody::ListTools(page)) => {
                let (remaining, invalid) =
                    self.record_page(page.clone(), is_first_page(request), mirrors);
                omissions.record(request, &page, page.next_cursor.as_ref(), invalid);
                drop(page);
                Ok(ResultBody::ListTools(remaining))
            }
            (ClientRequest::Call(Call::CallTool(params)), ResultBody::CallTool(result)) => {
                self.check_output(&params.name, &result)?;
                Ok(ResultBody::CallTool(result))
            }
            (_, body) => {
                omissions.record_page(request, &body);
                Ok(body)
            }
        }
    }

    /// Returns the arguments of a call that headers mirror. Empty for an unknown tool.
    // spec: XHDR-02, XHDR-12, XHDR-20
    pub(crate) fn params(&self, request: &ClientRequest) -> ParamHeaderValues {
        let ClientRequest::Call(Call::CallTool(params)) = request else {
            return ParamHeaderValues::new();
        };
        let entries = self.entries.read();
        let tool = entries.tools.get(&*params.name);
        let headers = tool.and_then(|tool| tool.headers.as_ref());
        // Duplicate arguments are left to the server, which refuses them.
        let values = headers.and_then(|headers| headers.values(params.arguments.as_ref()));
        values.unwrap_or_default()
    }

    /// Returns whether the server declares the tool read-only or idempotent.
    pub(crate) fn is_idempotent(&self, tool: &str) -> bool {
        let entries = self.entries.read();
        let tool = entries.tools.get(tool);
        tool.is_some_and(|tool| tool.is_idempotent)
    }

    /// Records the tools of a page. Tools with too long names are removed from the page, as those that cannot be read
    /// already are. If headers mirror arguments (`mirrors`), tools with invalid header annotations are removed, too.
    /// Returns the other tools, and those that are removed here.
    // spec: XHDR-08, XHDR-09, XHDR-10
    fn record_page(
        &self,
        page: Arc<Listing<ListToolsResult>>,
        is_first: bool,
        mirrors: bool,
    ) -> (Arc<Listing<ListToolsResult>>, Vec<Omission>) {
        let list = Method::ListTools.as_str();
        let mut invalid = Vec::new();
        let mut entries = self.entries.write();
        entries.list += u64::from(is_first);
        let mut dropped = HashSet::new();
        for name in page
            .omissions
            .iter()
            .filter_map(|part| part.name.as_deref())
        {
            entries.remove(name);
            dropped.insert(name);
        }
        for (index, tool) in page.tools.iter().enumerate() {
            let headers = match headers(tool, mirrors) {
                Ok(headers) => headers,
                Err(reason) => {
                    let place = format!("tools[{index}]");
                    let name = Some(tool.name.clone());
                    invalid.push(Omission::new(list, place, name, reason));
                    entries.remove(&tool.name);
                    dropped.insert(&*tool.name);
                    continue;
                }
            };
            // Of two definitions with one name, an invalid one removes both.
            if dropped.contains(&*tool.name) {
                continue;
            }
            let mut entry = IndexedTool {
                headers,
                output: self.output_schema(tool),
                is_idempotent: is_idempotent(tool),
                bytes: 0,
                list: entries.list,
            };
            entry.bytes = tool.name.len() + schema_bytes(tool, &entry);
            entries.insert(&tool.name, entry);
        }
        if page.next_cursor.is_none() {
            entries.remove_unlisted();
        }
        if dropped.is_empty() {
            return (page, invalid);
        }
        let mut remaining = ListToolsResult::clone(&page);
        remaining
            .tools
            .retain(|tool| !dropped.contains(&*tool.name));
        (Arc::new(Listing::new(remaining)), invalid)
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

    /// Checks a result against its tool's output schema. A result that is an error is valid.
    // spec: TOOL-16, TOOL-17, JSCH-06
    fn check_output(&self, tool: &str, result: &CallToolResult) -> Result<(), String> {
        let entries = self.entries.read();
        let output = entries.tools.get(tool).and_then(|tool| tool.output.clone());
        drop(entries);
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
    let hints = tool.annotations.as_ref();
    hints.is_some_and(|hints| {
        hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
    })
}

/// Returns the size of the schemas that an entry keeps, as JSON.
fn schema_bytes(tool: &Tool, entry: &IndexedTool) -> usize {
    let headers = entry.headers.as_ref().map(|_| &tool.input_schema);
    let output = entry.output.as_ref().map(|output| &output.schema);
    headers
        .into_iter()
        .chain(output)
        .map(|schema| json_bytes(schema))
        .sum()
}

fn json_bytes(schema: &JsonObject) -> usize {
    // A parsed schema serializes.
    serde_json::to_vec(schema).map_or(MAX_BYTES, |json| json.len())
}

/// Returns the headers that mirror arguments of a tool.
///
/// # Errors
///
/// Returns the defect of a definition that the client does not accept.
fn headers(tool: &Tool, mirrors: bool) -> Result<Option<ParamHeaders>, String> {
    let length = tool.name.len();
    if length > MAX_NAME {
        return Err(format!("its name has {length} bytes, more than {MAX_NAME}"));
    }
    if !mirrors {
        return Ok(None);
    }
    ParamHeaders::from_schema(&tool.input_schema).map_err(|error| error.to_string())
}

impl ToolEntries {
    fn remove(&mut self, name: &str) {
        if let Some(earlier) = self.tools.remove(name) {
            self.bytes -= earlier.bytes;
        }
    }

    /// Replaces the entry of a tool. One without any property of interest has none.
    fn insert(&mut self, name: &str, tool: IndexedTool) {
        self.remove(name);
        if tool.headers.is_none() && tool.output.is_none() && !tool.is_idempotent {
            return;
        }
        let bytes = tool.bytes;
        if self.is_full(bytes) {
            self.remove_unlisted();
        }
        if self.is_full(bytes) {
            tracing::warn!(
                tools = self.tools.len(),
                bytes = self.bytes,
                "the index of tools is full and is cleared: list the tools again"
            );
            self.tools.clear();
            self.bytes = 0;
        }
        if bytes <= MAX_BYTES {
            self.bytes += bytes;
            self.tools.insert(name.into(), tool);
        }
    }

    /// Returns true if an entry of this size exceeds a limit.
    fn is_full(&self, bytes: usize) -> bool {
        self.tools.len() >= MAX_TOOLS || self.bytes + bytes > MAX_BYTES
    }

    /// Removes the tools that the latest list does not contain.
    fn remove_unlisted(&mut self) {
        let latest = self.list;
        self.tools.retain(|_, tool| tool.list == latest);
        self.bytes = self.tools.values().map(|tool| tool.bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_core::schema::JsonSchema;
    use mcp_core::{Call, ClientRequest, Listing, ResultBody};
    use mcp_types::{Cursor, ListToolsResult, Page, Tool};
    use serde_json::json;

    use super::{MAX_BYTES, MAX_NAME, MAX_TOOLS, ToolIndex};

    fn index() -> ToolIndex {
        ToolIndex::new(Some(Arc::new(JsonSchema)))
    }

    /// A read-only tool with an output schema whose description has `bytes` bytes.
    fn tool(name: &str, bytes: usize) -> Tool {
        serde_json::from_value(json!({
            "name": name,
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "description": "x".repeat(bytes)},
            "annotations": {"readOnlyHint": true},
        }))
        .unwrap()
    }

    /// Records a page, and returns the names of the tools that stay in it.
    fn record(
        index: &ToolIndex,
        cursor: Option<&str>,
        tools: Vec<Tool>,
        next: Option<&str>,
    ) -> Vec<String> {
        let omissions = super::Omissions::new("test");
        record_with(index, &omissions, cursor, tools, next)
    }

    fn record_with(
        index: &ToolIndex,
        omissions: &super::Omissions,
        cursor: Option<&str>,
        tools: Vec<Tool>,
        next: Option<&str>,
    ) -> Vec<String> {
        let page = cursor.map_or_else(Page::default, |cursor| Page::from(Cursor::new(cursor)));
        let mut listed = ListToolsResult::from(tools);
        listed.next_cursor = next.map(Cursor::new);
        let body = ResultBody::ListTools(Arc::new(Listing::new(listed)));
        let request = ClientRequest::Call(Call::ListTools(page));
        match index.process_result(&request, body, false, omissions) {
            Ok(ResultBody::ListTools(page)) => {
                page.tools.iter().map(|tool| tool.name.clone()).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn size(index: &ToolIndex) -> (usize, usize) {
        let entries = index.entries.read();
        (entries.tools.len(), entries.bytes)
    }

    #[test]
    fn index_contains_only_tools_in_the_latest_list() {
        let index = index();
        for round in 0..50 {
            let name = |page: usize| format!("tool-{round}-{page}");
            record(&index, None, vec![tool(&name(0), 10)], Some("1"));
            record(&index, Some("1"), vec![tool(&name(1), 10)], None);
            assert!(index.is_idempotent(&name(0)) && index.is_idempotent(&name(1)));
            assert_eq!(size(&index).0, 2, "round {round}");
        }
        // Until its last page, an interrupted list forgets nothing.
        record(&index, None, vec![tool("new", 10)], Some("1"));
        assert!(index.is_idempotent("new") && index.is_idempotent("tool-49-1"));
        // A tool that loses its hint loses it at once.
        let plain = Tool::new("tool-49-1");
        record(&index, None, vec![plain], Some("1"));
        assert!(!index.is_idempotent("tool-49-1"));
        record(&index, None, Vec::new(), None);
        assert_eq!(size(&index), (0, 0));
    }

    #[test]
    fn index_for_endless_lists_is_bounded() {
        let index = index();
        for number in 0..MAX_TOOLS + 10 {
            record(&index, None, vec![tool(&number.to_string(), 0)], Some("1"));
        }
        assert!(size(&index).0 <= MAX_TOOLS);
        let index = self::index();
        for number in 0..40 {
            let names = (0..1_000_000 / 1000).map(|tool| format!("{number}-{tool}"));
            let tools = names.map(|name| tool(&name, 1000)).collect();
            record(&index, None, tools, Some("1"));
            let (_, bytes) = size(&index);
            assert!(bytes <= MAX_BYTES, "{bytes}");
        }
        // The latest tools are known.
        assert!(index.is_idempotent("39-0") && index.is_idempotent("39-999"));
        record(&index, None, vec![tool("huge", MAX_BYTES)], Some("1"));
        assert!(size(&index).1 <= MAX_BYTES);
    }

    #[test]
    fn tool_with_too_long_name_is_dropped() {
        let index = index();
        let (longest, long) = ("ä".repeat(MAX_NAME / 2), "ä".repeat(MAX_NAME / 2 + 1));
        let (omissions, tools) = (
            super::Omissions::new("test"),
            vec![tool(&longest, 0), tool(&long, 0)],
        );
        let kept = record_with(&index, &omissions, None, tools, None);
        assert_eq!(kept, [longest]);
        let dropped = omissions.present();
        assert_eq!(dropped.len(), 1);
        assert_eq!(dropped[0].name, Some("ä".repeat(64) + "…"));
        assert_eq!(dropped[0].reason, "its name has 1026 bytes, more than 1024");
    }
}

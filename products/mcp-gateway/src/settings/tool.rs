//! Tool settings: [`ToolOptions`].

use std::fmt;
use std::sync::Arc;

use mcp_server::{Caller, ToolError};
use mcp_types::{JsonObject, RawObject, Tool};
use serde_json::Value;

use crate::limits::limiter::{CallLimits, Limiter};

/// Decides which callers see an item.
pub(crate) type Visible = Arc<dyn Fn(&Caller<'_>) -> bool + Send + Sync>;

/// Options of one tool: the name and description that clients see, fixed arguments, limits.
///
/// # Examples
///
/// ```
/// use mcp::gateway::ToolOptions;
/// use serde_json::json;
///
/// let search = ToolOptions::new()
///     .rename("search")
///     .description("Searches the handbook.")
///     .hidden_argument("index", json!("handbook"));
/// ```
#[derive(Default)]
#[must_use = "does nothing until it is passed to a server"]
pub struct ToolOptions {
    pub(crate) name: Option<String>,
    description: Option<String>,
    arguments: JsonObject,
    pub(crate) visible_to: Vec<Visible>,
    pub(crate) limiter: Limiter,
}

impl ToolOptions {
    /// Options that change nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the tool's exact name, without a prefix. No other tool of the gateway receives the name, also
    /// while the server does not list the tool.
    pub fn rename(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Replaces the description.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Removes an argument from the schema that clients see, and adds it with this value to each call. A call
    /// whose client sends the argument is refused.
    pub fn hidden_argument(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }

    /// Sets limits of the tool's calls, in addition to those of its server.
    pub fn limits(mut self, limits: CallLimits) -> Self {
        self.limiter = Limiter::new(&limits);
        self
    }

    /// Hides the tool from callers that `filter` does not accept. The filters of its server and of earlier calls hold
    /// as well.
    pub fn visible_to(
        mut self,
        filter: impl Fn(&Caller<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.visible_to.push(Arc::new(filter));
        self
    }

    /// Changes a tool to what clients see.
    pub(crate) fn apply(&self, tool: &mut Tool) {
        if let Some(description) = &self.description {
            tool.description = Some(description.clone());
        }
        if self.arguments.is_empty() {
            return;
        }
        let schema = Arc::make_mut(&mut tool.input_schema);
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.retain(|name, _| !self.arguments.contains_key(name));
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|name| {
                let name = name.as_str();
                !name.is_some_and(|name| self.arguments.contains_key(name))
            });
        }
    }

    /// Returns the arguments for the server.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolError`] when the client has sent a hidden argument, or one of them twice: the server could
    /// read another one than the gateway, its gate and its audit.
    pub(crate) fn arguments(&self, sent: RawObject) -> Result<RawObject, ToolError> {
        if let Some(name) = sent.as_raw().repeated_member() {
            return Err(ToolError::invalid_params(format!(
                "the argument {name:?} comes twice"
            )));
        }
        if self.arguments.is_empty() {
            return Ok(sent);
        }
        let mut all: JsonObject = sent
            .parse()
            .map_err(|error| ToolError::invalid_params(error.to_string()))?;
        for (name, value) in &self.arguments {
            if all.contains_key(name) {
                return Err(ToolError::new(format!(
                    "the tool has no argument {name:?}; leave it out"
                )));
            }
            all.insert(name.clone(), value.clone());
        }
        RawObject::from_value(&all).map_err(|error| ToolError::invalid_params(error.to_string()))
    }
}

/// Omits the argument values, which may be secrets.
impl fmt::Debug for ToolOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<_> = self.arguments.keys().collect();
        f.debug_struct("ToolOptions")
            .field("name", &self.name)
            .field("description", &self.description)
            .field("hidden_arguments", &arguments)
            .finish_non_exhaustive()
    }
}

//! [`Report`]: which tools got full types, and why the others did not.

use std::fmt;

use mcp_types::escape_line;
use serde::Serialize;

/// A part of a schema without a full type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// The JSON pointer in the tool: `/inputSchema/properties/filter`.
    pub path: String,
    /// The reason why the type is wider than the schema.
    pub reason: String,
}

/// The types of one tool.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ToolReport {
    /// The tool's name.
    pub name: String,
    /// The server declares a schema of the results.
    pub has_output: bool,
    /// The parts without a full type. Empty when every part has one.
    pub notes: Vec<Note>,
}

impl ToolReport {
    /// Returns true if the arguments, and the results if they have a schema, have full types.
    pub fn is_full(&self) -> bool {
        self.notes.is_empty()
    }
}

/// The types of a catalog's tools.
///
/// It prints as one line with the numbers, and one line for each part without a full type.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub struct Report(pub(crate) Vec<ToolReport>);

impl Report {
    /// Returns the tools in the catalog's order.
    pub fn tools(&self) -> &[ToolReport] {
        &self.0
    }

    /// Returns the number of tools with full types.
    pub fn full(&self) -> usize {
        self.0.iter().filter(|tool| tool.is_full()).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (full, all) = (self.full(), self.0.len());
        writeln!(f, "{full} of {all} tools have full types")?;
        for tool in &self.0 {
            for Note { path, reason } in &tool.notes {
                // The names are those of the server.
                let name = escape_line(&tool.name);
                let (path, reason) = (escape_line(path), escape_line(reason));
                writeln!(f, "{name}{path}: any JSON, because {reason}")?;
            }
        }
        Ok(())
    }
}

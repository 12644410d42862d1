//! [`Generator`] and [`Generated`].

use mcp_client::catalog::Snapshot;
use proc_macro2::TokenStream;

use crate::error::GenerateError;
use crate::model::Model;
use crate::report::Report;
use crate::{emit, file};

/// Generates Rust code from a catalog.
///
/// # Examples
///
/// ```
/// use mcp::catalog::Snapshot;
/// use mcp::generate::Generator;
///
/// let snapshot: Snapshot = r#"{"tools": [{"name": "add", "inputSchema": {
///     "type": "object",
///     "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
///     "required": ["a", "b"]
/// }}]}"#.parse()?;
/// let generated = Generator::client("Shop").generate(&snapshot)?;
/// assert_eq!(generated.report().full(), 1);
/// assert!(generated.to_source()?.contains("pub struct AddInput"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Generator {
    emit: fn(&Model) -> TokenStream,
    command: &'static str,
    name: String,
}

impl Generator {
    /// Creates a client generator. `name` names the struct, in any spelling.
    pub fn client(name: impl Into<String>) -> Self {
        Self {
            emit: emit::client,
            command: "gen rust",
            name: name.into(),
        }
    }

    /// Creates a generator of server traits. `name` names the trait, in any spelling.
    pub fn server(name: impl Into<String>) -> Self {
        Self {
            emit: emit::server,
            command: "gen rust-server",
            name: name.into(),
        }
    }

    /// Generates the code for a catalog.
    ///
    /// A schema without a Rust type becomes any JSON, with the reason in the field's documentation
    /// and in the [report](Generated::report). So does a schema of more than 256 KiB or 4,096 subschemas, and a part below
    /// 48 levels of types or after 10,000 parts, where references count each time.
    ///
    /// A resource that a listed template matches has no method and is not in `CATALOG`: the template's method reads it.
    ///
    /// # Errors
    ///
    /// Returns [`GenerateError::TooMany`] for more than 20,000 tools, prompts, resources and templates.
    pub fn generate(&self, snapshot: &Snapshot) -> Result<Generated, GenerateError> {
        let snapshot = snapshot.without_template_data();
        let model = Model::new(&self.name, &snapshot)?;
        Ok(Generated {
            tokens: (self.emit)(&model),
            command: self.command,
            snapshot,
            report: model.report,
        })
    }
}

/// Generated code. Created by [`Generator::generate`].
#[derive(Debug)]
pub struct Generated {
    tokens: TokenStream,
    command: &'static str,
    snapshot: Snapshot,
    report: Report,
}

impl Generated {
    /// Returns the report: which tools got full types.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Formats the code as a file, with the catalog as the constant `CATALOG`. It is the file of a module, or
    /// `include!` reads it into one: `mod shop { include!(concat!(env!("OUT_DIR"), "/shop.rs")); }`.
    ///
    /// # Errors
    ///
    /// Returns [`GenerateError::Malformed`] for an error of this library.
    pub fn to_source(&self) -> Result<String, GenerateError> {
        file::write(&self.tokens, self.command, &self.snapshot)
    }
}

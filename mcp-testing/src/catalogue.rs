//! All that a server offers, held against a text that a person has read.

mod diff;

use std::fs;
use std::future::Future;
use std::panic::Location;
use std::path::{Path, PathBuf};

use mcp::{Client, Result};
use serde_json::{Value, json};

/// Set to any value, the variable writes the texts anew instead of comparing them. It is the one
/// that `expect_test` has.
const UPDATE: &str = "UPDATE_EXPECT";

/// All that a server offers to one client: its tools, resources, templates and prompts as they are
/// on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue(Value);

impl Catalogue {
    /// The catalogue as JSON, laid out for people.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.0).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// Gives a client its [`catalogue`](Self::catalogue).
pub trait HasCatalogue: sealed::Sealed {
    /// Lists all that the server offers.
    ///
    /// # Errors
    ///
    /// When a list cannot be had.
    fn catalogue(&self) -> impl Future<Output = Result<Catalogue>> + Send;
}

mod sealed {
    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Sealed {}
    impl Sealed for mcp::Client {}
}

impl HasCatalogue for Client {
    async fn catalogue(&self) -> Result<Catalogue> {
        let offers = self.server_capabilities();
        let has =
            |what: fn(&mcp::types::ServerCapabilities) -> bool| offers.as_ref().is_none_or(what);
        let mut found = json!({});
        if has(|offers| offers.tools.is_some()) {
            found["tools"] = json!(self.list_all_tools().await?);
        }
        if has(|offers| offers.resources.is_some()) {
            found["resources"] = json!(self.list_all_resources().await?);
            found["resourceTemplates"] = json!(self.list_all_resource_templates().await?);
        }
        if has(|offers| offers.prompts.is_some()) {
            found["prompts"] = json!(self.list_all_prompts().await?);
        }
        Ok(Catalogue(found))
    }
}

/// Holds all that a server offers against the text that was kept, and panics with what has changed:
/// tools are read by models and called by programs that nobody told.
///
/// The text is a file in `snapshots` beside the package's manifest, named by the module of the test,
/// or by what stands first: `snapshot!("admin", client.catalogue())`. `UPDATE_EXPECT=1` writes it.
///
/// ```no_run
/// use mcp_testing::HasCatalogue as _;
/// # async fn test(server: mcp::Server) -> mcp::Result<()> {
/// let client = mcp_testing::connect(server).await?;
/// mcp_testing::snapshot!(client.catalogue());
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! snapshot {
    ($name:literal, $catalogue:expr $(,)?) => {
        $crate::assert_snapshot(env!("CARGO_MANIFEST_DIR"), $name, &$catalogue.await?)
    };
    ($catalogue:expr $(,)?) => {
        $crate::assert_snapshot(
            env!("CARGO_MANIFEST_DIR"),
            module_path!(),
            &$catalogue.await?,
        )
    };
}

/// What [`snapshot!`] does, for a file of any folder.
///
/// # Panics
///
/// When the catalogue is another one than the file tells, or there is no such file.
#[track_caller]
#[expect(clippy::panic, reason = "it is an assertion")]
pub fn assert_snapshot(folder: impl AsRef<Path>, name: &str, catalogue: &Catalogue) {
    let file = file_of(folder.as_ref(), name);
    let update = std::env::var_os(UPDATE).is_some();
    if let Err(report) = compare(&file, catalogue, update) {
        let place = Location::caller();
        panic!("{place}: {report}\n`{UPDATE}=1` accepts the change");
    }
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    let name = name.replace("::", "-");
    folder.join("snapshots").join(format!("{name}.json"))
}

/// Compares, or writes; the error is what a person has to know.
fn compare(file: &Path, catalogue: &Catalogue, update: bool) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    if update {
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        return fs::write(file, catalogue.to_json()).map_err(failed);
    }
    let kept = fs::read_to_string(file).map_err(failed)?;
    let kept: Value =
        serde_json::from_str(&kept).map_err(|error| format!("{}: {error}", file.display()))?;
    let changes = diff::changes(&kept, &catalogue.0);
    if changes.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the server offers something else than {} tells:\n  {}",
        file.display(),
        changes.join("\n  ")
    ))
}

#[cfg(test)]
mod tests;

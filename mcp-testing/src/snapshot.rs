//! Snapshots of all features of a server.

mod diff;

use std::fs;
use std::future::Future;
use std::panic::Location;
use std::path::{Path, PathBuf};

use mcp::types::ServerCapabilities;
use mcp::{Client, Result, catalog};
use serde_json::{Value, json};

/// Environment variable that updates snapshots instead of comparing them, as for `expect_test`.
const UPDATE: &str = "UPDATE_EXPECT";

/// The tools, resources, templates and prompts that a server lists for one client, in the form of the
/// protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSnapshot(Value);

impl ServerSnapshot {
    /// Returns the snapshot as indented JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.0).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// Adds [`snapshot`](Self::snapshot) to [`Client`].
pub trait SnapshotExt: sealed::Sealed {
    /// Lists all features of the server.
    ///
    /// # Errors
    ///
    /// Returns an error when a list request fails.
    fn snapshot(&self) -> impl Future<Output = Result<ServerSnapshot>> + Send;
}

mod sealed {
    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Sealed {}
    impl Sealed for mcp::Client {}
}

impl SnapshotExt for Client {
    async fn snapshot(&self) -> Result<ServerSnapshot> {
        let capabilities = self.server_capabilities();
        let has =
            |feature: fn(&ServerCapabilities) -> bool| capabilities.as_ref().is_none_or(feature);
        let mut lists = json!({});
        if has(|capabilities| capabilities.tools.is_some()) {
            lists["tools"] = json!(self.list_tools().await?);
        }
        if has(|capabilities| capabilities.resources.is_some()) {
            lists["resources"] = json!(self.list_resources().await?);
            lists["resourceTemplates"] = json!(self.list_resource_templates().await?);
        }
        if has(|capabilities| capabilities.prompts.is_some()) {
            lists["prompts"] = json!(self.list_prompts().await?);
        }
        Ok(ServerSnapshot(lists))
    }
}

/// Compares the features of a server with a stored snapshot, and panics with the differences.
///
/// The snapshot is a file in the directory `snapshots` of the package. Its name is the module path of
/// the test, or the first argument: `snapshot!("admin", client.snapshot())`. With the environment
/// variable `UPDATE_EXPECT=1`, the macro writes the file.
///
/// # Examples
///
/// ```no_run
/// use mcp_testing::SnapshotExt as _;
/// # async fn test(server: mcp::Server) -> mcp::Result<()> {
/// let client = mcp_testing::connect(server).await?;
/// mcp_testing::snapshot!(client.snapshot());
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! snapshot {
    ($name:literal, $snapshot:expr $(,)?) => {
        $crate::assert_snapshot(env!("CARGO_MANIFEST_DIR"), $name, &$snapshot.await?)
    };
    ($snapshot:expr $(,)?) => {
        $crate::assert_snapshot(
            env!("CARGO_MANIFEST_DIR"),
            module_path!(),
            &$snapshot.await?,
        )
    };
}

/// Compares the lists of a server with the snapshot `name` of the package in `folder`, as
/// [`snapshot!`](crate::snapshot!) does.
///
/// # Panics
///
/// Panics when the snapshot differs from the file, or when the file cannot be read.
#[track_caller]
#[expect(clippy::panic, reason = "an assertion")]
pub fn assert_snapshot(folder: impl AsRef<Path>, name: &str, snapshot: &ServerSnapshot) {
    let file = file_of(folder.as_ref(), name);
    let update = std::env::var_os(UPDATE).is_some();
    if let Err(report) = compare(&file, snapshot, update) {
        let location = Location::caller();
        panic!("{location}: {report}\nset `{UPDATE}=1` to accept the change");
    }
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    let name = name.replace("::", "-");
    folder.join("snapshots").join(format!("{name}.json"))
}

/// Compares or updates the file. The error is a readable report.
fn compare(file: &Path, snapshot: &ServerSnapshot, update: bool) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    if update {
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        return fs::write(file, snapshot.to_json()).map_err(failed);
    }
    let expected = fs::read_to_string(file).map_err(failed)?;
    let expected: Value =
        serde_json::from_str(&expected).map_err(|error| format!("{}: {error}", file.display()))?;
    let differences = diff::differences(&expected, &snapshot.0);
    if differences.is_empty() {
        return Ok(());
    }
    let mut report = format!(
        "the features of the server differ from {}:\n  {}",
        file.display(),
        differences.join("\n  ")
    );
    for line in breaking(expected, &snapshot.0) {
        report.push_str("\n  ");
        report.push_str(&line);
    }
    Err(report)
}

/// Describes the breaking changes between two snapshots.
fn breaking(expected: Value, actual: &Value) -> Vec<String> {
    let old = catalog::Snapshot::from_value(expected);
    let new = catalog::Snapshot::from_value(actual.clone());
    let (Ok(old), Ok(new)) = (old, new) else {
        return Vec::new();
    };
    let diff = old.diff(&new);
    let differences = diff.differences().iter();
    let breaking = differences.filter(|difference| difference.impact == catalog::Impact::Breaking);
    breaking.map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests;

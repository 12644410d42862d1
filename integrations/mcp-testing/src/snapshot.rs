//! Snapshots of a server's catalog.

use std::fmt::Display;
use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};

use mcp::catalog::Snapshot;

/// Environment variable that updates snapshots instead of comparing them, as for `expect_test`.
const UPDATE: &str = "UPDATE_EXPECT";

/// Largest size of a snapshot file in bytes: 64 MiB.
const MAX_BYTES: u64 = 64 << 20;

/// Compares the features of a client's server with a stored snapshot, and panics with the differences.
///
/// The snapshot is a file in the directory `snapshots` of the package. Its name is the test's module
/// path, or the first argument: `snapshot!("admin", client)`. With the environment variable
/// `UPDATE_EXPECT=1`, the macro writes the file. Resources that a listed template matches are data, and left out.
///
/// # Examples
///
/// ```no_run
/// # async fn test(server: mcp::Server) -> mcp::Result<()> {
/// let client = mcp_testing::connect(server).await?;
/// mcp_testing::snapshot!(client);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! snapshot {
    ($name:literal, $client:expr $(,)?) => {
        $crate::assert_snapshot(
            env!("CARGO_MANIFEST_DIR"),
            $name,
            &$crate::Snapshot::capture(&$client).await?,
        )
    };
    ($client:expr $(,)?) => {
        $crate::assert_snapshot(
            env!("CARGO_MANIFEST_DIR"),
            module_path!(),
            &$crate::Snapshot::capture(&$client).await?,
        )
    };
}

/// Compares a snapshot with the file `name` of the package in `folder`, as
/// [`snapshot!`](crate::snapshot!) does.
///
/// # Panics
///
/// Panics when the snapshot differs from the file, or when the file cannot be read.
#[track_caller]
#[expect(clippy::panic, reason = "an assertion")]
pub fn assert_snapshot(folder: impl AsRef<Path>, name: &str, snapshot: &Snapshot) {
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
fn compare(file: &Path, snapshot: &Snapshot, update: bool) -> Result<(), String> {
    let failed = |error: &dyn Display| format!("{}: {error}", file.display());
    let snapshot = snapshot.without_template_data();
    if update {
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        return fs::write(file, snapshot.to_json()).map_err(|error| failed(&error));
    }
    let expected = mcp_files::read(file, MAX_BYTES).map_err(|error| failed(&error))?;
    let expected: Snapshot = expected.parse().map_err(|error| failed(&error))?;
    let diff = expected.without_template_data().diff(&snapshot);
    if diff.differences().is_empty() {
        return Ok(());
    }
    let file = file.display();
    Err(format!(
        "the features of the server differ from {file}:\n{diff}"
    ))
}

#[cfg(test)]
mod tests {
    use super::{Snapshot, compare, file_of};

    #[test]
    fn rows_of_a_template_are_left_out() {
        let folder = std::env::temp_dir().join(format!("mcp-rows-{}", std::process::id()));
        let file = file_of(&folder, "rows");
        let rows = |rows: &str| -> Snapshot {
            let template = r#"[{"uriTemplate": "users://{id}", "name": "user"}]"#;
            format!(r#"{{"resources": [{rows}], "resourceTemplates": {template}}}"#)
                .parse()
                .unwrap()
        };
        let (one, other) = (
            rows(r#"{"uri": "users://1"}"#),
            rows(r#"{"uri": "users://2"}"#),
        );
        compare(&file, &one, true).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("users://1"), "{text}");
        compare(&file, &other, false).unwrap();
        // A file of an earlier version has the rows.
        std::fs::write(&file, one.to_json()).unwrap();
        compare(&file, &other, false).unwrap();
        let fixed = rows(r#"{"uri": "help://all"}"#);
        assert!(compare(&file, &fixed, false).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn snapshot_is_written_and_compared() {
        let folder = std::env::temp_dir().join(format!("mcp-snapshot-{}", std::process::id()));
        let file = file_of(&folder, "crate::tests");
        let tools =
            |tools: &str| -> Snapshot { format!("{{\"tools\": [{tools}]}}").parse().unwrap() };
        let add =
            tools(r#"{"name": "add", "description": "Add", "inputSchema": {"type": "object"}}"#);
        assert!(compare(&file, &add, false).is_err());
        compare(&file, &add, true).unwrap();
        compare(&file, &add, false).unwrap();
        let report = compare(&file, &tools(""), false).unwrap_err();
        assert!(report.contains("breaking: /tools/add: removed"), "{report}");
        assert!(report.contains("crate-tests.json"), "{report}");
        let described = tools(
            r#"{"name": "add", "description": "Add two", "inputSchema": {"type": "object"}}"#,
        );
        let report = compare(&file, &described, false).unwrap_err();
        assert!(
            report.contains("cosmetic: /tools/add/description"),
            "{report}"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}

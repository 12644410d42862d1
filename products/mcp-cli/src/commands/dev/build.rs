//! Builds by cargo, and their errors.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};
use cargo_metadata::{Message, PackageId};
use parking_lot::Mutex;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::plan::CargoRun;
use crate::output::{self, Output};

/// Number of errors that a call gets. The terminal shows all.
const MAX_ERRORS: usize = 10;
/// Longest error in characters that a call gets.
const MAX_ERROR: usize = 500;
/// Number of cargo's last lines that a call gets when the compiler reported no error with a location.
const MAX_LINES: usize = 20;
/// Time to read the rest of standard error after cargo has ended. A process that the build has left behind may
/// keep the pipe open.
const REST: Duration = Duration::from_millis(200);

/// The outcome of a build.
#[derive(Debug, Default)]
pub(super) struct Build {
    pub(super) succeeded: bool,
    pub(super) executables: Vec<PathBuf>,
    /// The package folders on this machine.
    pub(super) packages: BTreeSet<PathBuf>,
    errors: Vec<BuildError>,
    /// The last lines of standard error.
    lines: LastLines,
}

/// A compiler error.
#[derive(Debug, PartialEq, Eq)]
struct BuildError {
    /// File, line and column.
    place: Option<(String, usize, usize)>,
    code: Option<String>,
    message: String,
}

/// The last lines that cargo has written to standard error.
#[derive(Debug, Clone, Default)]
struct LastLines(Arc<Mutex<VecDeque<String>>>);

/// Builds what `cargo run` starts. Dropping the future ends cargo and its processes.
pub(super) async fn run(cargo: &CargoRun, folder: &Path, output: &Output) -> Build {
    let mut build = Build::default();
    match build.fill(cargo, folder, output).await {
        Ok(succeeded) => build.succeeded = succeeded,
        Err(error) => build
            .lines
            .push(format!("{} cannot be run: {error}", cargo.program)),
    }
    build
}

impl Build {
    /// Returns true if cargo has succeeded.
    async fn fill(&mut self, cargo: &CargoRun, folder: &Path, output: &Output) -> io::Result<bool> {
        let mut process = Process::spawn(cargo, folder)?;
        let stderr = process.child.stderr().take();
        let reading = tokio::spawn(read_stderr(stderr, self.lines.clone(), *output));
        let reading = AbortOnDropHandle::new(reading);
        if let Some(stdout) = process.child.stdout().take() {
            self.read_messages(stdout, output).await?;
        }
        let succeeded = process.wait().await?;
        let _ = timeout(REST, reading).await;
        Ok(succeeded)
    }

    /// Reads what cargo reports, to the end of the build.
    async fn read_messages(
        &mut self,
        from: impl AsyncRead + Unpin,
        output: &Output,
    ) -> io::Result<()> {
        let mut lines = BufReader::new(from).split(b'\n');
        while let Some(line) = lines.next_segment().await? {
            match serde_json::from_slice(&line) {
                Ok(Message::CompilerArtifact(artifact)) => {
                    self.add_package(&artifact.package_id, artifact.manifest_path.as_std_path());
                    self.executables
                        .extend(artifact.executable.map(PathBuf::from));
                }
                Ok(Message::CompilerMessage(message)) => {
                    self.add_package(&message.package_id, message.target.src_path.as_std_path());
                    self.add_diagnostic(&message.message, output);
                }
                Ok(Message::BuildFinished(_)) => break,
                // Messages of later versions, and what build scripts print.
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds the folder of a package, if its source is on this machine. `file` is a file of the package.
    fn add_package(&mut self, id: &PackageId, file: &Path) {
        if !id.repr.starts_with("path+") {
            return;
        }
        let mut folders = file.ancestors().skip(1);
        if let Some(folder) = folders.find(|folder| folder.join("Cargo.toml").is_file()) {
            self.packages.insert(folder.to_owned());
        }
    }

    fn add_diagnostic(&mut self, diagnostic: &Diagnostic, output: &Output) {
        if !output.json
            && let Some(text) = &diagnostic.rendered
        {
            output::status(text.trim_end());
        }
        let is_error = matches!(
            diagnostic.level,
            DiagnosticLevel::Error | DiagnosticLevel::Ice
        );
        // The last message of the compiler counts the others.
        if !is_error || diagnostic.message.starts_with("aborting due to") {
            return;
        }
        let error = BuildError::new(diagnostic);
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Returns the errors for a call.
    pub(super) fn problem(&self) -> String {
        let mut text = if self.errors.is_empty() {
            "cargo cannot build the server; it says:".to_owned()
        } else {
            "the server does not compile; correct its source and call again:".to_owned()
        };
        for error in self.errors.iter().take(MAX_ERRORS) {
            let line: String = error.to_line().chars().take(MAX_ERROR).collect();
            let _ = write!(text, "\n{line}");
        }
        if self.errors.len() > MAX_ERRORS {
            let _ = write!(
                text,
                "\n… and {} more errors",
                self.errors.len() - MAX_ERRORS
            );
        }
        if self.errors.is_empty() {
            for line in self.lines.0.lock().iter() {
                let _ = write!(text, "\n{line}");
            }
        }
        text
    }

    /// Returns the errors for programs.
    pub(super) fn errors(&self) -> Value {
        if self.errors.is_empty() {
            let lines: Vec<_> = self.lines.0.lock().iter().cloned().collect();
            return json!([{"message": lines.join("\n")}]);
        }
        self.errors.iter().map(BuildError::to_json).collect()
    }
}

/// Returns where the user's source causes an error. Macros and checks of constants have their own place in another
/// crate: the source that uses them is at the outermost expansion, or at another span.
fn place(diagnostic: &Diagnostic) -> Option<&DiagnosticSpan> {
    fn outermost(span: &DiagnosticSpan) -> &DiagnosticSpan {
        match &span.expansion {
            Some(expansion) => outermost(&expansion.span),
            None => span,
        }
    }
    let primary = diagnostic.spans.iter().filter(|span| span.is_primary);
    let children = diagnostic.children.iter().flat_map(|child| &child.spans);
    let mut spans = primary.chain(&diagnostic.spans).chain(children);
    // Cargo names the files of the workspace relative to it.
    let own = spans
        .clone()
        .map(outermost)
        .find(|span| Path::new(&span.file_name).is_relative());
    own.or_else(|| spans.next().map(outermost))
}

impl BuildError {
    fn new(diagnostic: &Diagnostic) -> Self {
        let span = diagnostic.spans.iter().find(|span| span.is_primary);
        let label = span.and_then(|span| span.label.as_deref());
        let message = match label {
            Some(label) => format!("{}: {label}", diagnostic.message),
            None => diagnostic.message.clone(),
        };
        let place = place(diagnostic);
        Self {
            place: place.map(|span| (span.file_name.clone(), span.line_start, span.column_start)),
            code: diagnostic.code.as_ref().map(|code| code.code.clone()),
            message,
        }
    }

    fn to_line(&self) -> String {
        let place = match &self.place {
            Some((file, line, column)) => format!("{file}:{line}:{column}: "),
            None => String::new(),
        };
        let code = match &self.code {
            Some(code) => format!("[{code}]"),
            None => String::new(),
        };
        format!("{place}error{code}: {}", self.message)
    }

    fn to_json(&self) -> Value {
        let mut error = json!({"message": self.message});
        if let Some((file, line, column)) = &self.place {
            error["file"] = json!(file);
            error["line"] = json!(line);
            error["column"] = json!(column);
        }
        if let Some(code) = &self.code {
            error["code"] = json!(code);
        }
        error
    }
}

impl LastLines {
    fn push(&self, line: String) {
        let mut lines = self.0.lock();
        lines.push_back(line);
        if lines.len() > MAX_LINES {
            lines.pop_front();
        }
    }
}

/// Prints what cargo writes to standard error, and keeps the last lines.
async fn read_stderr(from: Option<impl AsyncRead + Unpin>, last: LastLines, output: Output) {
    let Some(from) = from else {
        return;
    };
    let mut lines = BufReader::new(from).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        if !output.json {
            output.note(&line);
        }
        last.push(line);
    }
}

/// A running cargo and the processes that it starts. Dropping this kills them if they still run.
struct Process {
    child: Box<dyn ChildWrapper>,
    has_ended: bool,
}

impl Process {
    fn spawn(cargo: &CargoRun, folder: &Path) -> io::Result<Self> {
        let mut command = CommandWrap::with_new(&cargo.program, |command| {
            command
                .args(&cargo.toolchain)
                .args(["build", "--message-format=json"])
                .args(&cargo.options)
                .current_dir(folder)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
        });
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let child = command.spawn()?;
        Ok(Self {
            child,
            has_ended: false,
        })
    }

    /// Returns true if cargo has succeeded.
    async fn wait(&mut self) -> io::Result<bool> {
        let status = self.child.wait().await;
        self.has_ended = true;
        Ok(status?.success())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_ended {
            // An error means that it has ended already.
            let _ = self.child.start_kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Build, BuildError, MAX_ERROR, MAX_ERRORS};

    fn error(line: usize, message: &str) -> BuildError {
        BuildError {
            place: Some(("src/main.rs".to_owned(), line, 5)),
            code: Some("E0308".to_owned()),
            message: message.to_owned(),
        }
    }

    #[test]
    fn problem_names_places_and_is_short() {
        let mut build = Build {
            errors: vec![error(3, "mismatched types: expected `i64`, found `&str`")],
            ..Build::default()
        };
        let problem = build.problem();
        let line = "src/main.rs:3:5: error[E0308]: mismatched types: expected `i64`, found `&str`";
        assert_eq!(problem.lines().nth(1), Some(line), "{problem}");
        assert_eq!(
            build.errors(),
            json!([{
                "message": "mismatched types: expected `i64`, found `&str`",
                "file": "src/main.rs", "line": 3, "column": 5, "code": "E0308",
            }])
        );
        build.errors = (0..100)
            .map(|line| error(line, &"é".repeat(10_000)))
            .collect();
        let problem = build.problem();
        assert!(
            problem.chars().count() < (MAX_ERRORS + 1) * (MAX_ERROR + 1),
            "{problem}"
        );
        assert!(problem.ends_with("… and 90 more errors"), "{problem}");
    }

    #[test]
    fn place_is_outermost_in_the_code_that_the_user_wrote() {
        let span = |file: &str, line: usize, is_primary: bool, expansion: Value| {
            json!({
                "file_name": file, "byte_start": 0, "byte_end": 1, "line_start": line, "line_end": line,
                "column_start": 5, "column_end": 6, "is_primary": is_primary, "text": [], "label": null,
                "suggested_replacement": null, "suggestion_applicability": null, "expansion": expansion,
            })
        };
        let expansion =
            |span: Value| json!({"span": span, "macro_decl_name": "m!", "def_site_span": null});
        let library = "/rustc/1/library/core/src/panic.rs";
        let own = || span("src/main.rs", 7, true, Value::Null);
        let place = |spans: Value, children: Value| {
            let diagnostic = json!({
                "message": "m", "code": null, "level": "error", "spans": spans, "children": children, "rendered": null,
            });
            BuildError::new(&serde_json::from_value(diagnostic).unwrap()).place
        };
        let expected = Some(("src/main.rs".to_owned(), 7, 5));
        let nested = expansion(span("src/macros.rs", 3, false, expansion(own())));
        let child = json!([{"message": "m", "code": null, "level": "note", "spans": [own()], "children": [], "rendered": null}]);
        let alone = || span(library, 1, true, Value::Null);
        for (spans, children) in [
            (json!([own()]), json!([])),
            (json!([span(library, 1, true, nested)]), json!([])),
            (
                json!([alone(), span("src/main.rs", 7, false, Value::Null)]),
                json!([]),
            ),
            (json!([alone()]), child),
        ] {
            assert_eq!(place(spans.clone(), children), expected, "{spans}");
        }
        let place = place(json!([alone()]), json!([]));
        assert_eq!(place, Some((library.to_owned(), 1, 5)));
    }

    #[test]
    fn problem_without_compiler_errors_shows_cargo_output() {
        let build = Build::default();
        for number in 0..100 {
            build.lines.push(format!("line {number}"));
        }
        let problem = build.problem();
        assert!(problem.starts_with("cargo cannot build"), "{problem}");
        assert!(problem.ends_with("\nline 98\nline 99"), "{problem}");
        assert!(!problem.contains("line 79"), "{problem}");
        assert!(
            build.errors()[0]["message"]
                .as_str()
                .unwrap()
                .ends_with("line 99")
        );
    }
}

//! Reading what a configuration consists of: its own file, and files of variables.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{ConfigError, GroupConfig, ServerSpec, Variables};

/// The longest file that is read, in bytes.
const LIMIT: u64 = 1 << 20;

/// Folders in which editors keep their files; the project is the folder around them.
const EDITORS: [&str; 3] = [".vscode", ".cursor", ".claude"];

impl GroupConfig {
    /// Reads a file. Variables come from the environment of this process; `workspaceFolder` is the
    /// folder of the file, or the one around it for files in `.vscode`, `.cursor` and `.claude`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], like [`parse`](Self::parse).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp_client::group::GroupConfig;
    ///
    /// for server in GroupConfig::read(".vscode/mcp.json")?.servers {
    ///     match server.spec {
    ///         Ok(spec) => println!("{}: {spec:?}", server.name),
    ///         Err(error) => println!("{}: {error}", server.name),
    ///     }
    /// }
    /// # Ok::<(), mcp_client::group::ConfigError>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let text = text(path).map_err(|source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, &Variables::of_process().workspace(&project(path)))
    }
}

impl Variables {
    /// Sets what VS Code and Cursor say of the folder of a project.
    #[must_use]
    pub fn workspace(self, folder: &Path) -> Self {
        let separator = std::path::MAIN_SEPARATOR_STR;
        let name = folder.file_name().unwrap_or_default();
        self.set("workspaceFolder", folder.to_string_lossy())
            .set("workspaceFolderBasename", name.to_string_lossy())
            .set("pathSeparator", separator)
            .set("/", separator)
    }
}

impl ServerSpec {
    /// The variables that a program is started with: those of its `envFile`, then those of its
    /// entry. The file is read each time, and has a `NAME=value` in each line.
    ///
    /// # Errors
    ///
    /// What the operating system says of the file, and which one it is.
    pub fn variables(&self) -> io::Result<Vec<(String, String)>> {
        let Self::Command { env, env_file, .. } = self else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        if let Some(path) = env_file {
            let named = |error: io::Error| {
                io::Error::new(
                    error.kind(),
                    format!("the file {path:?} cannot be read: {error}"),
                )
            };
            let text = text(Path::new(path)).map_err(named)?;
            all.extend(text.lines().filter_map(variable));
        }
        all.extend(env.iter().cloned());
        Ok(all)
    }
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?
        .take(LIMIT + 1)
        .read_to_string(&mut text)?;
    if read as u64 > LIMIT {
        let error = format!("it is longer than {LIMIT} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, error));
    }
    // Some editors begin files with a mark.
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// The folder of the project that a file belongs to.
fn project(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(&path);
    let is_editors = folder
        .file_name()
        .is_some_and(|name| EDITORS.iter().any(|editor| name == *editor));
    let around = folder.parent().filter(|_| is_editors);
    around.unwrap_or(folder).to_owned()
}

/// The variable in a line; `None` for comments and for lines without one.
fn variable(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    if line.starts_with('#') {
        return None;
    }
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    Some((name.to_owned(), unquoted(value.trim())))
}

/// A value without its quotes; behind one that has none there may be a comment.
fn unquoted(value: &str) -> String {
    let quoted = |quote| {
        let (inside, _) = value.strip_prefix(quote)?.split_once(quote)?;
        Some(inside)
    };
    if let Some(inside) = quoted('\'') {
        return inside.to_owned();
    }
    if let Some(inside) = quoted('"') {
        return inside.replace("\\n", "\n");
    }
    let (value, _) = value.split_once(" #").unwrap_or((value, ""));
    value.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, absolute};

    use super::{GroupConfig, ServerSpec, project, variable};

    #[test]
    fn lines_of_variables() {
        for (line, read) in [
            ("A=1", Some(("A", "1"))),
            (" export B = two words # why", Some(("B", "two words"))),
            ("C='#1 $x' # why", Some(("C", "#1 $x"))),
            (r#"D="a\nb""#, Some(("D", "a\nb"))),
            ("E=a=b#c", Some(("E", "a=b#c"))),
            ("F=", Some(("F", ""))),
            ("G=\"open", Some(("G", "\"open"))),
            ("# H=1", None),
            ("", None),
            ("=1", None),
            ("name", None),
        ] {
            let read = read.map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(variable(line), read, "{line}");
        }
    }

    #[test]
    fn projects() {
        for (file, folder) in [
            ("a/mcp.json", "a"),
            ("a/.vscode/mcp.json", "a"),
            ("a/.cursor/mcp.json", "a"),
        ] {
            assert_eq!(project(Path::new(file)), absolute(folder).unwrap());
        }
    }

    #[test]
    fn files() {
        let folder = std::env::temp_dir().join(format!("mcp-config-{}", std::process::id()));
        std::fs::create_dir_all(folder.join(".vscode")).unwrap();
        let (file, env) = (folder.join(".vscode/mcp.json"), folder.join("files.env"));
        let entry =
            r#"{"command": "x", "env": {"B": "2"}, "envFile": "${workspaceFolder}${/}files.env"}"#;
        std::fs::write(
            &file,
            format!("\u{feff}{{\"servers\": {{\"files\": {entry}}}}}"),
        )
        .unwrap();
        let config = GroupConfig::read(&file).unwrap();
        let spec = config.servers[0].spec.clone().unwrap();
        let error = spec.variables().unwrap_err().to_string();
        assert!(error.contains("files.env\" cannot be read: "), "{error}");
        std::fs::write(&env, "A=1\nB=1\n").unwrap();
        let pairs = [("A", "1"), ("B", "1"), ("B", "2")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(spec.variables().unwrap(), pairs);
        std::fs::remove_dir_all(&folder).unwrap();
        let error = GroupConfig::read(&file).unwrap_err().to_string();
        assert!(error.contains("mcp.json\" cannot be read: "), "{error}");
        let url = ServerSpec::Url {
            url: "https://ada:secret@example.com/mcp?key=secret".to_owned(),
            headers: Vec::new(),
        };
        assert!(url.variables().unwrap().is_empty());
        let shown = format!("{url:?}");
        assert!(shown.contains("https://example.com/mcp"), "{shown}");
        assert!(!shown.contains("secret"), "{shown}");
    }
}

//! Reading of configuration files and of files with environment variables.

use std::io;
use std::path::{Path, PathBuf};

use mcp_files::{open_regular, read, read_from};

use super::spec::{ConfigError, GroupConfig, ServerSpec};
use super::variables::Variables;

/// Largest file size in bytes.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// Configuration folders of other hosts. The project is their parent folder.
const HOST_FOLDERS: [&str; 9] = [
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".github",
    ".opencode",
    ".qwen",
    ".vscode",
    ".zed",
];

impl GroupConfig {
    /// Reads a project's file. Variables have the process environment's values. `workspaceFolder` is the
    /// file's folder, or its parent for files in another host's folder such as `.vscode`, `.cursor` or `.claude`.
    /// Programs with a path separator, `cwd` and `envFile` are [relative](ServerSpec::relative_to) to that folder.
    ///
    /// # Errors
    ///
    /// Returns [`ConfigError`] when the file cannot be read or parsed.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::group::GroupConfig;
    ///
    /// for server in GroupConfig::read(".vscode/mcp.json")?.servers {
    ///     match server.spec {
    ///         Ok(spec) => println!("{}: {spec:?}", server.name),
    ///         Err(error) => println!("{}: {error}", server.name),
    ///     }
    /// }
    /// # Ok::<(), mcp::group::ConfigError>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let content = read(path, MAX_FILE_SIZE).map_err(|source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let folder = project_folder(path);
        let variables = Variables::of_process().workspace(&folder);
        let mut config = Self::parse(&content, &variables)?;
        let file = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        config.file = Some(file.to_string_lossy().into());
        for entry in &mut config.servers {
            if let Ok(spec) = &mut entry.spec {
                *spec = spec.clone().relative_to(&folder);
            }
        }
        Ok(config)
    }
}

impl Variables {
    /// Sets the variables of VS Code and Cursor that describe the project folder, such as `workspaceFolder`.
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
    /// Makes the paths of a command absolute: its program, `cwd` and `envFile`. A program without a
    /// path separator stays as it is, because it is looked up in `PATH`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use mcp::group::ServerSpec;
    ///
    /// let npx = ServerSpec::program("npx", ["files"]);
    /// assert_eq!(npx.clone().relative_to(Path::new("/project")), npx);
    /// ```
    #[must_use]
    pub fn relative_to(mut self, folder: &Path) -> Self {
        if let Self::Command {
            command,
            env_file,
            cwd,
            ..
        } = &mut self
        {
            let program = command.contains(std::path::is_separator).then_some(command);
            for path in program.into_iter().chain(env_file).chain(cwd) {
                let joined = folder.join(&*path);
                let absolute = std::path::absolute(&joined).unwrap_or(joined);
                *path = absolute.to_string_lossy().into_owned();
            }
        }
        self
    }

    /// Returns the environment variables for a program: those of `envFile`, followed by those of
    /// `env`. The file has a `NAME=value` in each line, and is read at each call.
    ///
    /// # Errors
    ///
    /// Returns the IO error of `envFile`, with its path.
    pub fn variables(&self) -> io::Result<Vec<(String, String)>> {
        let Self::Command { env, env_file, .. } = self else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        if let Some(path) = env_file {
            let with_path = |error: io::Error| {
                io::Error::new(
                    error.kind(),
                    format!("the file {path:?} cannot be read: {error}"),
                )
            };
            // A project can name it, and nobody has approved the entry yet.
            let file = open_regular(Path::new(path)).map_err(with_path)?;
            let content = read_from(file, MAX_FILE_SIZE).map_err(with_path)?;
            all.extend(content.lines().filter_map(parse_variable));
        }
        all.extend(env.iter().cloned());
        Ok(all)
    }
}

/// Returns the project folder of a configuration file.
fn project_folder(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(&path);
    let is_host_folder = folder
        .file_name()
        .is_some_and(|name| HOST_FOLDERS.iter().any(|host| name == *host));
    let parent = folder.parent().filter(|_| is_host_folder);
    parent.unwrap_or(folder).to_owned()
}

/// Parses a line `NAME=value`. Returns `None` for comments and other lines.
fn parse_variable(line: &str) -> Option<(String, String)> {
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

/// Removes the quotes around a value. A value without quotes may be followed by a comment.
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

    use super::{GroupConfig, ServerSpec, parse_variable, project_folder};

    #[test]
    fn parse_variable_handles_quotes_and_comments() {
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
            assert_eq!(parse_variable(line), read, "{line}");
        }
    }

    #[test]
    fn project_folder_lies_above_the_editor_folder() {
        for (file, folder) in [
            ("a/mcp.json", "a"),
            ("a/.vscode/mcp.json", "a"),
            ("a/.cursor/mcp.json", "a"),
        ] {
            assert_eq!(project_folder(Path::new(file)), absolute(folder).unwrap());
        }
    }

    #[test]
    fn paths_in_a_file_are_relative_to_the_project() {
        let folder = std::env::temp_dir().join(format!("mcp-relative-{}", std::process::id()));
        std::fs::create_dir_all(folder.join(".vscode")).unwrap();
        let text = r#"{"servers": {
            "own": {"command": "./bin/own", "cwd": "data", "envFile": "own.env"},
            "bare": {"command": "bare", "args": ["./a"]},
            "fixed": {"command": "${workspaceFolder}/fixed"}
        }}"#;
        for file in ["mcp.json", ".vscode/mcp.json"] {
            std::fs::write(folder.join(file), text).unwrap();
            let config = GroupConfig::read(folder.join(file)).unwrap();
            let specs = config.servers.into_iter().map(|entry| entry.spec.unwrap());
            let specs: Vec<_> = specs.collect();
            let inside = |name: &str| folder.join(name).to_string_lossy().into_owned();
            let mut own = ServerSpec::program(inside("bin/own"), [""; 0]);
            if let ServerSpec::Command { cwd, env_file, .. } = &mut own {
                *cwd = Some(inside("data"));
                *env_file = Some(inside("own.env"));
            }
            let bare = ServerSpec::program("bare", ["./a"]);
            let fixed = ServerSpec::program(inside("fixed"), [""; 0]);
            assert_eq!(specs, [own, bare, fixed], "{file}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn read_with_env_file_returns_variables_or_error() {
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
        let url = ServerSpec::http("https://ada:secret@example.com/mcp?key=secret", []);
        assert!(url.variables().unwrap().is_empty());
        let shown = format!("{url:?}");
        assert!(shown.contains("https://example.com/mcp"), "{shown}");
        assert!(!shown.contains("secret"), "{shown}");
    }
}

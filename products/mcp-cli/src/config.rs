//! Configuration files that list servers: the project's and the user's `mcp.json`, and other clients' files.
//!
//! | module | contents |
//! |---|---|
//! | `dialect` | the syntax of the files |

mod dialect;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use mcp::core::ServerIdentity;
use mcp::group::{ConfigError, ServerEntry};
use url::Url;

use self::dialect::Dialect;
use self::dialect::Dialect::{Braces, Codex, Dollar, Goose, Json};
pub(crate) use self::dialect::parse_yaml;
use crate::failure::Failure;
use crate::written;

/// A place where a configuration file may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The program whose file it is; `project` or `user` for an `mcp.json`, `file` for one that the user names.
    pub(crate) owner: &'static str,
    pub(crate) path: PathBuf,
    /// True for files below the current folder, which somebody else may have written.
    pub(crate) is_project: bool,
    dialect: Dialect,
}

impl Location {
    /// Reads the servers of the file.
    ///
    /// # Errors
    ///
    /// Returns a [`ConfigError`] if the file cannot be read or parsed, or lists no servers. In a project also if it is a pipe or a
    /// device, or a link to one, which could block each command in the folder.
    pub(crate) fn read(&self) -> Result<Vec<ServerEntry>, ConfigError> {
        if self.is_project {
            let path = &self.path;
            mcp_files::open_regular(path).map_err(|source| ConfigError::Unreadable {
                path: path.clone(),
                source,
            })?;
        }
        let is_own = matches!(self.owner, "file" | "project" | "user");
        let config = self.dialect.read(&self.path, is_own)?;
        Ok(config.servers)
    }
}

/// The servers of one file, or the error that makes it unusable.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    pub(crate) location: Location,
    pub(crate) servers: Result<Vec<ServerEntry>, ConfigError>,
}

/// Reads all configuration files that exist, or only `file`. Earlier files have precedence.
pub(crate) fn read_all(file: Option<&Path>) -> Vec<ConfigFile> {
    let locations = match file {
        Some(path) => vec![named(path)],
        None => locations(),
    };
    let is_explicit = file.is_some();
    let read = locations.into_iter().map(|location| {
        let servers = location.read();
        ConfigFile { location, servers }
    });
    read.filter(|file| is_explicit || !is_absent(&file.servers))
        .collect()
}

/// Returns the place of a file that the user names. Another program's file keeps its owner.
fn named(path: &Path) -> Location {
    let known = locations()
        .into_iter()
        .find(|known| same_file::is_same_file(&known.path, path).unwrap_or(false));
    let (owner, dialect) = match known {
        Some(known) => (known.owner, known.dialect),
        None => ("file", Dialect::of_path(path)),
    };
    Location {
        owner,
        path: path.to_owned(),
        is_project: false,
        dialect,
    }
}

/// Finds a server by its name.
pub(crate) fn find(name: &str, file: Option<&Path>) -> Result<(Location, ServerEntry), Failure> {
    let mut names = Vec::new();
    let mut broken = Vec::new();
    for file in read_all(file) {
        match file.servers {
            Ok(servers) => {
                for entry in servers {
                    if entry.name == name {
                        return Ok((file.location, entry));
                    }
                    names.push(entry.name);
                }
            }
            Err(error) => broken.push(format!("{}: {error}", file.location.path.display())),
        }
    }
    let known = if names.is_empty() {
        "no configuration file lists a server".to_owned()
    } else {
        format!("known servers: {}", names.join(", "))
    };
    // `127.0.0.1:8000/mcp`, `example.com/mcp`
    let is_address = name.contains(['/', ':']);
    let url = if is_address {
        format!("a URL, which begins with http:// or https:// (http://{name})")
    } else {
        "a URL".to_owned()
    };
    let mut message =
        format!("there is no server {name:?}; {known}; or pass {url}, or a command after `--`");
    if !broken.is_empty() {
        message.push_str(&format!("; unusable files: {}", broken.join("; ")));
    }
    Err(Failure::usage(message))
}

/// Returns true if the file does not exist or lists no servers, such as an editor's settings.
fn is_absent(servers: &Result<Vec<ServerEntry>, ConfigError>) -> bool {
    match servers {
        Err(ConfigError::Unreadable { source, .. }) => source.kind() == io::ErrorKind::NotFound,
        Err(ConfigError::NoServers) => true,
        _ => false,
    }
}

/// Files in a project folder, in the order of precedence.
const PROJECT_FILES: [(&str, &str, Dialect); 13] = [
    ("project", "mcp.json", Json),
    ("Claude Code", ".mcp.json", Json),
    ("VS Code", ".vscode/mcp.json", Json),
    ("Cursor", ".cursor/mcp.json", Json),
    ("Codex", ".codex/config.toml", Codex),
    ("Gemini CLI", ".gemini/settings.json", Dollar),
    ("Qwen Code", ".qwen/settings.json", Dollar),
    ("opencode", "opencode.json", Braces),
    ("opencode", "opencode.jsonc", Braces),
    ("opencode", ".opencode/opencode.json", Braces),
    ("opencode", ".opencode/opencode.jsonc", Braces),
    ("Copilot CLI", ".github/mcp.json", Json),
    ("Zed", ".zed/settings.json", Json),
];

/// Returns all places where a file may be, the project's first.
pub(crate) fn locations() -> Vec<Location> {
    let project = PROJECT_FILES
        .into_iter()
        .map(|(owner, path, dialect)| Location {
            owner,
            path: path.into(),
            is_project: true,
            dialect,
        });
    let mut found: Vec<_> = project.collect();
    if let Some(home) = std::env::home_dir() {
        let settings = settings_folder(&home);
        found.extend(user_locations(&home, &settings, folder_of_variable));
    }
    found
}

/// Returns the files in the user's folders. `folder` reads a folder from an environment variable.
fn user_locations(
    home: &Path,
    settings: &Path,
    folder: impl Fn(&str) -> Option<PathBuf>,
) -> Vec<Location> {
    let named = |variable: &str, default: &str| {
        let set = folder(variable);
        set.unwrap_or_else(|| home.join(default))
    };
    // Some programs use `.config` on every system.
    let config = named("XDG_CONFIG_HOME", ".config");
    let zed = if cfg!(windows) {
        settings.join("Zed")
    } else {
        config.join("zed")
    };
    let goose = if cfg!(windows) {
        settings.join("Block/goose/config/config.yaml")
    } else {
        config.join("goose/config.yaml")
    };
    let cline = "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
    let files = [
        ("user", settings.join("mcp/mcp.json"), Json),
        ("Claude Code", home.join(".claude.json"), Json),
        (
            "Claude Desktop",
            settings.join("Claude/claude_desktop_config.json"),
            Json,
        ),
        ("VS Code", settings.join("Code/User/mcp.json"), Json),
        ("Cursor", home.join(".cursor/mcp.json"), Json),
        (
            "Codex",
            named("CODEX_HOME", ".codex").join("config.toml"),
            Codex,
        ),
        ("Gemini CLI", home.join(".gemini/settings.json"), Dollar),
        ("Qwen Code", home.join(".qwen/settings.json"), Dollar),
        ("opencode", config.join("opencode/opencode.json"), Braces),
        ("opencode", config.join("opencode/opencode.jsonc"), Braces),
        (
            "Copilot CLI",
            named("COPILOT_HOME", ".copilot").join("mcp-config.json"),
            Json,
        ),
        (
            "Cline",
            named("CLINE_DIR", ".cline").join("data/settings/cline_mcp_settings.json"),
            Json,
        ),
        ("Cline", settings.join(cline), Json),
        ("Zed", zed.join("settings.json"), Json),
        (
            "Windsurf",
            home.join(".codeium/windsurf/mcp_config.json"),
            Json,
        ),
        ("Goose", goose, Goose),
    ];
    let files = files.into_iter().map(|(owner, path, dialect)| Location {
        owner,
        path,
        is_project: false,
        dialect,
    });
    files.collect()
}

/// Returns the value of an environment variable if it is an absolute path.
fn folder_of_variable(name: &str) -> Option<PathBuf> {
    let set = std::env::var_os(name).map(PathBuf::from);
    set.filter(|path| path.is_absolute())
}

/// Returns the folder in which programs keep the user's settings.
fn settings_folder(home: &Path) -> PathBuf {
    let (variable, default) = if cfg!(target_os = "macos") {
        (None, "Library/Application Support")
    } else if cfg!(windows) {
        (Some("APPDATA"), "AppData/Roaming")
    } else {
        (Some("XDG_CONFIG_HOME"), ".config")
    };
    variable
        .and_then(folder_of_variable)
        .unwrap_or_else(|| home.join(default))
}

/// Returns the folder in which programs keep the user's data.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let home = std::env::home_dir()?;
    if cfg!(any(windows, target_os = "macos")) {
        return Some(settings_folder(&home));
    }
    let set = folder_of_variable("XDG_DATA_HOME");
    Some(set.unwrap_or_else(|| home.join(".local/share")))
}

/// Returns the folder in which programs keep files that may be deleted.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let home = std::env::home_dir()?;
    let (variable, default) = if cfg!(target_os = "macos") {
        (None, "Library/Caches")
    } else if cfg!(windows) {
        (Some("LOCALAPPDATA"), "AppData/Local")
    } else {
        (Some("XDG_CACHE_HOME"), ".cache")
    };
    let set = variable.and_then(folder_of_variable);
    Some(set.unwrap_or_else(|| home.join(default)))
}

/// Returns the folder for the lists of the servers behind the gateway of a file. It belongs to this file alone.
pub(crate) fn lists_folder(file: &Path) -> Option<PathBuf> {
    let file = std::path::absolute(file).ok()?;
    let id = ServerIdentity::from_parts("lists", [file.as_os_str().as_encoded_bytes()]);
    Some(all_lists()?.join(id.to_string()))
}

fn all_lists() -> Option<PathBuf> {
    Some(cache_folder()?.join("mcp/lists"))
}

/// Removes all stored lists: they may be those of a former account.
pub(crate) fn forget_lists() {
    // Best effort: there may be none.
    let _ = all_lists().map(std::fs::remove_dir_all);
}

/// Removes the stored lists in a folder, except these files, and other folders that were not used for a long time.
pub(crate) fn keep_lists(folder: &Path, files: &HashSet<PathBuf>) {
    // Best effort: a folder without the mark is removed earlier.
    let _ = std::fs::create_dir_all(folder)
        .and_then(|()| mcp_files::replace(&folder.join("used"), b""));
    written::keep_newest(folder, written::MAX_FILES);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let others = entries.map(|entry| entry.path());
    let others = others.filter(|path| path.extension() == Some("json".as_ref()));
    for path in others.filter(|path| !files.contains(path)) {
        // Best effort: the file is not read.
        let _ = std::fs::remove_file(path);
    }
}

/// Parses a URL as the client does when it connects, so that the user sees the host that is contacted.
pub(crate) fn parse_url(text: &str) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// Returns a URL for display, without user, password, query and fragment, which may be secrets. The host is in
/// ASCII.
pub(crate) fn public_url(text: &str) -> String {
    match parse_url(text) {
        Some(url) => without_secrets(url),
        None => "an invalid URL".to_owned(),
    }
}

/// Removes user, password, query and fragment from a URL.
pub(crate) fn without_secrets(mut url: Url) -> String {
    // Both succeed for URLs with a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::{keep_lists, parse_url, public_url};
    use crate::written::MAX_FILES;

    #[cfg(unix)]
    #[test]
    fn lists_of_the_gateways_that_were_used_last_are_kept() {
        let all = std::env::temp_dir().join(format!("mcp-lists-{}", std::process::id()));
        let folder = |number: usize| all.join(number.to_string());
        let count = MAX_FILES + 20;
        for number in 0..count {
            fs::create_dir_all(folder(number)).unwrap();
            fs::write(folder(number).join("lists.json"), "{}").unwrap();
            let age = Duration::from_secs(60 * (count - number) as u64);
            let used = fs::File::open(folder(number)).unwrap();
            used.set_modified(SystemTime::now() - age).unwrap();
        }
        let own = folder(3);
        keep_lists(&own, &HashSet::from([own.join("lists.json")]));
        let exists = |number: &usize| folder(*number).join("lists.json").exists();
        let kept: Vec<usize> = (0..count).filter(exists).collect();
        let newest = count + 1 - MAX_FILES..count;
        assert_eq!(kept, std::iter::once(3).chain(newest).collect::<Vec<_>>());
        // It was used last now.
        keep_lists(&folder(count), &HashSet::new());
        assert!(exists(&3));
        assert!(!exists(&(count + 1 - MAX_FILES)));
        // The own folder stays, whatever times the others have.
        for number in 0..count {
            let later = SystemTime::now() + Duration::from_secs(3600);
            fs::create_dir_all(folder(number)).unwrap();
            let other = fs::File::open(folder(number)).unwrap();
            other.set_modified(later).unwrap();
        }
        let own = all.join("own");
        keep_lists(&own, &HashSet::new());
        assert!(own.exists());
        fs::remove_dir_all(all).unwrap();
    }

    #[test]
    fn secrets_in_urls_are_removed() {
        let shown = public_url("https://ada:secret@example.com/mcp?key=secret#x");
        assert_eq!(shown, "https://example.com/mcp");
    }

    #[test]
    fn shown_host_is_the_host_that_is_used() {
        for (url, shown) in [
            (
                "http://evil.example\\@good.example/",
                "http://evil.example/@good.example/",
            ),
            (
                "http:\\\\evil.example\\@good.example",
                "http://evil.example/@good.example",
            ),
            ("http://good.example@evil.example/", "http://evil.example/"),
            (
                "http://good.example:80@evil.example/",
                "http://evil.example/",
            ),
            (
                "http://good.example%2f@evil.example/",
                "http://evil.example/",
            ),
            (
                "http://evil.example\t/@good.example",
                "http://evil.example/@good.example",
            ),
            (
                "http://good.example\t@evil.example/",
                "http://evil.example/",
            ),
            ("ht\ntp://ev\til.example\r/", "http://evil.example/"),
            ("  HTTPS:evil.example ", "https://evil.example/"),
            ("http:///evil.example/", "http://evil.example/"),
            ("http://evil.example?@good.example/", "http://evil.example/"),
            ("http://evil.example#@good.example/", "http://evil.example/"),
            // Looks like ASCII: a Cyrillic letter, full width, the fraction slash, a right-to-left override.
            (
                "https://g\u{43e}od.example/",
                "https://xn--god-sed.example/",
            ),
            (
                "https://\u{ff45}vil\u{3002}example/",
                "https://evil.example/",
            ),
            ("http://\u{ff11}27.0.0.1/", "http://127.0.0.1/"),
            (
                "https://a.example/\u{202e}x\u{200b}",
                "https://a.example/%E2%80%AEx%E2%80%8B",
            ),
            ("http://0x7f.1/", "http://127.0.0.1/"),
        ] {
            assert_eq!(public_url(url), shown, "{url:?}");
        }
        for url in [
            "http://",
            "http://a b/",
            "https://good.example\u{2044}@/",
            "https://good.example\u{202e}%00/",
            "ftp://good.example/",
            "good.example",
        ] {
            assert_eq!(parse_url(url), None, "{url:?}");
        }
    }
}

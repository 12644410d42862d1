//! The files that list servers: of the project, of the user, of Claude, VS Code and Cursor.

use std::io;
use std::path::{Path, PathBuf};

use mcp::group::{ConfigError, GroupConfig, ServerEntry};

use crate::failure::Failure;

/// A place where a configuration file may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The program that the file belongs to.
    pub(crate) owner: &'static str,
    pub(crate) path: PathBuf,
    /// The file is part of the current folder, so its author may be somebody else.
    pub(crate) is_project: bool,
}

/// The servers of one file, or the reason why it cannot be used.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    pub(crate) location: Location,
    pub(crate) servers: Result<Vec<ServerEntry>, ConfigError>,
}

/// Reads the files that exist, or only `file`. Earlier files have precedence.
pub(crate) fn read_all(file: Option<&Path>) -> Vec<ConfigFile> {
    let locations = match file {
        Some(path) => vec![Location {
            owner: "file",
            path: path.to_owned(),
            is_project: false,
        }],
        None => locations(),
    };
    let is_explicit = file.is_some();
    let read = locations.into_iter().map(|location| {
        let servers = GroupConfig::read(&location.path).map(|config| config.servers);
        ConfigFile { location, servers }
    });
    read.filter(|file| is_explicit || !is_absent(&file.servers))
        .collect()
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
    let known = match names.is_empty() {
        true => "no configuration file lists a server".to_owned(),
        false => format!("known servers: {}", names.join(", ")),
    };
    let mut message =
        format!("there is no server {name:?}; {known}; or pass a URL, or a command after `--`");
    if !broken.is_empty() {
        message.push_str(&format!("; unusable files: {}", broken.join("; ")));
    }
    Err(Failure::usage(message))
}

/// Returns true for files that do not exist, and for files of editors that list no servers.
fn is_absent(servers: &Result<Vec<ServerEntry>, ConfigError>) -> bool {
    match servers {
        Err(ConfigError::Unreadable { source, .. }) => source.kind() == io::ErrorKind::NotFound,
        Err(ConfigError::NoServers) => true,
        _ => false,
    }
}

fn locations() -> Vec<Location> {
    let project = [
        ("project", "mcp.json"),
        ("Claude Code", ".mcp.json"),
        ("VS Code", ".vscode/mcp.json"),
        ("Cursor", ".cursor/mcp.json"),
    ];
    let mut found: Vec<_> = project
        .into_iter()
        .map(|(owner, path)| location(owner, path.into(), true))
        .collect();
    if let Some(home) = std::env::home_dir() {
        found.extend(user_locations(&home, &settings_folder(&home)));
    }
    found
}

fn user_locations(home: &Path, settings: &Path) -> [Location; 5] {
    [
        location("user", settings.join("mcp/mcp.json"), false),
        location("Claude Code", home.join(".claude.json"), false),
        location(
            "Claude Desktop",
            settings.join("Claude/claude_desktop_config.json"),
            false,
        ),
        location("VS Code", settings.join("Code/User/mcp.json"), false),
        location("Cursor", home.join(".cursor/mcp.json"), false),
    ]
}

fn location(owner: &'static str, path: PathBuf, is_project: bool) -> Location {
    Location {
        owner,
        path,
        is_project,
    }
}

/// The folder in which programs keep the settings of the user.
fn settings_folder(home: &Path) -> PathBuf {
    let (variable, default) = if cfg!(target_os = "macos") {
        (None, "Library/Application Support")
    } else if cfg!(windows) {
        (Some("APPDATA"), "AppData/Roaming")
    } else {
        (Some("XDG_CONFIG_HOME"), ".config")
    };
    let set = variable.and_then(std::env::var_os).map(PathBuf::from);
    set.filter(|it| it.is_absolute())
        .unwrap_or_else(|| home.join(default))
}

/// The folder in which programs keep the data of the user.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let home = std::env::home_dir()?;
    if cfg!(any(windows, target_os = "macos")) {
        return Some(settings_folder(&home));
    }
    let set = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let set = set.filter(|it| it.is_absolute());
    Some(set.unwrap_or_else(|| home.join(".local/share")))
}

/// The folder in which programs keep files that may be deleted.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let home = std::env::home_dir()?;
    let (variable, default) = if cfg!(target_os = "macos") {
        (None, "Library/Caches")
    } else if cfg!(windows) {
        (Some("LOCALAPPDATA"), "AppData/Local")
    } else {
        (Some("XDG_CACHE_HOME"), ".cache")
    };
    let set = variable.and_then(std::env::var_os).map(PathBuf::from);
    let set = set.filter(|it| it.is_absolute());
    Some(set.unwrap_or_else(|| home.join(default)))
}

/// Removes user, password, query and fragment from a URL: they may be secrets.
pub(crate) fn public_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::public_url;

    #[test]
    fn secrets_of_urls_are_removed() {
        let shown = public_url("https://ada:secret@example.com/mcp?key=secret#x");
        assert_eq!(shown, "https://example.com/mcp");
    }
}

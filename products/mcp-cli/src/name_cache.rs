//! Names of tools, prompts and resources that earlier commands have seen, for completions.
//!
//! Shells insert completions unquoted, and servers choose the names. Only names without characters
//! that a shell interprets are kept.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use mcp::Tool;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::ServerArgs;
use crate::{config, written};

/// Largest size of a file in bytes.
const MAX_BYTES: usize = 256 << 10;
/// Largest number of tools, prompts or resources.
const MAX_NAMES: usize = 500;
/// Longest name in bytes.
const MAX_NAME: usize = 200;

/// The names of one server.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Names {
    /// Tools with their arguments, and each argument's known values.
    pub(crate) tools: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    pub(crate) prompts: BTreeMap<String, Vec<String>>,
    pub(crate) resources: Vec<String>,
}

impl Names {
    /// Replaces the tools.
    pub(crate) fn set_tools(&mut self, tools: &[Tool]) {
        let safe = tools
            .iter()
            .filter(|tool| is_safe(&tool.name))
            .take(MAX_NAMES);
        self.tools = safe
            .map(|tool| (tool.name.clone(), arguments(tool)))
            .collect();
    }

    /// Replaces the prompts: their names and arguments.
    pub(crate) fn set_prompts(&mut self, prompts: &[mcp::Prompt]) {
        let safe = prompts
            .iter()
            .filter(|prompt| is_safe(&prompt.name))
            .take(MAX_NAMES);
        let named = safe.map(|prompt| {
            let names = prompt
                .arguments
                .iter()
                .map(|argument| argument.name.clone());
            let names = names.filter(|prompt| is_safe(prompt)).take(MAX_NAMES);
            (prompt.name.clone(), names.collect())
        });
        self.prompts = named.collect();
    }

    /// Replaces the resources.
    pub(crate) fn set_resources(&mut self, uris: impl Iterator<Item = String>) {
        self.resources = uris.filter(|uri| is_safe(uri)).take(MAX_NAMES).collect();
    }

    /// Reads the names of a server. Empty when none are known.
    pub(crate) fn read(target: &str) -> Self {
        let path = file_of(target);
        path.and_then(|path| read(&path)).unwrap_or_default()
    }

    /// Changes the names of a command's server. A cache that cannot be written is ignored.
    pub(crate) fn update(args: &ServerArgs, change: impl FnOnce(&mut Self)) {
        // Commands stand at the end of a line, so that nothing is completed after them.
        let ([], Some(target)) = (&*args.command, args.words.first()) else {
            return;
        };
        let Some(path) = file_of(target) else {
            return;
        };
        let mut names = read(&path).unwrap_or_default();
        change(&mut names);
        if let Ok(text) = serde_json::to_vec(&names)
            && text.len() <= MAX_BYTES
        {
            // Completions go without these names.
            let _ = written::store(&path, &text);
        }
    }
}

fn arguments(tool: &Tool) -> BTreeMap<String, Vec<String>> {
    let properties = tool.input_schema.get("properties");
    let properties = properties.and_then(Value::as_object).into_iter().flatten();
    let safe = properties.filter(|(name, _)| is_safe(name)).take(MAX_NAMES);
    let values = |schema: &Value| {
        let listed = schema.get("enum").and_then(Value::as_array);
        let listed = listed.into_iter().flatten().filter_map(Value::as_str);
        let safe = listed.filter(|value| is_safe(value)).take(MAX_NAMES);
        safe.map(str::to_owned).collect()
    };
    safe.map(|(name, schema)| (name.clone(), values(schema)))
        .collect()
}

/// Returns true for names that no shell interprets.
pub(crate) fn is_safe(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+,".contains(&byte);
    !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with('-')
        && name.bytes().all(is_plain)
}

/// Returns the file for a target. A name has another file in each folder, as project files differ.
fn file_of(target: &str) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    target.hash(&mut hasher);
    if !target.contains("://") {
        std::env::current_dir().ok()?.hash(&mut hasher);
    }
    let name = format!("{:016x}.json", hasher.finish());
    Some(config::cache_folder()?.join("mcp/names").join(name))
}

fn read(path: &Path) -> Option<Names> {
    let text = mcp_files::read(path, MAX_BYTES as u64).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use mcp::Tool;
    use serde_json::json;

    use super::{Names, is_safe};

    #[test]
    fn names_that_a_shell_interprets_are_not_kept() {
        for name in ["add", "a.b", "disks://all", "café-free-1"] {
            assert_eq!(is_safe(name), name.is_ascii(), "{name}");
        }
        for name in [
            "", "$(id)", "a b", "a;b", "`id`", "-x", "a'b", "a\nb", "a=b", "~", "*",
        ] {
            assert!(!is_safe(name), "{name}");
        }
        let mut names = Names::default();
        names.set_tools(&[Tool::new("$(id)"), Tool::new("ok")]);
        assert_eq!(names.tools.keys().collect::<Vec<_>>(), ["ok"]);
    }

    #[test]
    fn arguments_have_the_values_from_their_enum() {
        let mut tool = Tool::new("paint");
        let schema = json!({"type": "object", "properties": {
            "color": {"enum": ["red", "$(id)", 1]}, "size": {}, "a b": {},
        }});
        tool.input_schema = schema.as_object().unwrap().clone().into();
        let mut names = Names::default();
        names.set_tools(&[tool]);
        assert_eq!(
            json!(names.tools),
            json!({"paint": {"color": ["red"], "size": []}})
        );
    }
}

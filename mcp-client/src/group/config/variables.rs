//! Variables in `mcp.json`: `${NAME}` and `${NAME:-default}` as Claude writes them, `${env:NAME}`,
//! `${input:id}`, `${workspaceFolder}` and `${userHome}` as VS Code and Cursor do.

use std::collections::HashMap;
use std::fmt;

use super::EntryError;

const ENV: &str = "env:";

/// Values of variables.
#[derive(Clone, Default)]
pub struct Variables {
    values: HashMap<String, String>,
}

impl Variables {
    /// No values: every variable of a file is missing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The environment of this process, and its user's folder as `userHome`.
    pub fn of_process() -> Self {
        let mut variables = Self::new();
        for (name, value) in std::env::vars_os() {
            if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
                variables = variables.env(name, value);
            }
        }
        match std::env::home_dir() {
            Some(home) => variables.set("userHome", home.to_string_lossy()),
            None => variables,
        }
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(self, name: &str, value: impl Into<String>) -> Self {
        self.set(format!("{ENV}{name}"), value)
    }

    /// Sets what the user answers to an input of VS Code.
    #[must_use]
    pub fn input(self, id: &str, value: impl Into<String>) -> Self {
        self.set(format!("input:{id}"), value)
    }

    /// Sets a variable by its whole name: `workspaceFolder`, `userHome`.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }

    /// Sets what is not set.
    pub(super) fn defaults(mut self, values: impl Iterator<Item = (String, String)>) -> Self {
        for (name, value) in values {
            self.values.entry(name).or_insert(value);
        }
        self
    }

    fn get(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name);
        // Without a prefix it is one of the environment.
        let value = value.or_else(|| self.values.get(&format!("{ENV}{name}")));
        value.map(String::as_str)
    }

    /// Fills in all variables of a text. A `$` that begins none stays.
    pub(super) fn fill(&self, text: &str) -> Result<String, EntryError> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((variable, behind)) = after.split_once('}') else {
                break;
            };
            out.push_str(before);
            let (name, default) = match variable.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (variable, None),
            };
            let value = self.get(name).or(default);
            out.push_str(value.ok_or_else(|| EntryError::NoValue(name.to_owned()))?);
            rest = behind;
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// Names alone: values may be secrets.
impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

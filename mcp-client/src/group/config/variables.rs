//! Variables in `mcp.json`: `${NAME}` and `${NAME:-default}` of Claude, and `${env:NAME}`,
//! `${input:id}`, `${workspaceFolder}` and `${userHome}` of VS Code and Cursor.

use std::collections::HashMap;
use std::fmt;

use super::spec::EntryError;

const ENV: &str = "env:";

/// Values for a configuration file's variables.
#[derive(Clone, Default)]
pub struct Variables {
    values: HashMap<String, String>,
}

impl Variables {
    /// Creates an empty set, in which every variable is missing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns this process's environment variables, and the user's home directory as
    /// `userHome`.
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

    /// Sets an environment variable.
    #[must_use]
    pub fn env(self, name: &str, value: impl Into<String>) -> Self {
        self.set(format!("{ENV}{name}"), value)
    }

    /// Sets a variable by its full name, such as `workspaceFolder`, `userHome`, or `input:key` for the user's answer to
    /// an input of VS Code.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }

    /// Sets variables that have no value yet.
    pub(super) fn defaults(mut self, values: impl Iterator<Item = (String, String)>) -> Self {
        for (name, value) in values {
            self.values.entry(name).or_insert(value);
        }
        self
    }

    fn get(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name);
        // A name without prefix is an environment variable.
        let value = value.or_else(|| self.values.get(&format!("{ENV}{name}")));
        value.map(String::as_str)
    }

    /// Replaces all variables of a string. A `$` without a following variable stays.
    ///
    /// # Errors
    ///
    /// Returns [`EntryError::NoValue`] for a variable without value and default.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::group::Variables;
    ///
    /// let variables = Variables::new().env("TOKEN", "t0ken");
    /// let header = variables.fill("Bearer ${TOKEN}, ${REGION:-north}")?;
    /// assert_eq!(header, "Bearer t0ken, north");
    /// # Ok::<(), mcp::group::EntryError>(())
    /// ```
    pub fn fill(&self, text: &str) -> Result<String, EntryError> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(found) = Found::first(rest) {
            out.push_str(found.before);
            let name = found.name;
            let value = self.get(name).or(found.default);
            out.push_str(value.ok_or_else(|| EntryError::NoValue(name.to_owned()))?);
            rest = found.behind;
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// A variable in a text.
struct Found<'a> {
    before: &'a str,
    name: &'a str,
    default: Option<&'a str>,
    behind: &'a str,
}

impl<'a> Found<'a> {
    fn first(text: &'a str) -> Option<Self> {
        let (before, after) = text.split_once("${")?;
        let (variable, behind) = after.split_once('}')?;
        let (name, default) = match variable.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (variable, None),
        };
        Some(Self {
            before,
            name,
            default,
            behind,
        })
    }
}

/// Returns the names of variables in a text, without `env:`.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let found = std::iter::successors(Found::first(text), |found| Found::first(found.behind));
    found.map(|found| found.name.strip_prefix(ENV).unwrap_or(found.name))
}

/// Shows names only, because values may be secrets.
impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

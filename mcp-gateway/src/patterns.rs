//! [`ToolPatterns`].

use wildmatch::WildMatch;

/// Patterns of the names of tools: `*` stands for any characters, `?` for one. All other characters stand
/// for themselves.
///
/// # Examples
///
/// ```
/// use mcp::gateway::ToolPatterns;
///
/// let patterns = ToolPatterns::new(["read_*", "list"]);
/// assert!(patterns.matches("read_file") && patterns.matches("list"));
/// assert!(!patterns.matches("list_all"));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolPatterns(Vec<WildMatch>);

impl ToolPatterns {
    /// Creates the patterns. Without any, no name matches.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Self {
        let patterns = patterns.into_iter();
        Self(patterns.map(|it| WildMatch::new(it.as_ref())).collect())
    }

    /// Returns whether one of the patterns matches a name.
    pub fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(name))
    }

    /// Returns whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

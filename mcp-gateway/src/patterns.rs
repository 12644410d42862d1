//! [`ToolPatterns`].

use wildmatch::WildMatch;

/// Patterns of tool names: `*` stands for any characters, `?` for one. All other characters stand
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
        Self(
            patterns
                .map(|pattern| WildMatch::new(pattern.as_ref()))
                .collect(),
        )
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

/// Returns whether a name may match both patterns.
pub(crate) fn overlap(first: &str, second: &str) -> bool {
    let (first, second): (Vec<char>, Vec<char>) =
        (first.chars().collect(), second.chars().collect());
    // `row[j]`: the characters of `first` so far, and the first `j` of `second`, have a common name.
    let mut row = vec![false; second.len() + 1];
    row[0] = true;
    for (j, char) in second.iter().enumerate() {
        row[j + 1] = row[j] && *char == '*';
    }
    for one in &first {
        let mut next = vec![false; second.len() + 1];
        next[0] = row[0] && *one == '*';
        for (j, two) in second.iter().enumerate() {
            next[j + 1] = match (one, two) {
                ('*', _) | (_, '*') => row[j + 1] || next[j] || row[j],
                ('?', _) | (_, '?') => row[j],
                (one, two) => row[j] && one == two,
            };
        }
        row = next;
    }
    row[second.len()]
}

#[cfg(test)]
mod tests {
    use super::overlap;

    #[test]
    fn patterns_overlap_if_a_name_matches_both() {
        for (first, second, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/c", false),
            ("a/*", "a/b", true),
            ("a/*", "*/b", true),
            ("a/*", "b/*", false),
            ("a?c", "ab*", true),
            ("a?c", "abd", false),
            ("*", "", true),
            ("a*b", "a", false),
            ("x*z", "*y*", true),
        ] {
            assert_eq!(overlap(first, second), expected, "{first} {second}");
            assert_eq!(overlap(second, first), expected, "{second} {first}");
        }
    }
}

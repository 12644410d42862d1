//! [`ToolPatterns`], and patterns that may match the same text.

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

/// The characters that end a path segment.
const SEGMENT_ENDS: [u32; 3] = ['/' as u32, '?' as u32, '#' as u32];

/// A piece of a name or URI pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A character of a name, or a byte of a URI.
    Unit(u32),
    /// Any character.
    One,
    /// Any text of one path segment.
    Segment,
    /// Any text.
    Any,
}

impl Piece {
    /// Returns the pieces of a pattern with `*` and `?`.
    pub(crate) fn of_wildcards(pattern: &str) -> Vec<Self> {
        let pieces = pattern.chars().map(|char| match char {
            '*' => Self::Any,
            '?' => Self::One,
            char => Self::Unit(char.into()),
        });
        pieces.collect()
    }

    /// Returns false if the piece stands for a text of any length.
    pub(crate) fn is_single(self) -> bool {
        matches!(self, Self::Unit(_) | Self::One)
    }

    /// Returns true if the piece stands for texts of any length that may contain a single piece.
    fn contains(self, single: Self) -> bool {
        match (self, single) {
            (Self::Segment, Self::Unit(unit)) => !SEGMENT_ENDS.contains(&unit),
            (Self::Segment | Self::Any, _) => true,
            _ => false,
        }
    }
}

/// Returns whether a text may match both patterns.
pub(crate) fn overlap(first: &[Piece], second: &[Piece]) -> bool {
    // `row[j]`: the pieces of `first` so far, and the first `j` of `second`, have a common text.
    let mut row = vec![false; second.len() + 1];
    row[0] = true;
    for (j, two) in second.iter().enumerate() {
        row[j + 1] = row[j] && !two.is_single();
    }
    for &one in first {
        let mut next = vec![false; second.len() + 1];
        next[0] = row[0] && !one.is_single();
        for (j, &two) in second.iter().enumerate() {
            next[j + 1] = match (one.is_single(), two.is_single()) {
                (true, true) => row[j] && (one == two || [one, two].contains(&Piece::One)),
                (true, false) => next[j] || (row[j + 1] && two.contains(one)),
                (false, true) => row[j + 1] || (next[j] && one.contains(two)),
                (false, false) => row[j + 1] || next[j],
            };
        }
        row = next;
    }
    row[second.len()]
}

#[cfg(test)]
mod tests {
    use super::Piece;

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
            let overlap = |first: &str, second: &str| {
                super::overlap(&Piece::of_wildcards(first), &Piece::of_wildcards(second))
            };
            assert_eq!(overlap(first, second), expected, "{first} {second}");
            assert_eq!(overlap(second, first), expected, "{second} {first}");
        }
    }
}

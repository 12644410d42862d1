//! Helpers for tests of rules: sample files in which `// BAD` marks the expected findings.

use crate::finding::Finding;
use crate::sources::Sources;

/// Returns the lines that the rule reports in a file, sorted.
pub(crate) fn lines_of(
    rule: fn(&Sources) -> Vec<Finding>,
    path: &str,
    content: &str,
) -> Vec<usize> {
    let sources = Sources::from_texts(&[(path, content)]);
    assert!(
        sources.unreadable().is_empty(),
        "syntax error in the sample"
    );
    let findings = rule(&sources);
    assert!(
        findings.iter().all(|finding| finding.path == path),
        "{findings:?}"
    );
    let mut lines: Vec<usize> = findings.iter().map(|finding| finding.line).collect();
    lines.sort_unstable();
    lines
}

/// Returns the lines with the mark.
pub(crate) fn marked(content: &str) -> Vec<usize> {
    let lines = content.lines().enumerate();
    lines
        .filter(|(_, line)| line.contains("// BAD"))
        .map(|(number, _)| number + 1)
        .collect()
}

//! Rules about whole files: each Rust file has a module doc, and no unfinished work is left.

use crate::finding::Finding;
use crate::sources::{Sources, TextFile, is_compile_case};

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for text in sources.texts() {
        findings.extend(marks(text));
        if text.path.ends_with(".rs") && !is_compile_case(&text.path) {
            findings.extend(module_doc(text));
        }
    }
    findings
}

fn module_doc(text: &TextFile) -> Option<Finding> {
    let first = text.content.lines().next().unwrap_or_default();
    // The second form includes a long doc from a file of its own.
    let is_doc = first.starts_with("//!") || first.starts_with("#![doc = include_str!(");
    let message = "the first line is not a `//!` doc; say in one sentence what the file contains";
    (!is_doc).then(|| Finding::new(&text.path, 1, message))
}

fn marks(text: &TextFile) -> Vec<Finding> {
    // Spelled in two parts, so that this line is not a finding itself.
    let mark = ["FIX", "ME"].concat();
    let lines = text.content.lines().enumerate();
    let marked = lines.filter(|(_, line)| line.contains(&mark));
    let finding = |(number, _)| {
        let message = format!("a {mark} mark; correct the code or open an issue");
        Finding::new(&text.path, number + 1, message)
    };
    marked.map(finding).collect()
}

//! The `// spec:` comments, with the test that contains each of them.

use crate::sources::{Sources, package};

/// A requirement's id in a comment.
pub(super) struct Mark<'a> {
    pub(super) id: &'a str,
    pub(super) path: &'a str,
    /// Line number, from 1.
    pub(super) line: usize,
    pub(super) place: Place<'a>,
}

/// The kind of code that a comment belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place<'a> {
    Code,
    /// The test function with this name.
    Test(&'a str),
    /// Test code outside of tests.
    Helper,
}

/// Returns the marks in all packages but this one, whose tests contain samples.
pub(super) fn read(sources: &Sources) -> Vec<Mark<'_>> {
    let is_read = |path: &str| path.ends_with(".rs") && package(path) != "xtask";
    let texts = sources.texts().iter().filter(|text| is_read(&text.path));
    texts
        .flat_map(|text| in_file(&text.path, &text.content))
        .collect()
}

/// Returns the marks of a file.
pub(super) fn in_file<'a>(path: &'a str, content: &'a str) -> Vec<Mark<'a>> {
    let lines: Vec<&str> = content.lines().collect();
    let first_test = if is_test_path(path) {
        0
    } else {
        let starts = |at: &usize| {
            let [attribute, module] = [lines[*at].trim(), lines[*at + 1].trim_start()];
            let module = module.strip_prefix("pub(super) ").unwrap_or(module);
            attribute == "#[cfg(test)]" && module.starts_with("mod ") && module.ends_with('{')
        };
        let first = (0..lines.len().saturating_sub(1)).find(starts);
        first.unwrap_or(lines.len())
    };
    let mut marks = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let listed = spec_comment(line).map(listed_ids).unwrap_or_default();
        for id in listed {
            let place = if at < first_test {
                Place::Code
            } else {
                test_around(&lines, at).map_or(Place::Helper, Place::Test)
            };
            let line = at + 1;
            marks.push(Mark {
                id,
                path,
                line,
                place,
            });
        }
    }
    marks
}

fn is_test_path(path: &str) -> bool {
    let mut folders = path.split('/').skip(1);
    folders.any(|part| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs"))
}

/// Returns the test function that a line is in, or whose head it precedes. The source is formatted by
/// rustfmt: the head of a function is indented less than its body.
fn test_around<'a>(lines: &[&'a str], at: usize) -> Option<&'a str> {
    let is_head = |line: &str| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with("//") || line.starts_with('#')
    };
    let below = lines[at..].iter().position(|line| !is_head(line))?;
    let head = at + below;
    let depth = indentation(lines[at]);
    let is_next = indentation(lines[head]) == depth && function(lines[head]).is_some();
    if is_next && has_test_attribute(lines, head) {
        return function(lines[head]);
    }
    let above = (0..at).rev();
    let mut functions = above
        .filter(|above| indentation(lines[*above]) < depth && function(lines[*above]).is_some());
    let inner = functions.next()?;
    has_test_attribute(lines, inner).then(|| function(lines[inner]))?
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the name of the function that begins in the line.
fn function(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    for word in ["pub ", "pub(crate) ", "pub(super) ", "const ", "async "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let name = rest.strip_prefix("fn ")?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(&name[..end])
}

/// Returns true if the comments and attributes above a function contain `#[test]`,
/// `#[tokio::test]` or the like.
fn has_test_attribute(lines: &[&str], function: usize) -> bool {
    let above = lines[..function].iter().rev().map(|line| line.trim_start());
    let mut head = above.take_while(|line| line.starts_with("//") || line.starts_with('#'));
    head.any(|line| {
        let name = line.trim_start_matches("#[");
        let name = name.split(['(', ']']).next().unwrap_or("");
        line.starts_with("#[") && (name == "test" || name.ends_with("::test"))
    })
}

/// Returns the text after `spec:` in a line comment or doc comment.
fn spec_comment(line: &str) -> Option<&str> {
    let comment = &line[line.find("//")?..];
    comment
        .trim_start_matches(['/', '!'])
        .trim_start()
        .strip_prefix("spec:")
}

/// Returns the ids at the start of the text, separated by commas. The prose after them begins with a
/// word that has no digit, also after a comma.
fn listed_ids(mut text: &str) -> Vec<&str> {
    let mut ids = Vec::new();
    loop {
        text = text.trim_start();
        let end = text.find(|c: char| c.is_whitespace() || ",;:.()".contains(c));
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        if !ids.is_empty() && !word.contains(|c: char| c.is_ascii_digit()) {
            return ids;
        }
        ids.push(word);
        match rest.trim_start().strip_prefix(',') {
            Some(rest) => text = rest,
            None => return ids,
        }
    }
}

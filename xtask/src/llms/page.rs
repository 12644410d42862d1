//! Names and page summaries.

/// Returns the name of a file without its folder and its ending.
pub(super) fn title(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

/// Returns the first sentence.
pub(super) fn summary(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    let paragraph = without_links(paragraph).replace('\n', " ");
    match paragraph.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => paragraph.trim().to_owned(),
    }
}

/// Returns the first sentence of a module's documentation.
pub(super) fn module_summary(source: &str) -> String {
    let docs = source.lines().map_while(|line| line.strip_prefix("//!"));
    let docs: Vec<&str> = docs.map(str::trim).collect();
    summary(&docs.join("\n"))
}

/// Replaces links by their text.
pub(super) fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        plain.push_str(before);
        let Some((name, target)) = link.split_once("](") else {
            plain.push('[');
            rest = link;
            continue;
        };
        plain.push_str(name);
        rest = target.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::{module_summary, summary, title, without_links};

    #[test]
    fn summary_is_the_first_sentence_without_links() {
        assert_eq!(
            summary("A [tool](crate::Tool)\nruns. It ends.\n\nB"),
            "A tool runs."
        );
        assert_eq!(summary("One line\n\nB"), "One line");
        assert_eq!(
            module_summary("//! A clock: it\n//! ticks. Loud.\nfn f() {}"),
            "A clock: it ticks."
        );
        assert_eq!(title("a/b/tools.md"), "tools");
        assert_eq!(without_links("a [b] c"), "a [b] c");
    }
}

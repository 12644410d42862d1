//! Pages of the guide as plain Markdown: without the lines that rustdoc hides, and with the paths of
//! items instead of links.

/// Attributes of a code block that is Rust.
const RUST: [&str; 5] = ["", "rust", "no_run", "should_panic", "compile_fail"];

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

/// Returns the first sentence of the documentation of a module.
pub(super) fn module_summary(source: &str) -> String {
    let docs = source.lines().map_while(|line| line.strip_prefix("//!"));
    let docs: Vec<&str> = docs.map(str::trim).collect();
    summary(&docs.join("\n"))
}

/// Returns the public functions of a file that have documentation, with it. Derive macros have the
/// name of the derive.
pub(super) fn documented_functions(source: &str) -> Vec<(String, String)> {
    let mut functions = Vec::new();
    let mut docs = String::new();
    let mut derive = None;
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("///") {
            docs.push_str(text.strip_prefix(' ').unwrap_or(text));
            docs.push('\n');
        } else if let Some(options) = line.strip_prefix("#[proc_macro_derive(") {
            derive = options.split([',', ')']).next();
        } else if let Some(function) = line.strip_prefix("pub fn ") {
            let name = function.split('(').next().unwrap_or(function);
            let name = derive.take().unwrap_or(name).to_owned();
            functions.push((name, std::mem::take(&mut docs)));
        } else if !line.starts_with("#[") {
            docs.clear();
        }
    }
    functions
}

/// Returns a page two heading levels deeper, as a section of a larger document.
pub(super) fn plain(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    // The open code block: `Some(true)` if it is Rust.
    let mut block = None;
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            let is_rust = language.split(',').all(|word| RUST.contains(&word.trim()));
            block = match block {
                None if is_rust => {
                    text.push_str("```rust\n");
                    Some(true)
                }
                opened => {
                    text.push_str(line);
                    text.push('\n');
                    opened.is_none().then_some(false)
                }
            };
            continue;
        }
        match block {
            Some(true) if is_hidden(line) => continue,
            Some(_) => text.push_str(line),
            None if line.starts_with('#') => {
                text.push_str("##");
                text.push_str(&without_anchor(line));
            }
            None => text.push_str(&with_paths(line)),
        }
        text.push('\n');
    }
    text
}

/// Returns true for a line of an example that rustdoc does not show.
fn is_hidden(line: &str) -> bool {
    let line = line.trim_start();
    line == "#" || line.starts_with("# ")
}

/// Replaces the paths of rustdoc by those of programs.
fn with_paths(line: &str) -> String {
    line.replace("macro@crate::", "mcp::")
        .replace("](crate::", "](mcp::")
}

/// Removes `<a id="…"></a>` from a heading.
fn without_anchor(line: &str) -> String {
    match line.split_once("<a id=").zip(line.split_once("</a>")) {
        Some(((before, _), (_, after))) => format!("{before}{after}"),
        None => line.to_owned(),
    }
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
    use super::{module_summary, plain, summary, title, without_links};

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

    #[test]
    fn plain_page_has_deeper_headings_visible_code_and_paths() {
        let page = "# <a id=\"x\"></a>Title\n\n[`Tool`](crate::Tool) and [`tool`](macro@crate::tool)\n\n\
                    ```no_run\n# fn main() {\nlet a = 1;\n    # b();\n#\n#[tool]\n# }\n```\n\n```text\n# kept\n```\n";
        let expected = "### Title\n\n[`Tool`](mcp::Tool) and [`tool`](mcp::tool)\n\n\
                        ```rust\nlet a = 1;\n#[tool]\n```\n\n```text\n# kept\n```\n";
        assert_eq!(plain(page), expected);
    }
}

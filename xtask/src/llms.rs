//! `cargo xtask llms`: the files from which language models learn the SDK, made of the guide, the list
//! of public items and the examples. `llms.txt` is an index. `target/doc/llms-full.txt`, beside the
//! documentation of cargo, contains everything.

mod page;

use std::fmt::Write as _;
use std::fs;

use crate::result::Result;
use crate::sources::{Sources, TextFile};
use crate::workspace::Workspace;

const INDEX: &str = "llms.txt";
const FULL: &str = "llms-full.txt";

const README: &str = "README.md";
const API: &str = "docs/api.txt";
/// The module that declares the pages of the guide.
const GUIDE: &str = "mcp/src/guide.rs";
const PAGES: &str = "mcp/src/docs/";
/// The facade's documentation: a server, a client, a table of items, the features.
const OVERVIEW: &str = "mcp/src/docs/crate.md";
/// The documentation of the attribute and derive macros.
const MACROS: &str = "mcp-macros/src/lib.rs";
const EXAMPLES: &str = "examples/src/bin/";

/// The rules that prevent most mistakes of generated programs.
const RULES: &str = "\
- The package is `omnimcp`, the library `mcp`. It is not published yet: \
`omnimcp = { path = \"CLONE/mcp\" }`.
- Features: servers are enabled by default. Clients need the feature `client`.
- Import `use mcp::prelude::*;`. Do not depend on `omnimcp-types`, `omnimcp-core` and so on: `mcp` exports their items.
- Types of arguments derive `serde::Deserialize` and `schemars::JsonSchema` (packages `serde` with `derive`, `schemars` 1).
- A parameter of a `#[tool]` is an argument, unless its type is an extractor (`State`, `Headers`, `Progress`, `Ask`, …).
- Handlers return values, not protocol messages: strings, numbers, `Json<T>`, `#[derive(Output)]`, `Result<_, ToolError>`.
- A handler that asks the user (`Ask`) runs again from its beginning on revision 2026-07-28. Side effects before a
  question belong into `ask.once(key, …)`.
- Over stdio, log to standard error.
- Tests use `omnimcp-testing` (library `mcp_testing`): `mcp_testing::connect(server).await?`.
";

/// Writes the full file. Returns true if the index is up to date; `update` writes it.
pub(crate) fn run(workspace: &Workspace, update: bool) -> Result<bool> {
    let sources = Sources::read(workspace.root())?;
    let folder = workspace.target().join("doc");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(FULL), full(&sources)?)?;
    let index = index(&sources)?;
    let file = workspace.root().join(INDEX);
    if update {
        fs::write(&file, index)?;
    } else if fs::read_to_string(&file).unwrap_or_default() != index {
        println!("{INDEX} differs from its sources; run `cargo xtask llms --update`");
        return Ok(false);
    }
    Ok(true)
}

/// Returns the index: a line for each document.
fn index(sources: &Sources) -> Result<String> {
    let mut text = head(sources)?;
    text.push_str("## Guide\n\n");
    for page in pages(sources)? {
        let first = page::summary(&page.content);
        let _ = writeln!(
            text,
            "- [{}]({}): {first}",
            page::title(&page.path),
            page.path
        );
    }
    text.push_str("\n## Reference\n\n");
    let _ = writeln!(
        text,
        "- `cargo xtask llms` writes `target/doc/{FULL}`: the guide and the list of items in one file"
    );
    let _ = writeln!(
        text,
        "- [{API}]({API}): every public item with its signature"
    );
    text.push_str("- [CHANGELOG.md](CHANGELOG.md): changes of each version\n\n## Examples\n\n");
    for example in below(sources, EXAMPLES, ".rs") {
        let first = page::module_summary(&example.content);
        let name = page::title(&example.path);
        let _ = writeln!(text, "- [{name}]({}): {first}", example.path);
    }
    Ok(text)
}

/// Returns the overview, the guide, the macro documentation and the list of items.
fn full(sources: &Sources) -> Result<String> {
    let mut text = head(sources)?;
    let mut files = vec![file(sources, OVERVIEW)?];
    files.extend(pages(sources)?);
    files.extend([file(sources, MACROS)?, file(sources, API)?]);
    for TextFile { path, content } in files {
        let _ = writeln!(text, "## {path}\n\n{content}");
    }
    Ok(text)
}

/// Returns the name, the README's first paragraph, and the rules.
fn head(sources: &Sources) -> Result<String> {
    let readme = content(sources, README)?;
    let paragraphs = readme.split("\n\n").skip(1);
    let first = paragraphs.into_iter().next().unwrap_or_default();
    let first = page::without_links(first).replace('\n', " ");
    Ok(format!("# omnimcp\n\n> {first}\n\n{RULES}\n"))
}

/// Returns the pages of the guide, in their declaration's order.
fn pages(sources: &Sources) -> Result<Vec<&TextFile>> {
    let guide = content(sources, GUIDE)?;
    let names = guide.lines().filter_map(|line| {
        let (_, rest) = line.split_once(": \"")?;
        let (name, _) = rest.split_once(".md\"")?;
        Some(format!("{PAGES}{name}.md"))
    });
    names.map(|path| file(sources, &path)).collect()
}

fn below<'a>(
    sources: &'a Sources,
    folder: &'a str,
    end: &'a str,
) -> impl Iterator<Item = &'a TextFile> {
    let files = sources.texts().iter();
    files.filter(move |file| file.path.starts_with(folder) && file.path.ends_with(end))
}

fn content<'a>(sources: &'a Sources, path: &str) -> Result<&'a str> {
    file(sources, path).map(|file| file.content.as_str())
}

fn file<'a>(sources: &'a Sources, path: &str) -> Result<&'a TextFile> {
    let found = sources.text(path);
    found.ok_or_else(|| format!("no file {path}").into())
}

#[cfg(test)]
mod tests {
    use super::{full, index};
    use crate::sources::Sources;

    const FILES: [(&str, &str); 7] = [
        (
            "README.md",
            "# mcp\n\nThe SDK for [MCP](https://example.com):\nservers.\n\nMore.\n",
        ),
        (
            "mcp/src/guide.rs",
            "//! Guide.\npages! {\n    tools: \"tools.md\", \"macros\";\n}\n",
        ),
        (
            "mcp/src/docs/tools.md",
            "A tool is a function.\nMore of it.\n\n# Results\n\n```\n# hidden();\nlet [`x`](crate::Y) = 1;\n```\n",
        ),
        ("mcp/src/docs/crate.md", "# A client\n\nCalls.\n"),
        (
            "docs/api.txt",
            "# mcp\nfn a()\n\n# mcp-types\nfn b()\n\n# mcp-testing\nfn c()\n",
        ),
        (
            "mcp-macros/src/lib.rs",
            "//! Macros.\n/// Makes a tool.\n///\n/// # Options\n#[proc_macro_attribute]\npub fn tool(options: TokenStream) {}\n",
        ),
        (
            "examples/src/bin/clock.rs",
            "//! A clock. With hands.\nfn main() {}\n",
        ),
    ];

    #[test]
    fn index_has_a_line_for_each_page_and_example() {
        let index = index(&Sources::from_texts(&FILES)).unwrap();
        assert!(index.starts_with("# omnimcp\n\n> The SDK for MCP: servers.\n\n- The package"));
        let lines: Vec<&str> = index
            .lines()
            .filter(|line| line.starts_with("- ["))
            .collect();
        assert_eq!(
            lines[0],
            "- [tools](mcp/src/docs/tools.md): A tool is a function."
        );
        assert_eq!(lines[3], "- [clock](examples/src/bin/clock.rs): A clock.");
    }

    #[test]
    fn full_file_has_the_guide_the_macros_and_the_items() {
        let full = full(&Sources::from_texts(&FILES)).unwrap();
        let parts = [
            "# A client",
            "A tool is a function.",
            "/// Makes a tool.",
            "fn c()",
        ];
        let places: Vec<_> = parts.map(|part| full.find(part).unwrap()).into();
        assert!(places.is_sorted(), "{full}");
    }
}

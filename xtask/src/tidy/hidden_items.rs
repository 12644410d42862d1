//! Rule: extensions, integrations, products, examples and checks use what a stranger can use. Items with
//! `#[doc(hidden)]` are for generated code and for the transports.
//!
//! A finding is a path that leads to a hidden item or through a hidden module, also in tests, over re-exports and the
//! facade. Methods and fields have no path: `.name` is a finding if every function and public field with this name, in
//! the whole repository, is hidden. The rule does not see hidden members that share their name or follow `::`, hidden
//! variants, and names from the glob import of a whole crate.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::api::surface::Surface;
use crate::finding::Finding;
use crate::modules::{Crate, Target, crates, path_uses};
use crate::sources::{GROUPS, Sources, TextFile, is_compile_case, is_doc};

/// A benchmark of the library's parts.
const PARTS: &str = "checks/bench/benches/parts.rs";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let crates = crates(sources);
    let surface = Surface::new(&crates);
    let mut members = Members::default();
    let mut findings = Vec::new();
    let files: Vec<_> = sources.texts().iter().filter_map(tokens).collect();
    for (_, tokens) in &files {
        members.collect(tokens.clone());
    }
    for (file, tokens) in files.into_iter().filter(|(file, _)| is_outside(&file.path)) {
        let module = module_of(&crates, &file.path);
        let mut report = |line, name: &str| {
            let message = format!("`{name}` is hidden from users; use a documented item");
            findings.push(Finding::new(&file.path, line, message));
        };
        for found in path_uses(tokens.clone()) {
            let target = match module {
                Some((krate, module)) => krate.resolve(module, &found.segments),
                None => Target::External(found.segments.clone()),
            };
            if let Target::External(path) = target
                && surface.is_hidden(&path)
            {
                report(found.line, &found.segments.join("::"));
            }
        }
        members.uses(tokens, &mut report);
    }
    findings
}

fn is_outside(path: &str) -> bool {
    let top = path.split('/').next().unwrap_or(path);
    (GROUPS.contains(&top) || top == "examples") && path != PARTS
}

/// Returns the module in a file. Tests have none; their paths start with a crate's name.
fn module_of<'a>(crates: &'a [Crate<'a>], path: &str) -> Option<(&'a Crate<'a>, usize)> {
    crates.iter().find_map(|krate| {
        let mut modules = krate.modules.iter();
        let module = modules.position(|module| module.file.path == path)?;
        Some((krate, module))
    })
}

/// Returns the tokens of a Rust file.
fn tokens(file: &TextFile) -> Option<(&TextFile, TokenStream)> {
    let is_code = file.path.ends_with(".rs") && !is_compile_case(&file.path);
    let tokens = is_code.then(|| file.content.parse().ok())??;
    Some((file, tokens))
}

/// The names of functions and public fields. Tokens show also those that a macro defines.
#[derive(Default)]
struct Members {
    hidden: BTreeSet<String>,
    visible: BTreeSet<String>,
}

impl Members {
    fn collect(&mut self, tokens: TokenStream) {
        // What stands before a name: attributes, `pub`, `fn`.
        let (mut is_hidden, mut is_public, mut is_function) = (false, false, false);
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => continue,
                TokenTree::Group(group) => {
                    self.collect(group.stream());
                    let text = group.stream().to_string();
                    is_hidden |= is_doc(group) && text.replace(' ', "") == "doc(hidden)";
                    if group.delimiter() != Delimiter::Brace {
                        continue;
                    }
                }
                TokenTree::Ident(ident) => {
                    let before_field = |next: &TokenTree| matches!(next, TokenTree::Punct(punct) if punct.as_char() == ':');
                    match ident.to_string().as_str() {
                        "pub" => is_public = true,
                        "fn" => is_function = true,
                        "const" | "async" | "unsafe" => {}
                        name => {
                            if is_function || is_public && tokens.peek().is_some_and(before_field) {
                                let names = if is_hidden {
                                    &mut self.hidden
                                } else {
                                    &mut self.visible
                                };
                                names.insert(name.to_owned());
                            }
                            (is_hidden, is_public, is_function) = (false, false, false);
                        }
                    }
                    continue;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            (is_hidden, is_public, is_function) = (false, false, false);
        }
    }

    fn is_hidden(&self, name: &str) -> bool {
        self.hidden.contains(name) && !self.visible.contains(name)
    }

    /// Reports each `.name` of a hidden member.
    fn uses(&self, tokens: TokenStream, report: &mut impl FnMut(usize, &str)) {
        let mut follows_dot = false;
        for token in tokens {
            match &token {
                TokenTree::Group(group) => self.uses(group.stream(), report),
                TokenTree::Ident(ident) if follows_dot => {
                    let name = ident.to_string();
                    if self.is_hidden(&name) {
                        report(ident.span().start().line, &name);
                    }
                }
                _ => {}
            }
            follows_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;
    use crate::tidy::tests::marked;

    const FACADE: &str =
        "//! Facade.\npub use mcp_core as core;\npub use mcp_core::{Open, wire};\n";

    const CORE: &str = r#"//! Core.
mod names;
#[doc(hidden)]
pub mod legacy;
pub mod wire { #[doc(hidden)] pub fn raw() {} pub fn read() {} }
pub struct Open { #[doc(hidden)] pub inner: u8, #[doc(hidden)] pub name: u8 }
#[doc(hidden)]
pub use names::portable;
pub use names::{Names, both};
#[doc(hidden)]
pub use names::both as again;
#[doc(hidden)]
#[macro_export]
macro_rules! made { () => {} }
/// The `hidden` word in a comment (hidden).
pub fn visible() {}
impl Open { #[doc(hidden)] #[must_use] pub async fn peek(&self) {} #[doc(hidden)] pub fn read(&self) {} }
macro_rules! handles { () => { #[doc(hidden)] pub fn replace_all(&self) {} } }
"#;

    const NAMES: &str = "//! Names.\npub fn portable() {}\npub fn both() {}\npub struct Names;\n";

    const USER: &str = r#"//! User.
mod own;
use mcp::core::{self as base, Names};
use mcp_core::legacy; // BAD
use mcp_core::{Open, both};
use mcp_core::wire;
use mcp_core::portable; // BAD
fn run(open: Open) {
    wire::read();
    wire::raw(); // BAD
    mcp::wire::raw(); // BAD
    base::legacy::Session::new(); // BAD
    mcp_core::again(); // BAD
    mcp_core::made!(); // BAD
    assert!(open.peek()); // BAD
    open.read().name(open.visible());
    open.inner = 1; // BAD
    open.replace_all(); // BAD
    own::hidden();
}
"#;

    #[test]
    fn hidden_items_are_findings_outside_of_the_stable_packages() {
        let own = "//! Own.\n#[doc(hidden)]\npub fn hidden() {}\nfn name() {}\n";
        let test = "use mcp::core::legacy::Session;\n";
        let sources = Sources::from_texts(&[
            ("mcp/src/lib.rs", FACADE),
            ("mcp-core/src/lib.rs", CORE),
            ("mcp-core/src/names.rs", NAMES),
            ("mcp-core/src/legacy.rs", "//! Old.\npub struct Session;\n"),
            ("mcp-server/src/lib.rs", USER),
            ("products/mcp-gateway/src/lib.rs", USER),
            ("products/mcp-gateway/src/own.rs", own),
            ("examples/tests/it/main.rs", test),
        ]);
        assert!(sources.unreadable().is_empty());
        let mut places: Vec<_> = check(&sources)
            .into_iter()
            .map(|found| (found.path, found.line))
            .collect();
        places.sort();
        let mut wanted = vec![("examples/tests/it/main.rs".to_owned(), 1)];
        let gateway = || "products/mcp-gateway/src/lib.rs".to_owned();
        wanted.extend(marked(USER).into_iter().map(|line| (gateway(), line)));
        assert_eq!(places, wanted);
    }
}

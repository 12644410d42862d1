//! Rule: the modules of a crate form layers, without circles.
//!
//! The nodes of the graph are files; an inline module belongs to the file around it. If code in `a.rs`
//! names an item of `b.rs`, there is an edge from `a` to `b`. The rule follows a path through re-exports
//! to the file that defines the item. So `use super::X` is an edge to a sibling if the parent re-exports
//! `X` from there, and an edge to the parent if the parent defines `X`.
//!
//! A re-export from a descendant (`pub use child::X`) is an edge only if the module's own code uses `X`
//! as well. A parent that only declares and re-exports its children is a table of contents: it does not
//! depend on them.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::Item;

use crate::finding::Finding;
use crate::modules::{Crate, Import, Target, crates, identifiers, path_uses};
use crate::sources::{Sources, without_docs};

/// Maximum number of lines that a finding prints for one edge.
const SHOWN_LINES: usize = 3;

/// The source lines that cause an edge, each with the path that it names.
pub(super) type Lines = BTreeSet<(usize, String)>;

/// Edges between file modules, by source and target.
pub(super) type Edges = BTreeMap<usize, BTreeMap<usize, Lines>>;

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    crates(sources).iter().flat_map(check_crate).collect()
}

fn check_crate(krate: &Crate<'_>) -> Vec<Finding> {
    let edges = edges(krate);
    let circles = circles(krate.modules.len(), &edges).into_iter();
    circles
        .filter_map(|members| describe(krate, &members, &edges))
        .collect()
}

/// Returns a finding for a circle, at the first line that causes an edge, with all edges between its members.
fn describe(krate: &Crate<'_>, members: &BTreeSet<usize>, edges: &Edges) -> Option<Finding> {
    let names: Vec<String> = members
        .iter()
        .map(|member| krate.modules[*member].name())
        .collect();
    let mut message = format!(
        "{} modules depend on each other in a circle ({}); move the shared items to a module \
         below them:",
        members.len(),
        names.join(", ")
    );
    let mut first = None;
    for from in members {
        let path = krate.modules[*from].file.path.as_str();
        for (to, lines) in edges.get(from).into_iter().flatten() {
            if !members.contains(to) {
                continue;
            }
            let (from, to) = (krate.modules[*from].name(), krate.modules[*to].name());
            message.push_str(&format!("\n    {from} -> {to}"));
            for (line, target) in lines.iter().take(SHOWN_LINES) {
                first = first.or(Some((path, *line)));
                message.push_str(&format!("\n        {path}:{line}: {target}"));
            }
            if lines.len() > SHOWN_LINES {
                message.push_str(&format!(
                    "\n        and {} more lines",
                    lines.len() - SHOWN_LINES
                ));
            }
        }
    }
    first.map(|(path, line)| Finding::new(path, line, message))
}

pub(super) fn edges(krate: &Crate<'_>) -> Edges {
    let mut edges = Edges::new();
    for index in 0..krate.modules.len() {
        for (target, line, path) in dependencies(krate, index) {
            let from = krate.modules[index].file_module;
            let to = krate.modules[target].file_module;
            if from != to {
                let lines = edges.entry(from).or_default().entry(to).or_default();
                lines.insert((line, path));
            }
        }
    }
    edges
}

/// Returns the modules on which a module's code depends, each with the line and the path that names it.
fn dependencies(krate: &Crate<'_>, index: usize) -> Vec<(usize, usize, String)> {
    let module = &krate.modules[index];
    let tokens = own_tokens(module.items);
    let mut names = BTreeSet::new();
    identifiers(tokens.clone(), &mut names);
    let mut found = Vec::new();

    let mut used_first = BTreeSet::new();
    for path in path_uses(tokens) {
        // The resolver follows the import if the first segment is an imported name.
        let target = krate.resolve(index, &path.segments);
        if let Some(to) = target.module() {
            let text = path.segments.join("::");
            if path.is_glob && matches!(target, Target::Module(_)) {
                let line = path.line;
                found.extend(glob(krate, index, to, line, &text, &names));
            } else {
                found.push((to, path.line, text));
            }
        }
        used_first.extend(path.segments.first().cloned());
    }
    for import in module.imports.iter().filter(|import| !import.is_local) {
        if import.is_absolute {
            continue;
        }
        let target = krate.resolve(index, &import.path);
        let Some(to) = target.module() else {
            continue;
        };
        let text = import.path.join("::");
        if import.is_glob() {
            if !import.is_reexport() {
                found.extend(glob(krate, index, to, import.line, &text, &names));
            }
            continue;
        }
        let is_table_of_contents = import.is_reexport() && is_below(krate, index, to);
        if is_table_of_contents && !names.contains(&import.name) {
            continue;
        }
        // Of an imported module, the paths that start with it are the dependencies, not the import.
        let is_prefix = matches!(target, Target::Module(_));
        if is_prefix && (used_first.contains(&import.name) || is_table_of_contents) {
            continue;
        }
        found.push((to, import.line, text));
    }
    found
}

/// Returns the dependencies through a glob import of the module `of`: the imported names that the code uses.
fn glob(
    krate: &Crate<'_>,
    index: usize,
    of: usize,
    line: usize,
    path: &str,
    names: &BTreeSet<String>,
) -> Vec<(usize, usize, String)> {
    let is_own = |name: &str| {
        let module = &krate.modules[index];
        module.children.contains_key(name)
            || module
                .imports
                .iter()
                .any(|import: &Import<'_>| import.name == name)
    };
    let used = names.iter().filter(|name| !is_own(name));
    let targets = used.filter_map(|name| {
        let to = krate.lookup(of, name)?.module()?;
        Some((to, line, format!("{path}::{name}")))
    });
    targets.collect()
}

/// Returns true if `module` is `of` or one of its descendants.
fn is_below(krate: &Crate<'_>, of: usize, module: usize) -> bool {
    let mut next = Some(module);
    while let Some(at) = next {
        if at == of {
            return true;
        }
        next = krate.modules[at].parent;
    }
    false
}

/// Returns a module's code without `use` declarations, child modules and documentation.
fn own_tokens(items: &[Item]) -> TokenStream {
    let own = items
        .iter()
        .filter(|item| !matches!(item, Item::Use(_) | Item::Mod(_)));
    without_docs(own.map(|item| item.to_token_stream()).collect())
}

/// Returns the strongly connected components of more than one module.
fn circles(modules: usize, edges: &Edges) -> Vec<BTreeSet<usize>> {
    let reachable: Vec<_> = (0..modules)
        .map(|module| reachable(module, edges))
        .collect();
    let mut circles = BTreeSet::new();
    for (module, reached) in reachable.iter().enumerate() {
        let back = reached
            .iter()
            .filter(|other| reachable[**other].contains(&module));
        circles.insert(back.copied().collect::<BTreeSet<usize>>());
    }
    circles
        .into_iter()
        .filter(|members| members.len() > 1)
        .collect()
}

/// Returns the modules to which edges lead from a module.
fn reachable(module: usize, edges: &Edges) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut next = vec![module];
    while let Some(from) = next.pop() {
        let targets = edges.get(&from).into_iter().flat_map(BTreeMap::keys);
        next.extend(targets.copied().filter(|to| found.insert(*to)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    /// Returns the findings in a crate with these files below `src/`.
    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let paths: Vec<_> = files
            .iter()
            .map(|(path, content)| (format!("mcp-core/src/{path}"), *content))
            .collect();
        let files: Vec<_> = paths
            .iter()
            .map(|(path, content)| (path.as_str(), *content))
            .collect();
        let sources = Sources::from_texts(&files);
        assert!(sources.unreadable().is_empty());
        check(&sources).iter().map(ToString::to_string).collect()
    }

    fn assert_layered(files: &[(&str, &str)]) {
        assert_eq!(findings(files), Vec::<String>::new());
    }

    #[test]
    fn child_with_helper_from_parent_is_a_circle() {
        let found = findings(&[
            ("lib.rs", "mod parent;"),
            (
                "parent.rs",
                "mod child;\nuse child::X;\nfn helper() {}\nfn f(x: X) {}\n",
            ),
            ("parent/child.rs", "use super::helper;\npub struct X;\n"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with(
                "mcp-core/src/parent.rs:2: 2 modules depend on each other in a circle \
                 (crate::parent, crate::parent::child)"
            ),
            "{}",
            found[0]
        );
        for edge in [
            "crate::parent -> crate::parent::child\n        mcp-core/src/parent.rs:2: child::X",
            "crate::parent::child -> crate::parent\n        mcp-core/src/parent/child.rs:1: super::helper",
        ] {
            assert!(found[0].contains(edge), "{}", found[0]);
        }
    }

    #[test]
    fn long_circle_through_inline_paths_is_one_finding() {
        let found = findings(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n"),
            ("a.rs", "fn f() { crate::b::g(); }"),
            ("b.rs", "fn g() -> bool { matches!(1, super::c::ONE) }"),
            ("c.rs", "const ONE: u8 = { use super::a; a::f() };"),
            ("d.rs", "use crate::{a, b::g}; fn h() { a::f() }"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].contains("3 modules") && !found[0].contains("crate::d"),
            "{}",
            found[0]
        );
    }

    #[test]
    fn table_of_contents_is_not_an_edge() {
        assert_layered(&[
            (
                "lib.rs",
                "mod a;\nmod b;\npub use a::{A, sub};\npub use b::B;\npub enum Error { One }\n",
            ),
            ("a.rs", "pub mod sub; pub struct A(crate::Error, super::B);"),
            ("a/sub.rs", "use crate::Error;\npub struct Sub(Error);"),
            ("b.rs", "pub struct B;"),
        ]);
    }

    #[test]
    fn reexport_that_the_parent_uses_is_an_edge() {
        let child = ("a/child.rs", "pub struct X(super::Base);");
        let lib = ("lib.rs", "mod a;");
        assert_layered(&[
            lib,
            child,
            (
                "a.rs",
                "mod child; pub use child::X; pub struct Base; // X\n",
            ),
        ]);
        let circle = "mod child; pub use child::X; pub struct Base; fn f(x: X) {}";
        assert_eq!(findings(&[lib, child, ("a.rs", circle)]).len(), 1);
        let circle = "mod child; pub struct Base; fn f(x: child::X) {}";
        assert_eq!(findings(&[lib, child, ("a.rs", circle)]).len(), 1);
    }

    #[test]
    fn name_through_the_parent_counts_as_its_definer() {
        assert_layered(&[
            ("lib.rs", "mod a;"),
            (
                "a.rs",
                "mod low; mod high; use low::*; pub use high::High; fn f() -> Low { low::new() }",
            ),
            ("a/low.rs", "pub struct Low; pub fn new() -> Low { Low }"),
            ("a/high.rs", "use super::Low; pub struct High(Low);"),
        ]);
    }

    #[test]
    fn globs_are_edges_to_the_names_that_are_used() {
        let lib = ("lib.rs", "mod a; mod b;");
        let a = (
            "a.rs",
            "use crate::b::*;\npub struct A;\npub fn f(b: B) {}\n",
        );
        let unrelated = ("b.rs", "use crate::a::*;\npub struct B;\n");
        assert_layered(&[lib, a, unrelated]);
        let circle = ("b.rs", "use crate::a::*;\npub struct B;\nfn g() { f(B) }\n");
        assert_eq!(findings(&[lib, a, circle]).len(), 1);
    }

    #[test]
    fn tests_inline_modules_and_other_crates_are_not_edges() {
        assert_layered(&[
            (
                "lib.rs",
                "mod http; mod sealed { pub trait Sealed {} impl Sealed for super::T {} }\n\
                 pub trait Open: sealed::Sealed {} pub struct T; use http::request;",
            ),
            (
                "http.rs",
                "use ::http::Method; use super::*;\npub fn request(t: Method) {}\n\
                 #[cfg(test)] mod tests { use crate::T; }",
            ),
        ]);
    }
}

//! The repository's files. Rust files are parsed once, for all rules.

use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Ident, ImplItem, Item, Meta, Visibility};

use crate::finding::Finding;
use crate::result::Result;

/// Folders with generated files.
const SKIPPED_FOLDERS: [&str; 3] = ["target", "node_modules", ".git"];

/// Folders at the repository's top that contain packages with versions of their own. The stable packages are at the
/// top themselves.
pub(crate) const GROUPS: [&str; 4] = ["extensions", "integrations", "products", "checks"];

/// Packages that use, test or measure the library from outside. They may spell out protocol names,
/// as users of the library do.
const OUTSIDE_PACKAGES: [&str; 6] = [
    "conformance",
    "examples",
    "templates",
    "bench",
    "xtask",
    "fuzz",
];

/// All UTF-8 files of the repository.
pub(crate) struct Sources {
    texts: Vec<TextFile>,
    rust: Vec<RustFile>,
    unreadable: Vec<Finding>,
}

/// A UTF-8 file. The path has forward slashes and starts at the repository's root.
#[derive(Debug)]
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) content: String,
}

/// A parsed Rust file without its test items.
pub(crate) struct RustFile {
    pub(crate) path: String,
    pub(crate) ast: syn::File,
    /// Items in the arguments of macro calls at the file's top, as far as they are valid Rust.
    pub(crate) macro_items: Vec<Item>,
}

impl Sources {
    /// Reads every file below `root`, except generated ones.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut paths = Vec::new();
        walk(root, &mut paths)?;
        let mut texts = Vec::new();
        for path in paths {
            // Binary files are skipped.
            if let Ok(content) = String::from_utf8(std::fs::read(&path)?) {
                let path = path
                    .strip_prefix(root)?
                    .to_string_lossy()
                    .replace('\\', "/");
                texts.push(TextFile { path, content });
            }
        }
        Ok(Self::parse(texts))
    }

    fn parse(mut texts: Vec<TextFile>) -> Self {
        texts.sort_by(|a, b| a.path.cmp(&b.path));
        let mut rust = Vec::new();
        let mut unreadable = Vec::new();
        let mut test_modules = Vec::new();
        for text in texts.iter().filter(|text| text.path.ends_with(".rs")) {
            if is_compile_case(&text.path) {
                continue;
            }
            match syn::parse_file(&text.content) {
                Ok(mut ast) => {
                    collect_test_modules(&text.path, &ast.items, &mut test_modules);
                    strip_tests(&mut ast.items);
                    rust.push(RustFile {
                        path: text.path.clone(),
                        macro_items: macro_items(&ast.items),
                        ast,
                    });
                }
                Err(error) => {
                    let message = format!("syntax error: {error}; make the file valid Rust");
                    unreadable.push(Finding::new(&text.path, error.span().start().line, message));
                }
            }
        }
        let is_test = |path: &str| {
            let mut rests = test_modules
                .iter()
                .filter_map(|module| path.strip_prefix(module));
            is_test_path(path) || rests.any(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        rust.retain(|file| !is_test(&file.path));
        Self {
            texts,
            rust,
            unreadable,
        }
    }

    /// Every UTF-8 file, Rust or not.
    pub(crate) fn texts(&self) -> &[TextFile] {
        &self.texts
    }

    /// Returns the file with this path.
    pub(crate) fn text(&self, path: &str) -> Option<&TextFile> {
        self.texts.iter().find(|text| text.path == path)
    }

    /// Every Rust file that is not a test, without its test items.
    pub(crate) fn rust(&self) -> &[RustFile] {
        &self.rust
    }

    /// Rust files of the library crates, without tests.
    pub(crate) fn library(&self) -> impl Iterator<Item = &RustFile> {
        self.rust.iter().filter(|file| is_library(&file.path))
    }

    /// Rust files with syntax errors.
    pub(crate) fn unreadable(&self) -> &[Finding] {
        &self.unreadable
    }

    #[cfg(test)]
    pub(crate) fn from_texts(files: &[(&str, &str)]) -> Self {
        let text = |(path, content): &(&str, &str)| TextFile {
            path: (*path).to_owned(),
            content: (*content).to_owned(),
        };
        Self::parse(files.iter().map(text).collect())
    }
}

impl RustFile {
    /// The tokens without documentation.
    pub(crate) fn tokens(&self) -> TokenStream {
        without_docs(self.ast.to_token_stream())
    }
}

/// Returns the package that contains a path: its first folder that is not a group.
pub(crate) fn package(path: &str) -> &str {
    let mut folders = path.split('/');
    let package = folders.find(|folder| !GROUPS.contains(folder));
    package.unwrap_or(path)
}

/// Returns true if the path is in a library crate.
pub(crate) fn is_library(path: &str) -> bool {
    !OUTSIDE_PACKAGES.contains(&package(path))
}

/// Returns true if the path is a compile-fail case of trybuild, which need not be valid Rust.
pub(crate) fn is_compile_case(path: &str) -> bool {
    path.contains("/tests/ui/")
}

/// Returns true if the path alone shows that a Rust file is test code.
fn is_test_path(path: &str) -> bool {
    let mut folders = path.split('/').skip(1);
    folders.any(|part| matches!(part, "tests" | "benches" | "examples" | "tests.rs"))
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), paths)?;
        } else {
            paths.push(entry.path());
        }
    }
    Ok(())
}

/// Collects the paths of `#[cfg(test)] mod name;` without `.rs`: their code is in files of its own.
fn collect_test_modules(path: &str, items: &[Item], found: &mut Vec<String>) {
    let folder = match path.rsplit_once('/') {
        Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder,
        _ => path.trim_end_matches(".rs"),
    };
    for item in items {
        if let Item::Mod(module) = item
            && module.content.is_none()
            && module.attrs.iter().any(is_test_attribute)
        {
            found.push(format!("{folder}/{}", module.ident));
        }
    }
}

/// Removes the items that are compiled for tests only.
fn strip_tests(items: &mut Vec<Item>) {
    items.retain(|item| !parts(item).attrs.iter().any(is_test_attribute));
    for item in items {
        match item {
            Item::Mod(module) => {
                if let Some((_, inner)) = &mut module.content {
                    strip_tests(inner);
                }
            }
            Item::Impl(block) => block.items.retain(|member| match member {
                ImplItem::Fn(function) => !function.attrs.iter().any(is_test_attribute),
                ImplItem::Const(constant) => !constant.attrs.iter().any(is_test_attribute),
                _ => true,
            }),
            _ => {}
        }
    }
}

/// Parses the arguments of macro calls as items.
fn macro_items(items: &[Item]) -> Vec<Item> {
    let calls = items.iter().filter_map(|item| match item {
        Item::Macro(it) if it.ident.is_none() => Some(it.mac.tokens.clone()),
        _ => None,
    });
    calls
        .filter_map(|tokens| syn::parse2::<syn::File>(tokens).ok())
        .flat_map(|file| file.items)
        .collect()
}

/// Recognizes `#[test]`, `#[cfg(test)]` and `#[cfg(all(test, …))]`, but not `#[cfg(not(test))]`.
fn is_test_attribute(attribute: &Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    let Meta::List(list) = &attribute.meta else {
        return false;
    };
    if !list.path.is_ident("cfg") {
        return false;
    }
    let condition = list.tokens.to_string().replace(' ', "");
    condition == "test" || condition.starts_with("all(test")
}

/// The attributes of an item, and the visibility and name of a definition.
pub(crate) struct Parts<'a> {
    pub(crate) attrs: &'a [Attribute],
    pub(crate) vis: &'a Visibility,
    pub(crate) ident: Option<&'a Ident>,
}

pub(crate) fn parts(item: &Item) -> Parts<'_> {
    const PRIVATE: &Visibility = &Visibility::Inherited;
    let (attrs, vis, ident) = match item {
        Item::Const(item) => (&item.attrs, &item.vis, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, &item.vis, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, &item.vis, Some(&item.sig.ident)),
        Item::Impl(item) => (&item.attrs, PRIVATE, None),
        Item::Macro(item) => (&item.attrs, PRIVATE, item.ident.as_ref()),
        Item::Mod(item) => (&item.attrs, &item.vis, None),
        Item::Static(item) => (&item.attrs, &item.vis, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, &item.vis, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, &item.vis, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, &item.vis, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, &item.vis, Some(&item.ident)),
        Item::Use(item) => (&item.attrs, &item.vis, None),
        _ => {
            return Parts {
                attrs: &[],
                vis: PRIVATE,
                ident: None,
            };
        }
    };
    Parts { attrs, vis, ident }
}

/// Returns true if an attribute has this name.
pub(crate) fn has_attribute(attributes: &[Attribute], name: &str) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident(name))
}

/// Returns true if the attributes contain `#[doc(hidden)]`.
pub(crate) fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        list.is_ok_and(|list| list.path.is_ident("doc") && list.tokens.to_string() == "hidden")
    })
}

/// Removes `#[doc = …]` attributes. The parser turns doc comments into them.
pub(crate) fn without_docs(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if is_doc(&group) => {
                while matches!(kept.last(), Some(TokenTree::Punct(p)) if "#!".contains(p.as_char()))
                {
                    kept.pop();
                }
            }
            TokenTree::Group(group) => {
                let inner = without_docs(group.stream());
                let mut copy = Group::new(group.delimiter(), inner);
                copy.set_span(group.span());
                kept.push(copy.into());
            }
            other => kept.push(other),
        }
    }
    kept.into_iter().collect()
}

/// Returns true if the group is the `[doc …]` of an attribute.
pub(crate) fn is_doc(group: &Group) -> bool {
    group.delimiter() == Delimiter::Bracket
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

/// Returns true if `::` starts at `at`.
pub(crate) fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    let first = matches!(tokens.get(at), Some(TokenTree::Punct(p))
        if p.as_char() == ':' && p.spacing() == Spacing::Joint);
    first && matches!(tokens.get(at + 1), Some(TokenTree::Punct(p)) if p.as_char() == ':')
}

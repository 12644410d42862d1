//! The files of the repository, Rust files parsed once for all rules.

use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, ImplItem, Item, Meta};

use super::Finding;
use crate::Result;

/// Folders that hold what tools made, not what people wrote.
const SKIPPED_FOLDERS: [&str; 3] = ["target", "node_modules", ".git"];

/// Packages that show, test or measure the library. They speak to it from outside, as its users
/// do, and may therefore spell protocol names out.
const OUTSIDE_PACKAGES: [&str; 4] = ["conformance", "examples", "bench", "xtask"];

/// All text files of the repository.
pub(crate) struct Sources {
    texts: Vec<Text>,
    rust: Vec<RustFile>,
    unreadable: Vec<Finding>,
}

/// A text file; paths have forward slashes and start at the repository's root.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) path: String,
    pub(crate) content: String,
}

/// A parsed Rust file without its test items.
pub(crate) struct RustFile {
    pub(crate) path: String,
    pub(crate) ast: syn::File,
}

impl Sources {
    /// Reads the repository below `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut paths = Vec::new();
        walk(root, &mut paths)?;
        let mut texts = Vec::new();
        for path in paths {
            // What is not UTF-8 is not a text.
            if let Ok(content) = String::from_utf8(std::fs::read(&path)?) {
                let path = path
                    .strip_prefix(root)?
                    .to_string_lossy()
                    .replace('\\', "/");
                texts.push(Text { path, content });
            }
        }
        Ok(Self::parse(texts))
    }

    fn parse(mut texts: Vec<Text>) -> Self {
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
                        ast,
                    });
                }
                Err(error) => {
                    let message = format!("does not parse as Rust: {error}");
                    unreadable.push(Finding::new(&text.path, error.span().start().line, message));
                }
            }
        }
        rust.retain(|file| {
            !is_test_path(&file.path) && !test_modules.iter().any(|m| m.holds(&file.path))
        });
        Self {
            texts,
            rust,
            unreadable,
        }
    }

    /// Every text file, Rust or not.
    pub(crate) fn texts(&self) -> &[Text] {
        &self.texts
    }

    /// Every Rust file that is not a test, without its test items.
    pub(crate) fn rust(&self) -> &[RustFile] {
        &self.rust
    }

    /// The files of the library itself.
    pub(crate) fn library(&self) -> impl Iterator<Item = &RustFile> {
        self.rust
            .iter()
            .filter(|file| !OUTSIDE_PACKAGES.contains(&package(&file.path)))
    }

    /// Rust files that could not be parsed.
    pub(crate) fn unreadable(&self) -> &[Finding] {
        &self.unreadable
    }

    pub(crate) fn count(&self) -> usize {
        self.texts.len()
    }

    #[cfg(test)]
    pub(crate) fn from_texts(files: &[(&str, &str)]) -> Self {
        let text = |(path, content): &(&str, &str)| Text {
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

/// The package a path belongs to: its first folder.
pub(crate) fn package(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

/// Whether a path is a case that trybuild compiles, whose text is the point of the case.
pub(crate) fn is_compile_case(path: &str) -> bool {
    path.contains("/tests/ui/")
}

/// Whether the path alone says that a Rust file is not part of a program or library.
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

/// A module that is compiled for tests only and stands in files of its own.
#[derive(Debug)]
struct TestModule {
    /// Path without `.rs` or `/mod.rs`.
    stem: String,
}

impl TestModule {
    fn holds(&self, path: &str) -> bool {
        let Some(rest) = path.strip_prefix(&self.stem) else {
            return false;
        };
        rest == ".rs" || rest.starts_with('/')
    }
}

fn collect_test_modules(path: &str, items: &[Item], found: &mut Vec<TestModule>) {
    let folder = match path.rsplit_once('/') {
        Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder,
        _ => path.trim_end_matches(".rs"),
    };
    for item in items {
        if let Item::Mod(module) = item
            && module.content.is_none()
            && module.attrs.iter().any(is_test_attribute)
        {
            found.push(TestModule {
                stem: format!("{folder}/{}", module.ident),
            });
        }
    }
}

/// Removes the items that only tests have.
fn strip_tests(items: &mut Vec<Item>) {
    items.retain(|item| !attributes(item).iter().any(is_test_attribute));
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

/// `#[test]`, `#[cfg(test)]` and `#[cfg(all(test, …))]`, but not `#[cfg(not(test))]`.
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
    let words: Vec<String> = list
        .tokens
        .clone()
        .into_iter()
        .map(|t| t.to_string())
        .collect();
    match words.first().map(String::as_str) {
        Some("test") => true,
        Some("all") => words.get(1).is_some_and(|inner| inner.starts_with("(test")),
        _ => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Drops `#[doc = …]`, which is what doc comments become.
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
                let mut copy = proc_macro2::Group::new(group.delimiter(), inner);
                copy.set_span(group.span());
                kept.push(copy.into());
            }
            other => kept.push(other),
        }
    }
    kept.into_iter().collect()
}

fn is_doc(group: &proc_macro2::Group) -> bool {
    group.delimiter() == proc_macro2::Delimiter::Bracket
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

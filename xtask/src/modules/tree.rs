//! Crates and their modules, read from the source files.

use std::collections::BTreeMap;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Ident, Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::sources::{RustFile, Sources};

/// The root module's index in [`Crate::modules`].
pub(crate) const ROOT: usize = 0;

/// A library or program: the modules that its root file declares, directly or indirectly.
pub(crate) struct Crate<'a> {
    /// The root file's path, for example `mcp-core/src/lib.rs`.
    pub(crate) root: &'a str,
    /// The root module is the first one; parents come before their children.
    pub(crate) modules: Vec<Module<'a>>,
}

/// A module, in a file of its own or inline.
pub(crate) struct Module<'a> {
    /// Names from the crate's root; empty for the root.
    pub(crate) path: Vec<String>,
    pub(crate) file: &'a RustFile,
    /// Index of the file's module: this one, or the module around an inline module.
    pub(crate) file_module: usize,
    pub(crate) parent: Option<usize>,
    /// The items in the source code.
    pub(crate) items: &'a [Item],
    /// The items in the arguments of macro calls, for example `text_enum! { pub enum Role { … } }`.
    pub(crate) macro_items: &'a [Item],
    pub(crate) children: BTreeMap<String, usize>,
    pub(crate) imports: Vec<Import<'a>>,
}

/// One name that a `use` declaration brings into a module.
pub(crate) struct Import<'a> {
    /// The name in the module: `*` for a glob, `_` for a trait without a name.
    pub(crate) name: String,
    /// The path as written, without a glob's `*`.
    pub(crate) path: Vec<String>,
    /// The path starts with `::`, so it names another crate.
    pub(crate) is_absolute: bool,
    pub(crate) line: usize,
    /// The whole declaration.
    pub(crate) declaration: &'a ItemUse,
    /// The declaration is inside a function.
    pub(crate) is_local: bool,
}

impl Import<'_> {
    pub(crate) fn is_glob(&self) -> bool {
        self.name == "*"
    }

    /// Returns true for a `pub use`, also a restricted one such as `pub(crate) use`.
    pub(crate) fn is_reexport(&self) -> bool {
        !self.is_local && !matches!(self.declaration.vis, Visibility::Inherited)
    }
}

impl Module<'_> {
    /// Returns the path as code writes it, for example `crate::wire::modern`.
    pub(crate) fn name(&self) -> String {
        let mut name = "crate".to_owned();
        for segment in &self.path {
            name.push_str("::");
            name.push_str(segment);
        }
        name
    }
}

/// Returns every crate of the repository, without test code.
pub(crate) fn crates(sources: &Sources) -> Vec<Crate<'_>> {
    let files: BTreeMap<&str, &RustFile> = sources
        .rust()
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect();
    let roots = files.values().filter(|file| is_root(&file.path));
    roots.map(|root| Crate::build(root, &files)).collect()
}

/// Returns true for `src/lib.rs`, `src/main.rs`, `src/bin/name.rs` and `src/bin/name/main.rs`.
fn is_root(path: &str) -> bool {
    let Some((_, inside)) = path.split_once("/src/") else {
        return false;
    };
    let parts: Vec<&str> = inside.split('/').collect();
    matches!(
        parts.as_slice(),
        ["lib.rs" | "main.rs"] | ["bin", _] | ["bin", _, "main.rs"]
    )
}

impl<'a> Crate<'a> {
    fn build(root: &'a RustFile, files: &BTreeMap<&str, &'a RustFile>) -> Self {
        let mut modules = vec![Module::from_file(root)];
        // Folders in which the files of child modules are.
        let (folder, _) = root.path.rsplit_once('/').unwrap_or_default();
        let mut folders = vec![folder.to_owned()];
        let mut next = 0;
        while next < modules.len() {
            for item in modules[next].items {
                let Item::Mod(declaration) = item else {
                    continue;
                };
                let name = declaration.ident.to_string();
                let stem = format!("{}/{name}", folders[next]);
                let index = modules.len();
                let child = match &declaration.content {
                    Some((_, items)) => Module {
                        file_module: modules[next].file_module,
                        ..Module::new(modules[next].file, items)
                    },
                    None => {
                        let candidates = [format!("{stem}.rs"), format!("{stem}/mod.rs")];
                        let Some(file) = candidates
                            .iter()
                            .find_map(|candidate| files.get(candidate.as_str()))
                        else {
                            continue;
                        };
                        Module {
                            file_module: index,
                            ..Module::from_file(file)
                        }
                    }
                };
                let mut path = modules[next].path.clone();
                path.push(name.clone());
                modules.push(Module {
                    path,
                    parent: Some(next),
                    ..child
                });
                folders.push(stem);
                modules[next].children.insert(name, index);
            }
            next += 1;
        }
        Self {
            root: &root.path,
            modules,
        }
    }
}

impl<'a> Module<'a> {
    /// Every item, also those in the arguments of macro calls.
    pub(crate) fn all_items(&self) -> impl Iterator<Item = &'a Item> + use<'a> {
        self.items.iter().chain(self.macro_items)
    }

    fn from_file(file: &'a RustFile) -> Self {
        Self {
            macro_items: &file.macro_items,
            ..Self::new(file, &file.ast.items)
        }
    }

    fn new(file: &'a RustFile, items: &'a [Item]) -> Self {
        let mut imports = ImportVisitor::default();
        for item in items {
            match item {
                Item::Mod(_) => {}
                Item::Use(declaration) => imports.add(declaration, false),
                other => imports.visit_item(other),
            }
        }
        Self {
            path: Vec::new(),
            file,
            file_module: ROOT,
            parent: None,
            items,
            macro_items: &[],
            children: BTreeMap::new(),
            imports: imports.found,
        }
    }
}

/// Returns the imports in a file, also those in functions and inline modules.
pub(crate) fn imports(file: &syn::File) -> Vec<Import<'_>> {
    let mut imports = ImportVisitor {
        is_deep: true,
        ..ImportVisitor::default()
    };
    imports.visit_file(file);
    imports.found
}

/// Collects imports. As a visitor it finds the declarations inside functions.
#[derive(Default)]
struct ImportVisitor<'a> {
    found: Vec<Import<'a>>,
    /// Inline modules belong to the result.
    is_deep: bool,
}

impl<'a> ImportVisitor<'a> {
    fn add(&mut self, declaration: &'a ItemUse, is_local: bool) {
        let mut leaves = Vec::new();
        flatten(&declaration.tree, &mut Vec::new(), &mut leaves);
        self.found
            .extend(leaves.into_iter().map(|(name, path, line)| Import {
                name,
                path,
                is_absolute: declaration.leading_colon.is_some(),
                line,
                declaration,
                is_local,
            }));
    }
}

impl<'a> Visit<'a> for ImportVisitor<'a> {
    fn visit_item_use(&mut self, declaration: &'a ItemUse) {
        self.add(declaration, true);
    }

    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        if self.is_deep {
            visit::visit_item_mod(self, module);
        }
    }
}

/// Splits a `use` tree into its names: the local name, the path, and the line.
fn flatten(tree: &UseTree, path: &mut Vec<String>, leaves: &mut Vec<(String, Vec<String>, usize)>) {
    let line = tree.span().start().line;
    let mut leaf = |local: String, last: Option<&Ident>| {
        let mut whole = path.clone();
        whole.extend(last.map(ToString::to_string));
        leaves.push((local, whole, line));
    };
    match tree {
        UseTree::Path(it) => {
            path.push(it.ident.to_string());
            flatten(&it.tree, path, leaves);
            path.pop();
        }
        UseTree::Name(it) if it.ident == "self" => {
            leaf(path.last().cloned().unwrap_or_default(), None);
        }
        UseTree::Name(it) => leaf(it.ident.to_string(), Some(&it.ident)),
        UseTree::Rename(it) if it.ident == "self" => leaf(it.rename.to_string(), None),
        UseTree::Rename(it) => leaf(it.rename.to_string(), Some(&it.ident)),
        UseTree::Glob(_) => leaf("*".to_owned(), None),
        UseTree::Group(it) => {
            for tree in &it.items {
                flatten(tree, path, leaves);
            }
        }
    }
}

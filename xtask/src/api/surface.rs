//! Public paths of the libraries. A path may go through re-exports, also of other libraries.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Attribute, Item, ItemImpl, Type, Visibility};

use super::items;
use crate::modules::{Crate, Import, ROOT, Target, crates};
use crate::sources::{Parts, Sources, has_attribute, is_hidden, package, parts};

/// The libraries. An item is listed in the first one that exports it by name.
const LIBRARIES: &str = "mcp mcp-types mcp-core mcp-server mcp-client mcp-auth mcp-tasks mcp-telemetry mcp-skills \
    mcp-toolset mcp-apps mcp-gen mcp-events mcp-gateway mcp-macros mcp-transport-http mcp-transport-stdio mcp-redis mcp-testing \
    mcp-files mcp-schema";

/// The condition of a path through a module, re-export or item with `#[doc(hidden)]`.
const HIDDEN: &str = "doc(hidden)";

/// A definition: library, module and name.
type Definition = (usize, usize, String);

/// A public path of a definition.
struct PublicPath {
    library: usize,
    /// Names from the library's root.
    path: Vec<String>,
    /// Conditions of the modules and re-exports on the path.
    cfgs: BTreeSet<String>,
}

impl PublicPath {
    fn is_hidden(&self) -> bool {
        self.cfgs.contains(HIDDEN)
    }
}

/// Returns the list: a section for each library, a line for each item.
pub(super) fn list(sources: &Sources) -> String {
    Surface::new(&crates(sources)).print()
}

/// The paths that other crates can write.
pub(crate) struct Surface<'a> {
    libraries: Vec<&'a Crate<'a>>,
    paths: BTreeMap<Definition, Vec<PublicPath>>,
    /// Names without a line of their own, for each library and path of a module.
    aliases: BTreeMap<(usize, String), BTreeSet<(String, String)>>,
    /// Modules that are being walked, so that a module that re-exports its parent ends.
    open: Vec<(usize, usize)>,
    hidden: BTreeSet<(usize, Vec<String>)>,
}

impl<'a> Surface<'a> {
    pub(crate) fn new(crates: &'a [Crate<'a>]) -> Self {
        let libraries = LIBRARIES.split_whitespace().filter_map(|name| {
            let is_library = |root: &str| root.ends_with("/src/lib.rs") && package(root) == name;
            crates.iter().find(|library| is_library(library.root))
        });
        let mut surface = Self {
            libraries: libraries.collect(),
            paths: BTreeMap::new(),
            aliases: BTreeMap::new(),
            open: Vec::new(),
            hidden: BTreeSet::new(),
        };
        for library in 0..surface.libraries.len() {
            surface.walk(library, library, ROOT, &[], &BTreeSet::new());
            surface.add_macros(library);
        }
        surface.hidden = surface.hidden_paths();
        surface
    }

    /// Returns true if a path that starts with a crate's name leads to a hidden item, or through a hidden module.
    pub(crate) fn is_hidden(&self, path: &[String]) -> bool {
        let Some((library, rest)) = self.library_of(path) else {
            return false;
        };
        // The facade re-exports whole crates.
        if let Target::External(other) = self.libraries[library].resolve_outside(rest)
            && other.first() != path.first()
        {
            return self.is_hidden(&other);
        }
        (1..=rest.len()).any(|length| self.hidden.contains(&(library, rest[..length].to_vec())))
    }

    /// Returns the paths of hidden items, and of modules that have no other ones.
    fn hidden_paths(&self) -> BTreeSet<(usize, Vec<String>)> {
        let (mut hidden, mut documented) = (BTreeSet::new(), BTreeSet::new());
        for found in self.paths.values().flatten() {
            let starts =
                (1..=found.path.len()).map(|length| (found.library, found.path[..length].to_vec()));
            if found.is_hidden() {
                hidden.extend(starts);
            } else {
                documented.extend(starts);
            }
        }
        &hidden - &documented
    }

    /// Collects the public names in a module of the library `of`, which the library `library` has at
    /// `path`.
    fn walk(
        &mut self,
        library: usize,
        of: usize,
        module: usize,
        path: &[String],
        cfgs: &BTreeSet<String>,
    ) {
        if self.open.contains(&(of, module)) {
            return;
        }
        self.open.push((of, module));
        let krate = self.libraries[of];
        let scope = &krate.modules[module];
        for item in scope.all_items() {
            let Parts { attrs, vis, ident } = parts(item);
            if !is_public(vis) {
                continue;
            }
            let cfgs = with_cfgs(cfgs, attrs);
            if let Item::Mod(inner) = item
                && let Some(child) = scope.children.get(&inner.ident.to_string())
            {
                let path = joined(path, &inner.ident.to_string());
                self.walk(library, of, *child, &path, &cfgs);
            }
            if let Some(ident) = ident {
                let name = ident.to_string();
                let path = joined(path, &name);
                self.add(library, (of, module, name), path, cfgs);
            }
        }
        for import in &scope.imports {
            let attributes = &import.declaration.attrs;
            if is_public(&import.declaration.vis) && !import.is_local {
                let cfgs = with_cfgs(cfgs, attributes);
                self.import(library, of, module, import, path, cfgs);
            }
        }
        self.open.pop();
    }

    /// Adds the macros with `#[macro_export]`, whose path is that of the root, whatever module defines
    /// them.
    fn add_macros(&mut self, library: usize) {
        for (module, scope) in self.libraries[library].modules.iter().enumerate() {
            for item in scope.items {
                let Parts { attrs, ident, .. } = parts(item);
                if let (Item::Macro(_), Some(ident)) = (item, ident)
                    && has_attribute(attrs, "macro_export")
                {
                    let name = ident.to_string();
                    let cfgs = with_cfgs(&BTreeSet::new(), attrs);
                    self.add(library, (library, module, name.clone()), vec![name], cfgs);
                }
            }
        }
    }

    /// Adds a `pub use`.
    fn import(
        &mut self,
        library: usize,
        of: usize,
        module: usize,
        import: &Import<'_>,
        path: &[String],
        cfgs: BTreeSet<String>,
    ) {
        let target = if import.is_absolute {
            Target::External(import.path.clone())
        } else {
            self.libraries[of].resolve(module, &import.path)
        };
        let (of, target) = self.other_library(of, target);
        // A macro defines the item.
        let target = match (target, import.path.last()) {
            (Target::Unknown(module), Some(name)) => Target::Item(module, name.clone()),
            (target, _) => target,
        };
        let alias = |name: &str| match import.path.last() {
            _ if import.is_glob() => format!("{}::*", import.path.join("::")),
            Some(last) if last != name => format!("{} as {name}", import.path.join("::")),
            _ => import.path.join("::"),
        };
        match target {
            Target::Item(_, name) if import.name == "_" => {
                self.alias(library, path, format!("{name} as _"), &cfgs);
            }
            Target::Item(module, name) => {
                let path = joined(path, &import.name);
                self.add(library, (of, module, name), path, cfgs);
            }
            Target::Module(target) if target != ROOT && import.is_glob() => {
                self.walk(library, of, target, path, &cfgs);
            }
            Target::Module(target) if target != ROOT => {
                let path = joined(path, &import.name);
                self.walk(library, of, target, &path, &cfgs);
            }
            _ => self.alias(library, path, alias(&import.name), &cfgs),
        }
    }

    /// Follows a path in another crate if that is one of the libraries.
    fn other_library(&self, of: usize, target: Target) -> (usize, Target) {
        let Target::External(path) = &target else {
            return (of, target);
        };
        match self.library_of(path) {
            Some((other, rest)) if other != of => match self.libraries[other].resolve_outside(rest)
            {
                Target::External(_) => (of, target),
                found => (other, found),
            },
            _ => (of, target),
        }
    }

    /// Splits a path into the library that its first name means, and the rest.
    fn library_of<'p>(&self, path: &'p [String]) -> Option<(usize, &'p [String])> {
        let (first, rest) = path.split_first()?;
        let name = first.replace('_', "-");
        let mut libraries = self.libraries.iter();
        let library = libraries.position(|library| package(library.root) == name)?;
        Some((library, rest))
    }

    fn add(
        &mut self,
        library: usize,
        definition: Definition,
        path: Vec<String>,
        cfgs: BTreeSet<String>,
    ) {
        let paths = self.paths.entry(definition).or_default();
        paths.push(PublicPath {
            library,
            path,
            cfgs,
        });
    }

    fn alias(&mut self, library: usize, path: &[String], text: String, cfgs: &BTreeSet<String>) {
        if cfgs.contains(HIDDEN) {
            return;
        }
        let names = self.aliases.entry((library, path.join("::"))).or_default();
        names.insert((suffix(cfgs), text));
    }

    /// Formats the list. Names beyond the first one of an item become aliases.
    fn print(mut self) -> String {
        let impls = impls(&self.libraries);
        let mut sections: Vec<BTreeSet<String>> = vec![BTreeSet::new(); self.libraries.len()];
        for (definition, mut paths) in std::mem::take(&mut self.paths) {
            paths.retain(|path| !path.is_hidden());
            paths.sort_by_key(|path| (path.library, path.path.len(), path.path.clone()));
            let mut paths = paths.into_iter();
            let Some(first) = paths.next() else {
                continue;
            };
            let (of, module, name) = &definition;
            let scope = &self.libraries[*of].modules[*module];
            let mut items = scope.all_items();
            let item = items.find(|item| parts(item).ident.is_some_and(|ident| ident == name));
            let public = first.path.join("::");
            let by_macro = || vec![format!("item {public} (defined by a macro)")];
            let mut lines = item.map_or_else(by_macro, |item| items::lines(item, &public));
            for block in impls.get(&definition).into_iter().flatten() {
                lines.extend(items::impl_lines(block, &public));
            }
            let suffix = suffix(&first.cfgs);
            sections[first.library].extend(lines.into_iter().map(|line| line + &suffix));
            for other in paths.filter(|path| path.library == first.library) {
                if let Some((last, module)) = other.path.split_last() {
                    self.alias(other.library, module, last.clone(), &other.cfgs);
                }
            }
        }
        let aliases = std::mem::take(&mut self.aliases);
        for ((library, module), names) in aliases {
            let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for (suffix, name) in names {
                groups.entry(suffix).or_default().push(name);
            }
            for (suffix, names) in groups {
                let module = if module.is_empty() { "crate" } else { &module };
                let line = format!("use in {module}: {}{suffix}", names.join(", "));
                sections[library].insert(line);
            }
        }
        let mut list = String::new();
        for (library, lines) in sections.into_iter().enumerate() {
            let name = package(self.libraries[library].root);
            list.push_str(&format!("# {name}\n"));
            for line in items::group(lines) {
                list.push_str(&line);
                list.push('\n');
            }
            list.push('\n');
        }
        list
    }
}

/// Returns the inherent `impl` blocks of every definition.
fn impls<'a>(libraries: &[&'a Crate<'a>]) -> BTreeMap<Definition, Vec<&'a ItemImpl>> {
    let mut impls: BTreeMap<Definition, Vec<&ItemImpl>> = BTreeMap::new();
    for (library, krate) in libraries.iter().enumerate() {
        for (module, scope) in krate.modules.iter().enumerate() {
            for item in scope.all_items() {
                if let Item::Impl(block) = item
                    && block.trait_.is_none()
                    && let Type::Path(ty) = &*block.self_ty
                {
                    let segments = ty.path.segments.iter();
                    let path: Vec<String> =
                        segments.map(|segment| segment.ident.to_string()).collect();
                    // The type of an inherent impl is local. If no item has the name, a macro in
                    // the same module defines it.
                    let definer = krate.resolve(module, &path).module().unwrap_or(module);
                    if let Some(name) = path.last() {
                        let definition = (library, definer, name.clone());
                        impls.entry(definition).or_default().push(block);
                    }
                }
            }
        }
    }
    impls
}

fn joined(path: &[String], name: &str) -> Vec<String> {
    let mut path = path.to_vec();
    path.push(name.to_owned());
    path
}

/// Adds the conditions among the attributes.
fn with_cfgs(cfgs: &BTreeSet<String>, attributes: &[Attribute]) -> BTreeSet<String> {
    let own = attributes.iter().filter_map(items::cfg);
    let hidden = is_hidden(attributes).then(|| HIDDEN.to_owned());
    cfgs.iter().cloned().chain(own).chain(hidden).collect()
}

fn suffix(cfgs: &BTreeSet<String>) -> String {
    cfgs.iter().map(|cfg| format!("  [{cfg}]")).collect()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

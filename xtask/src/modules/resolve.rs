//! Resolution of a path in a module to the module that it names, or to the item and its module.

use syn::{Item, Visibility};

use super::tree::{Crate, ROOT};
use crate::sources::{has_attribute, parts};

/// The result of resolving a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A module of the crate.
    Module(usize),
    /// An item, defined in this module of the crate.
    Item(usize, String),
    /// A name that no source line of this module defines: a macro made it, or it does not exist.
    Unknown(usize),
    /// A path in another crate, or a name of the language.
    External(Vec<String>),
}

impl Target {
    /// The module that the path leads to, or that defines the item.
    pub(crate) fn module(&self) -> Option<usize> {
        match self {
            Self::Module(module) | Self::Item(module, _) | Self::Unknown(module) => Some(*module),
            Self::External(_) => None,
        }
    }
}

/// Lookups that are in progress. A lookup that needs its own result finds nothing.
type Visited = Vec<(usize, String)>;

impl Crate<'_> {
    /// Resolves a path as it is written in the module `from`.
    pub(crate) fn resolve(&self, from: usize, path: &[String]) -> Target {
        self.resolve_from(from, path, &mut Visited::new())
    }

    /// Resolves a path as another crate writes it. Private modules cannot be imported, so an import or a macro
    /// with the same name as a private module wins.
    pub(crate) fn resolve_outside(&self, path: &[String]) -> Target {
        let found = self.resolve(ROOT, path);
        let Target::Module(module) = found else {
            return found;
        };
        let (Some(parent), Some(name)) = (self.modules[module].parent, path.last()) else {
            return found;
        };
        let is_private = self.modules[parent].all_items().any(|item| {
            let is_inherited = matches!(parts(item).vis, Visibility::Inherited);
            matches!(item, Item::Mod(module) if module.ident == name) && is_inherited
        });
        if !is_private {
            return found;
        }
        let mut imports = self.modules[parent].imports.iter();
        match imports.find(|import| import.name == *name) {
            Some(import) => self.resolve(parent, &import.path),
            None => self
                .exported_macro(name)
                .map_or(found, |definer| Target::Item(definer, name.clone())),
        }
    }

    /// Resolves a single name in `module`, also through its imports. Returns `None` for unknown names.
    pub(crate) fn lookup(&self, module: usize, name: &str) -> Option<Target> {
        self.lookup_name(module, name, true, &mut Visited::new())
    }

    fn resolve_from(&self, from: usize, path: &[String], visited: &mut Visited) -> Target {
        let mut module = from;
        let mut rest = path;
        let mut is_inside = false;
        while let Some((first, tail)) = rest.split_first() {
            module = match first.as_str() {
                "crate" => ROOT,
                "self" => module,
                "super" => self.modules[module].parent.unwrap_or(ROOT),
                _ => break,
            };
            is_inside = true;
            rest = tail;
        }
        while let Some((name, tail)) = rest.split_first() {
            match self.lookup_name(module, name, tail.is_empty(), visited) {
                Some(Target::Module(found)) => module = found,
                Some(Target::External(mut external)) => {
                    external.extend_from_slice(tail);
                    return Target::External(external);
                }
                // The remaining segments are variants, associated items or methods.
                Some(target) => return target,
                None if is_inside => return Target::Unknown(module),
                None => return Target::External(rest.to_vec()),
            }
            is_inside = true;
            rest = tail;
        }
        Target::Module(module)
    }

    /// `is_last`: the name ends the path, so an item wins over a module of the same name.
    fn lookup_name(
        &self,
        module: usize,
        name: &str,
        is_last: bool,
        visited: &mut Visited,
    ) -> Option<Target> {
        let key = (module, name.to_owned());
        if visited.contains(&key) {
            return None;
        }
        visited.push(key);
        let found = self.lookup_unvisited(module, name, is_last, visited);
        visited.pop();
        found
    }

    fn lookup_unvisited(
        &self,
        module: usize,
        name: &str,
        is_last: bool,
        visited: &mut Visited,
    ) -> Option<Target> {
        let scope = &self.modules[module];
        let child = scope.children.get(name).map(|child| Target::Module(*child));
        let mut items = scope.all_items().filter_map(|item| parts(item).ident);
        let item = items
            .any(|ident| ident == name)
            .then(|| Target::Item(module, name.to_owned()));
        let own = if is_last {
            item.or(child)
        } else {
            child.or(item)
        };
        if own.is_some() {
            return own;
        }
        if let Some(import) = scope.imports.iter().find(|import| import.name == name) {
            return Some(if import.is_absolute {
                Target::External(import.path.clone())
            } else {
                self.resolve_from(module, &import.path, visited)
            });
        }
        let mut external = None;
        for glob in scope.imports.iter().filter(|import| import.is_glob()) {
            match self.resolve_from(module, &glob.path, visited) {
                Target::Module(target) if target != module => {
                    let found = self.lookup_name(target, name, is_last, visited);
                    if found.is_some() {
                        return found;
                    }
                }
                Target::External(mut path) => {
                    path.push(name.to_owned());
                    external = Some(Target::External(path));
                }
                _ => {}
            }
        }
        if module == ROOT
            && let Some(definer) = self.exported_macro(name)
        {
            return Some(Target::Item(definer, name.to_owned()));
        }
        external
    }

    /// The module with the `#[macro_export] macro_rules!` of this name, which is named as if the
    /// root defined it.
    fn exported_macro(&self, name: &str) -> Option<usize> {
        self.modules.iter().position(|module| {
            module.items.iter().any(|item| {
                let parts = parts(item);
                matches!(item, Item::Macro(_))
                    && parts.ident.is_some_and(|ident| ident == name)
                    && has_attribute(parts.attrs, "macro_export")
            })
        })
    }
}

//! Rule: one noun is one type. A crate defines no two types of the same name, in whatever modules.
//! `Sealed`, the usual name of the private supertrait of a sealed trait, may occur more than once.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::Attribute;

use super::names::type_name;
use crate::finding::Finding;
use crate::modules::{Crate, crates};
use crate::sources::{Sources, attributes};

/// Words of a `cfg` that choose a platform.
const PLATFORM_WORDS: [&str; 6] = [
    "unix",
    "windows",
    "target_os",
    "target_arch",
    "target_family",
    "target_env",
];

/// A definition of a type.
struct TypeDefinition<'a> {
    path: &'a str,
    line: usize,
    module: usize,
    /// The type has a `cfg` of its own.
    is_conditional: bool,
    /// The type or a module around it is compiled for some platforms only.
    is_platform: bool,
}

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    crates(sources).iter().flat_map(check_crate).collect()
}

fn check_crate(krate: &Crate<'_>) -> Vec<Finding> {
    let mut types: BTreeMap<String, Vec<TypeDefinition<'_>>> = BTreeMap::new();
    for (index, module) in krate.modules.iter().enumerate() {
        for item in module.all_items() {
            if let Some((name, line)) = type_name(item).filter(|(name, _)| name != "Sealed") {
                types.entry(name).or_default().push(TypeDefinition {
                    path: &module.file.path,
                    line,
                    module: index,
                    is_conditional: attributes(item).iter().any(is_cfg),
                    is_platform: is_platform(attributes(item)) || is_platform_module(krate, index),
                });
            }
        }
    }
    let duplicates = types.iter().filter(|(_, it)| it.len() > 1);
    duplicates
        .filter(|(_, definitions)| !are_alternatives(definitions))
        .flat_map(|(name, definitions)| describe(name, definitions))
        .collect()
}

/// A finding for each definition but the first one, which it points to.
fn describe(name: &str, definitions: &[TypeDefinition<'_>]) -> Vec<Finding> {
    let Some((first, others)) = definitions.split_first() else {
        return Vec::new();
    };
    let finding = |other: &TypeDefinition<'_>| {
        let message = format!(
            "the crate has another type `{name}` ({}:{}); give one of them a name of its own, or \
             share one type",
            first.path, first.line
        );
        Finding::new(other.path, other.line, message)
    };
    others.iter().map(finding).collect()
}

/// Returns true if no two of the definitions can be compiled together.
fn are_alternatives(definitions: &[TypeDefinition<'_>]) -> bool {
    let module = definitions.first().map(|it| it.module);
    let in_one_module = definitions
        .iter()
        .all(|it| it.is_conditional && Some(it.module) == module);
    in_one_module || definitions.iter().all(|it| it.is_platform)
}

fn is_platform_module(krate: &Crate<'_>, index: usize) -> bool {
    let mut next = Some(index);
    while let Some(at) = next {
        let module = &krate.modules[at];
        if module.declaration.is_some_and(|it| is_platform(&it.attrs)) {
            return true;
        }
        next = module.parent;
    }
    false
}

fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

fn is_platform(attributes: &[Attribute]) -> bool {
    let mut tokens = TokenStream::new();
    for attribute in attributes.iter().filter(|it| is_cfg(it)) {
        attribute.meta.to_tokens(&mut tokens);
    }
    let text = tokens.to_string();
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| PLATFORM_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    const LIB: &str = "mod a; mod b; mod c;
pub enum Error { One }
pub struct State;
#[cfg(unix)]
mod unix { struct Job; }
#[cfg(not(unix))]
mod windows { struct Job; }
#[cfg(feature = \"x\")]
type Shared = u8;
#[cfg(not(feature = \"x\"))]
type Shared = u16;
impl Iterator for State { type Item = u8; }
fn item() { struct Error; }
";

    #[test]
    fn second_type_of_a_name_is_a_finding() {
        let sources = Sources::from_texts(&[
            ("mcp-core/src/lib.rs", LIB),
            ("mcp-core/src/a.rs", "\npub struct Error;\nstruct Item;\n"),
            ("mcp-core/src/b.rs", "trait State {}\nfn state() {}\n"),
            (
                "mcp-core/src/c.rs",
                "use super::a::Error;\n#[cfg(test)]\nmod tests { struct State; struct Error; }\n",
            ),
            ("mcp-core/src/tests.rs", "struct Error;\n"),
            ("mcp-server/src/lib.rs", "pub struct Error;\n"),
        ]);
        let found: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with(
                "mcp-core/src/a.rs:2: the crate has another type `Error` (mcp-core/src/lib.rs:2)"
            ),
            "{}",
            found[0]
        );
        assert!(
            found[1].starts_with("mcp-core/src/b.rs:1: "),
            "{}",
            found[1]
        );
    }

    #[test]
    fn features_do_not_exclude_each_other() {
        let lib = "#[cfg(feature = \"a\")] mod a { struct X; }
            #[cfg(feature = \"b\")] mod b { struct X; }";
        let sources = Sources::from_texts(&[("mcp-core/src/lib.rs", lib)]);
        assert_eq!(check(&sources).len(), 1);
    }
}

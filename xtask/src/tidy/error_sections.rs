//! Rule: a public function that returns `Result` documents its errors in a section `# Errors`.

use syn::{
    Attribute, GenericArgument, ImplItem, Item, Lit, PathArguments, PathSegment, ReturnType,
    Signature, TraitItem, Type, TypeParamBound, Visibility,
};

use crate::finding::Finding;
use crate::modules::{Crate, crates};
use crate::sources::{Sources, is_hidden, is_library};

const HEADING: &str = "# Errors";

/// Types that stand for the value inside them: `Box<…>`, `Pin<…>`, and futures with a name.
const WRAPPERS: [&str; 5] = ["Box", "Pin", "BoxFuture", "LocalBoxFuture", "Ready"];

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let crates = crates(sources);
    let libraries = crates
        .iter()
        .filter(|krate| is_library(krate.root) && krate.root.ends_with("/lib.rs"));
    libraries.flat_map(check_crate).collect()
}

fn check_crate(krate: &Crate<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, module) in krate.modules.iter().enumerate() {
        if !is_hidden_module(krate, index) {
            for item in module.items {
                check_item(&module.file.path, item, &mut findings);
            }
        }
    }
    findings
}

/// Returns true if the module or one around it is `#[doc(hidden)]`.
fn is_hidden_module(krate: &Crate<'_>, index: usize) -> bool {
    let mut next = Some(index);
    while let Some(at) = next {
        let module = &krate.modules[at];
        if module.declaration.is_some_and(|it| is_hidden(&it.attrs)) {
            return true;
        }
        next = module.parent;
    }
    false
}

fn check_item(path: &str, item: &Item, findings: &mut Vec<Finding>) {
    let mut check = |attributes: &[Attribute], signature: &Signature| {
        if returns_result(&signature.output) && !is_hidden(attributes) && !has_section(attributes) {
            let message = format!(
                "`{}` returns a Result, but its doc has no `{HEADING}` section; add one that says \
                 which error is returned in which case",
                signature.ident
            );
            let line = signature.ident.span().start().line;
            findings.push(Finding::new(path, line, message));
        }
    };
    match item {
        Item::Fn(it) if is_public(&it.vis) => check(&it.attrs, &it.sig),
        Item::Impl(block) if block.trait_.is_none() && !is_hidden(&block.attrs) => {
            for member in &block.items {
                if let ImplItem::Fn(it) = member
                    && is_public(&it.vis)
                {
                    check(&it.attrs, &it.sig);
                }
            }
        }
        Item::Trait(it) if is_public(&it.vis) && !is_hidden(&it.attrs) => {
            for member in &it.items {
                if let TraitItem::Fn(it) = member {
                    check(&it.attrs, &it.sig);
                }
            }
        }
        _ => {}
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn has_section(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::NameValue(it) = &attribute.meta else {
            return false;
        };
        let syn::Expr::Lit(expr) = &it.value else {
            return false;
        };
        matches!(&expr.lit, Lit::Str(text) if text.value().lines().any(|line| line.trim() == HEADING))
    })
}

/// Returns true for `Result` of any path, and for a future whose output is one. The output of an
/// `async fn` is its declared return type.
fn returns_result(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, ty) if is_result(ty))
}

fn is_result(ty: &Type) -> bool {
    match ty {
        Type::Path(it) => it.path.segments.last().is_some_and(|last| {
            last.ident == "Result"
                || (WRAPPERS.iter().any(|wrapper| last.ident == wrapper)
                    && arguments(last).any(|argument| {
                        matches!(argument, GenericArgument::Type(inner) if is_result(inner))
                    }))
        }),
        Type::ImplTrait(it) => it.bounds.iter().any(is_future_of_result),
        Type::TraitObject(it) => it.bounds.iter().any(is_future_of_result),
        Type::Paren(it) => is_result(&it.elem),
        _ => false,
    }
}

fn is_future_of_result(bound: &TypeParamBound) -> bool {
    let TypeParamBound::Trait(it) = bound else {
        return false;
    };
    it.path.segments.last().is_some_and(|last| {
        ["Future", "IntoFuture"].iter().any(|name| last.ident == name)
            && arguments(last).any(|argument| {
                matches!(argument, GenericArgument::AssocType(it) if it.ident == "Output" && is_result(&it.ty))
            })
    })
}

fn arguments(segment: &PathSegment) -> impl Iterator<Item = &GenericArgument> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(it) => Some(&it.args),
        _ => None,
    };
    arguments.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::samples::{lines_of, marked};

    const SAMPLE: &str = r"//! Sample.
pub fn a() -> Result<(), E> {} // BAD
/// Does it.
pub fn b() -> io::Result<()> {} // BAD
pub async fn c() -> mcp::Result<u8> {} // BAD
pub fn d() -> impl Future<Output = crate::Result<()>> + Send {} // BAD
pub fn e() -> Pin<Box<dyn Future<Output = Result<(), E>> + Send>> {} // BAD
pub fn f() -> BoxFuture<'static, Result<()>> {} // BAD
/// Does it.
///
/// # Errors
///
/// Returns `E` if it cannot.
pub fn good() -> Result<(), E> {}
pub fn plain() -> Option<u8> {}
pub fn results() -> impl Iterator<Item = Result<u8>> {}
pub(crate) fn inside() -> Result<()> {}
#[doc(hidden)]
pub fn hidden() -> Result<()> {}
impl T {
    pub fn g(&self) -> Result<()> {} // BAD
    fn private(&self) -> Result<()> {}
}
impl U for T {
    fn h(&self) -> Result<()> {}
}
pub trait U {
    fn h(&self) -> Result<()>; // BAD
}
trait Private {
    fn h(&self) -> Result<()>;
}
#[doc(hidden)]
pub mod support {
    pub fn i() -> Result<()> {}
}
pub mod open {
    pub fn j() -> Result<()> {} // BAD
}
";

    #[test]
    fn results_without_an_errors_section_are_findings() {
        assert_eq!(lines_of(check, "mcp/src/lib.rs", SAMPLE), marked(SAMPLE));
    }

    #[test]
    fn programs_and_tools_are_free() {
        for path in ["bench/src/lib.rs", "mcp/src/bin/a.rs", "mcp/src/unused.rs"] {
            assert!(lines_of(check, path, SAMPLE).is_empty(), "{path}");
        }
    }
}

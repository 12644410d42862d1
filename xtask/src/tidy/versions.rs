//! Rule: protocol versions are compared in three places only. Other code calls a named
//! predicate of `ProtocolVersion`, or uses the wire that was chosen for the connection.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Macro, Pat, Path, Token};

use crate::finding::Finding;
use crate::modules::imports;
use crate::sources::Sources;

/// Files and folders that may compare versions.
const ALLOWED: [&str; 4] = [
    "mcp-types/src/version.rs",
    "mcp-client/src/negotiation/probe.rs",
    "mcp-core/src/versioning/",
    "mcp-core/src/wire/",
];

/// The type whose values are not compared elsewhere.
const TYPE: &str = "ProtocolVersion";

/// Methods that compare.
const COMPARING: [&str; 10] = [
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "cmp",
    "partial_cmp",
    "max",
    "min",
];

/// Macros that compare their arguments.
const COMPARING_MACROS: [&str; 5] = [
    "matches",
    "assert_eq",
    "assert_ne",
    "debug_assert_eq",
    "debug_assert_ne",
];

const REMEDY: &str =
    "call a named predicate of mcp-types/src/version.rs instead (or add one there)";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources.library() {
        if ALLOWED.iter().any(|allowed| file.path.starts_with(allowed)) {
            continue;
        }
        let mut comparisons = Comparisons::default();
        for import in imports(&file.ast) {
            if import.is_glob() && import.path.iter().any(|name| name == TYPE) {
                comparisons
                    .lines
                    .push((import.line, "imports every variant of"));
            } else if import.path.iter().rev().skip(1).any(|name| name == TYPE) {
                comparisons.imported.push(import.name);
            }
        }
        comparisons.visit_file(&file.ast);
        comparisons.lines.sort_unstable();
        comparisons.lines.dedup();
        findings.extend(comparisons.lines.into_iter().map(|(line, action)| {
            Finding::new(
                &file.path,
                line,
                format!("{action} a protocol version; {REMEDY}"),
            )
        }));
    }
    findings
}

#[derive(Default)]
struct Comparisons {
    /// Variants that the file imports, so that it can name them without their type.
    imported: Vec<String>,
    lines: Vec<(usize, &'static str)>,
}

impl Comparisons {
    fn add(&mut self, span: Span, action: &'static str) {
        self.lines.push((span.start().line, action));
    }

    /// Returns true if the path names a variant or constant of such a type.
    fn names_version(&self, path: &Path) -> bool {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        names.windows(2).any(|pair| pair[0] == TYPE)
            || (names.len() == 1 && self.imported.contains(&names[0]))
    }

    /// Returns true if an operand is a version, also inside `Some` or a tuple. A call with a version
    /// as an argument is not a version.
    fn is_version(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(node) => self.names_version(&node.path),
            Expr::Paren(node) => self.is_version(&node.expr),
            Expr::Group(node) => self.is_version(&node.expr),
            Expr::Reference(node) => self.is_version(&node.expr),
            Expr::Unary(node) => self.is_version(&node.expr),
            Expr::Cast(node) => self.is_version(&node.expr),
            Expr::Tuple(node) => node.elems.iter().any(|expr| self.is_version(expr)),
            Expr::Array(node) => node.elems.iter().any(|expr| self.is_version(expr)),
            Expr::Call(node) => {
                is_wrapper(&node.func) && node.args.iter().any(|expr| self.is_version(expr))
            }
            _ => false,
        }
    }

    /// Returns true if the tokens contain `Type ::` or an imported variant.
    fn tokens_mention(&self, tokens: TokenStream) -> bool {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        tokens.iter().enumerate().any(|(at, token)| match token {
            TokenTree::Group(group) => self.tokens_mention(group.stream()),
            TokenTree::Ident(name) if name == TYPE => {
                matches!(tokens.get(at + 1), Some(TokenTree::Punct(p)) if p.as_char() == ':')
            }
            TokenTree::Ident(name) => self.imported.iter().any(|variant| name == variant),
            TokenTree::Literal(_) | TokenTree::Punct(_) => false,
        })
    }
}

impl<'ast> Visit<'ast> for Comparisons {
    fn visit_expr(&mut self, node: &'ast Expr) {
        let action = match node {
            Expr::Binary(node) if is_comparison(&node.op) => {
                let compares = self.is_version(&node.left) || self.is_version(&node.right);
                compares.then_some("compares")
            }
            Expr::MethodCall(node) if COMPARING.iter().any(|name| node.method == name) => {
                let mut operands = std::iter::once(&*node.receiver).chain(&node.args);
                let compares = operands.any(|expr| self.is_version(expr));
                compares.then_some("compares")
            }
            Expr::Range(node) => {
                let mut ends = node.start.iter().chain(&node.end);
                let is_range = ends.any(|end| self.is_version(end));
                is_range.then_some("makes a range of")
            }
            _ => None,
        };
        if let Some(action) = action {
            self.add(node.span(), action);
        }
        visit::visit_expr(self, node);
    }

    fn visit_pat(&mut self, node: &'ast Pat) {
        let is_match = match node {
            Pat::Path(pattern) => self.names_version(&pattern.path),
            Pat::Struct(pattern) => self.names_version(&pattern.path),
            Pat::TupleStruct(pattern) => self.names_version(&pattern.path),
            // The parser takes an imported variant for a new binding.
            Pat::Ident(pattern) => self.imported.iter().any(|name| pattern.ident == name),
            _ => false,
        };
        if is_match {
            self.add(node.span(), "matches on");
        }
        visit::visit_pat(self, node);
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        let name = node
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string());
        if name.is_some_and(|name| COMPARING_MACROS.contains(&name.as_str()))
            && self.tokens_mention(node.tokens.clone())
        {
            self.add(node.span(), "compares");
        } else if let Ok(arguments) =
            node.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated)
        {
            for argument in &arguments {
                self.visit_expr(argument);
            }
        }
    }
}

/// Returns true for `Some`, `Ok` and `Err`: comparing them compares the values inside.
fn is_wrapper(function: &Expr) -> bool {
    let Expr::Path(node) = function else {
        return false;
    };
    ["Some", "Ok", "Err"]
        .iter()
        .any(|name| node.path.is_ident(name))
}

fn is_comparison(operator: &BinOp) -> bool {
    matches!(
        operator,
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
    )
}

//! Rule: protocol versions are compared in three places only. Other code calls a named
//! predicate of `ProtocolVersion`, or uses the wire that was chosen for the connection.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{
    Arm, BinOp, Expr, ExprBinary, ExprLet, ExprMethodCall, ExprRange, ItemUse, Local, Macro, Pat,
    PatGuard, PatIdent, PatType, Path, Token, UseTree,
};

use crate::finding::Finding;
use crate::sources::Sources;

/// Files and folders that may compare versions.
const ALLOWED: [&str; 4] = [
    "mcp-types/src/version.rs",
    "mcp-client/src/probe.rs",
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
        let mut imports = Imports::default();
        imports.visit_file(&file.ast);
        let mut comparisons = Comparisons {
            imported: imports.variants,
            lines: imports.globs,
        };
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

/// Variants that a file imports, so that it can name them without their type.
#[derive(Default)]
struct Imports {
    variants: Vec<String>,
    /// Glob imports of variants.
    globs: Vec<(usize, &'static str)>,
}

impl Imports {
    /// `inside`: the tree is below one of the types.
    fn add(&mut self, tree: &UseTree, inside: bool) {
        match tree {
            UseTree::Path(path) => {
                let inside = inside || path.ident == TYPE;
                self.add(&path.tree, inside);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add(tree, inside)),
            UseTree::Name(name) if inside => self.variants.push(name.ident.to_string()),
            UseTree::Rename(name) if inside => self.variants.push(name.rename.to_string()),
            UseTree::Glob(star) if inside => {
                self.globs
                    .push((star.span().start().line, "imports every variant of"));
            }
            UseTree::Name(_) | UseTree::Rename(_) | UseTree::Glob(_) => {}
        }
    }
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_use(&mut self, node: &'ast ItemUse) {
        self.add(&node.tree, false);
    }
}

struct Comparisons {
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

    fn pattern(&mut self, pattern: &Pat) {
        let mut mention = Mention {
            names: self,
            found: false,
        };
        mention.visit_pat(pattern);
        if mention.found {
            self.add(pattern.span(), "matches on");
        }
    }
}

impl<'ast> Visit<'ast> for Comparisons {
    fn visit_expr_binary(&mut self, node: &'ast ExprBinary) {
        let compares = matches!(
            node.op,
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
        );
        if compares && (self.is_version(&node.left) || self.is_version(&node.right)) {
            self.add(node.span(), "compares");
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_range(&mut self, node: &'ast ExprRange) {
        if node
            .start
            .iter()
            .chain(&node.end)
            .any(|end| self.is_version(end))
        {
            self.add(node.span(), "makes a range of");
        }
        visit::visit_expr_range(self, node);
    }

    fn visit_expr_method_call(&mut self, node: &'ast ExprMethodCall) {
        let compares = COMPARING.iter().any(|name| node.method == name);
        if compares
            && (self.is_version(&node.receiver) || node.args.iter().any(|arg| self.is_version(arg)))
        {
            self.add(node.span(), "compares");
        }
        visit::visit_expr_method_call(self, node);
    }

    fn visit_arm(&mut self, node: &'ast Arm) {
        self.pattern(&node.pat);
        visit::visit_arm(self, node);
    }

    fn visit_expr_let(&mut self, node: &'ast ExprLet) {
        self.pattern(&node.pat);
        visit::visit_expr_let(self, node);
    }

    fn visit_local(&mut self, node: &'ast Local) {
        self.pattern(&node.pat);
        visit::visit_local(self, node);
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

/// Searches a pattern for a version. The guard of the pattern is an expression and is skipped.
struct Mention<'a> {
    names: &'a Comparisons,
    found: bool,
}

impl<'ast> Visit<'ast> for Mention<'_> {
    fn visit_path(&mut self, node: &'ast Path) {
        self.found |= self.names.names_version(node);
    }

    /// The parser takes an imported variant for a new binding.
    fn visit_pat_ident(&mut self, node: &'ast PatIdent) {
        self.found |= self.names.imported.iter().any(|name| node.ident == name);
        visit::visit_pat_ident(self, node);
    }

    fn visit_pat_guard(&mut self, node: &'ast PatGuard) {
        self.visit_pat(&node.pat);
    }

    fn visit_pat_type(&mut self, node: &'ast PatType) {
        self.visit_pat(&node.pat);
    }
}

//! One parameter.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprRange, Lit, LitStr, Pat, PatType, RangeLimits, Type, UnOp};

use crate::docs;
use crate::errors::Errors;
use crate::options::{Options, Root, at};
use crate::route::Kind;

const OPTIONS: &[&str] = &["name", "title", "description", "default", "range"];
const OPTIONS_OF_TOOLS: &[&str] = &["name", "title", "description", "default", "range", "header"];

/// What is asked of its type.
#[derive(Clone, Copy)]
enum Ask {
    /// Extractor or argument.
    Any,
    /// An extractor: it has no name.
    Nameless,
    /// An extractor: no variable of the URI has its name.
    Outside,
    /// An extractor: the argument of a completion is what was typed so far.
    Beside,
}

/// How the function takes what was typed so far.
#[derive(Clone, Copy)]
enum Prefix {
    Borrowed,
    Owned,
}

/// `#[arg(default)]`, `#[arg(default = …)]`.
enum Default {
    OfType,
    Value(TokenStream),
}

/// A parameter, as its tokens say it.
pub(crate) struct Param {
    index: usize,
    /// Without lifetimes of the function.
    ty: Type,
    name: Option<String>,
    ask: Ask,
    prefix: Option<Prefix>,
    title: Option<Expr>,
    description: Vec<Expr>,
    /// Where `#[arg(…)]` stands.
    options: Option<Span>,
    default: Option<Default>,
    range: Option<ExprRange>,
    header: Option<LitStr>,
}

impl Param {
    /// Reads a parameter and takes away what the compiler must not see.
    pub(crate) fn read(
        kind: Kind,
        index: usize,
        param: &mut PatType,
        ty: Type,
        errors: &mut Errors,
    ) -> Self {
        let docs = docs::take(&mut param.attrs);
        refuse_cfg(kind, &param.attrs, errors);
        let arg = take_arg(&mut param.attrs, errors);
        let options = arg.as_ref().map(|arg| arg.path().span());
        let known = match kind {
            Kind::Tool => OPTIONS_OF_TOOLS,
            Kind::Resource | Kind::Prompt | Kind::Completion => OPTIONS,
        };
        let mut arg = Options::of("#[arg]", arg.as_ref(), known, errors);
        let name = match arg.text("name", errors) {
            Some(name) => Some(name.value()),
            None => plain_name(&param.pat),
        };
        let title = arg.expr("title", errors);
        let description = arg.expr("description", errors);
        let default = arg.maybe_expr("default").map(default_value);
        let range = arg.expr("range", errors);
        let header = arg.text("header", errors);
        Self {
            index,
            ty,
            ask: match name {
                Some(_) => Ask::Any,
                None => Ask::Nameless,
            },
            name,
            prefix: None,
            title,
            description: description.map_or(docs, |text| vec![text]),
            options,
            default,
            range: range.and_then(|range| a_range(range, errors)),
            header: header.filter(|name| is_token(name, errors)),
        }
    }

    /// Reads a parameter of a completion: what was typed so far, or an extractor.
    pub(crate) fn beside_prefix(
        index: usize,
        param: &mut PatType,
        ty: Type,
        root: &Root,
        errors: &mut Errors,
    ) -> Self {
        let mut param = Self::read(Kind::Completion, index, param, ty, errors);
        param.prefix = prefix(&param.ty);
        param.ask = Ask::Beside;
        if param.prefix.is_some() {
            let support = root.support(param.ty.span());
            param.ty = syn::parse_quote!(#support::Prefix);
        }
        param
    }

    pub(crate) fn is_prefix(&self) -> bool {
        self.prefix.is_some()
    }

    pub(crate) fn ty(&self) -> &Type {
        &self.ty
    }

    /// How the client calls it.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// `Args<T>` and `RawArgs` take whatever is there.
    pub(crate) fn takes_all_arguments(&self) -> bool {
        let Type::Path(path) = &self.ty else {
            return false;
        };
        let last = path.path.segments.last();
        last.is_some_and(|last| last.ident == "Args" || last.ident == "RawArgs")
    }

    /// No variable of the URI has its name: it can only be an extractor.
    pub(crate) fn outside(&mut self) {
        self.ask = Ask::Outside;
    }

    /// What it is: `let param_0 = …;`.
    fn param(&self) -> Ident {
        format_ident!("param_{}", self.index, span = Span::mixed_site())
    }

    /// Its default: `let default_0 = …;`.
    fn default(&self) -> Ident {
        format_ident!("default_{}", self.index, span = Span::mixed_site())
    }

    /// Its value in a call: `let value_0 = …;`.
    pub(crate) fn value(&self) -> Ident {
        format_ident!("value_{}", self.index, span = Span::mixed_site())
    }

    /// Its value, as the function takes it.
    pub(crate) fn passed(&self) -> TokenStream {
        let value = self.value();
        match self.prefix {
            None => quote!(#value),
            Some(Prefix::Borrowed) => quote!(&#value),
            Some(Prefix::Owned) => quote!(#value.0),
        }
    }

    /// The statements that describe it when the route is made.
    pub(crate) fn describe(&self, root: &Root) -> TokenStream {
        let (param, ty) = (self.param(), &self.ty);
        let support = root.support(ty.span());
        let ask = match self.ask {
            Ask::Any => quote_spanned!(at(ty.span())=> param),
            Ask::Nameless => quote_spanned!(at(ty.span())=> nameless),
            Ask::Outside => quote_spanned!(at(ty.span())=> outside),
            Ask::Beside => quote_spanned!(at(ty.span())=> beside),
        };
        let name = self.name.as_deref().unwrap_or_default();
        let description = (!self.description.is_empty()).then(|| {
            let pieces = &self.description;
            quote!(.doc(&[#(#pieces),*]))
        });
        let title = self.title.as_ref().map(|title| quote!(.title(#title)));
        let range = self.range.as_ref().map(|range| {
            let bounds = range_tokens(range, &support);
            quote_spanned!(at(range.span())=> let about = #param.with_range(about, #bounds);)
        });
        let header = self.header.as_ref().map(|name| quote!(.header(#name)));
        let options = self
            .options
            .map(|span| quote_spanned!(at(span)=> #param.with_options();));
        let default = self.describe_default();
        quote_spanned! {at(ty.span())=>
            let #param = (&&&&#support::Slot::<#ty>::new()).#ask();
            #options
            let about = #support::About::new(#name) #title #description #header;
            #range
            #default
            #param.describe(&mut params, about);
        }
    }

    fn describe_default(&self) -> Option<TokenStream> {
        let (param, default) = (self.param(), self.default());
        let (span, made) = match self.default.as_ref()? {
            Default::OfType => {
                let span = at(self.options.unwrap_or_else(|| self.ty.span()));
                (span, quote_spanned!(span=> #param.default_of_type()))
            }
            Default::Value(value) => {
                let span = at(value.span());
                (span, quote_spanned!(span=> #param.default_value(|| #value)))
            }
        };
        Some(quote_spanned! {span=>
            let #default = #made;
            let about = #param.with_default(about, #default);
        })
    }

    /// The statements that take its value from the `input` of a call.
    pub(crate) fn take(&self) -> TokenStream {
        let (param, value) = (self.param(), self.value());
        let index = Literal::usize_unsuffixed(self.index);
        let default = match &self.default {
            Some(_) => self.default().into_token_stream(),
            None => quote!(::core::option::Option::None),
        };
        quote_spanned! {at(self.ty.span())=>
            let #value = #param.take(input, #index, #default)?;
        }
    }
}

/// `&str` and `String` are what was typed so far.
fn prefix(ty: &Type) -> Option<Prefix> {
    match ty {
        Type::Reference(borrowed) if borrowed.mutability.is_none() => match &*borrowed.elem {
            Type::Path(path) if path.path.is_ident("str") => Some(Prefix::Borrowed),
            _ => None,
        },
        Type::Path(path) if path.path.is_ident("String") => Some(Prefix::Owned),
        _ => None,
    }
}

fn refuse_cfg(kind: Kind, attributes: &[Attribute], errors: &mut Errors) {
    let noun = kind.noun();
    for attribute in attributes {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            let message = format!(
                "a parameter of a {noun} cannot depend on the configuration; \
                 write two {noun}s and put `#[cfg(…)]` on each"
            );
            errors.at(attribute, message);
        }
    }
}

fn take_arg(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Attribute> {
    let mut args = attributes.extract_if(.., |attribute| is_named(attribute, "arg"));
    let first = args.next();
    for second in args {
        errors.at(second, "write all options in one `#[arg(…)]`");
    }
    first
}

/// `#[arg]`, `#[mcp::arg]`, whatever the path.
fn is_named(attribute: &Attribute, name: &str) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|segment| segment.ident == name)
}

/// `a` and `mut a` have a name, `Args(a)` and `_` have none.
fn plain_name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(plain) => Some(plain.ident.unraw().to_string()),
        _ => None,
    }
}

fn default_value(value: Option<Expr>) -> Default {
    match value {
        None => Default::OfType,
        Some(Expr::Lit(literal)) if matches!(literal.lit, Lit::Str(_)) => {
            let convert =
                quote_spanned!(at(literal.span())=> ::core::convert::Into::into(#literal));
            Default::Value(convert)
        }
        Some(value) => Default::Value(value.into_token_stream()),
    }
}

fn a_range(range: Expr, errors: &mut Errors) -> Option<ExprRange> {
    match range {
        Expr::Range(range) if range.start.is_some() || range.end.is_some() => Some(range),
        other => {
            errors.at(other, "`range` needs a range, such as `1..=100` or `0..`");
            None
        }
    }
}

fn range_tokens(range: &ExprRange, support: &TokenStream) -> TokenStream {
    let from = range.start.as_deref().map(|from| {
        let from = limit(from);
        quote!(.from(#from))
    });
    let to = range.end.as_deref().map(|to| {
        let to = limit(to);
        match range.limits {
            RangeLimits::HalfOpen(_) => quote!(.below(#to)),
            RangeLimits::Closed(_) => quote!(.to(#to)),
        }
    });
    quote_spanned!(at(range.span())=> #support::Range::new() #from #to)
}

/// A bound. Integers without a suffix are as wide as they need to be, whatever the parameter is.
fn limit(bound: &Expr) -> TokenStream {
    match bound {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) if int.suffix().is_empty() => {
                let digits = int.base10_digits().parse().map(Literal::i128_suffixed);
                digits.map_or_else(|_| quote!(#int), |digits| quote!(#digits))
            }
            other => quote!(#other),
        },
        Expr::Unary(negative) if matches!(negative.op, UnOp::Neg(_)) => {
            let inner = limit(&negative.expr);
            quote!(-#inner)
        }
        other => quote!(#other),
    }
}

// spec: XHDR-03, XHDR-04
fn is_token(name: &LitStr, errors: &mut Errors) -> bool {
    let text = name.value();
    let fits = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let valid = !text.is_empty() && text.chars().all(fits);
    if !valid {
        let message = "the name of a header has letters, digits and `-`, such as `Region`";
        errors.at(name, message);
    }
    valid
}

//! One parameter of a tool.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprRange, Lit, LitStr, Pat, PatType, RangeLimits, Type, UnOp};

use crate::docs;
use crate::errors::Errors;
use crate::options::{Options, Root, at};
use crate::tool::is_named;

const OPTIONS: &[&str] = &["name", "description", "default", "range", "header"];

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
    description: Vec<Expr>,
    /// Where `#[arg(…)]` stands.
    options: Option<Span>,
    default: Option<Default>,
    range: Option<ExprRange>,
    header: Option<LitStr>,
}

impl Param {
    /// Reads a parameter and takes away what the compiler must not see.
    pub(crate) fn read(index: usize, param: &mut PatType, ty: Type, errors: &mut Errors) -> Self {
        let docs = docs::take(&mut param.attrs);
        refuse_cfg(&param.attrs, errors);
        let arg = take_arg(&mut param.attrs, errors);
        let options = arg.as_ref().map(|arg| arg.path().span());
        let mut arg = Options::of("#[arg]", arg.as_ref(), OPTIONS, errors);
        let name = match arg.text("name", errors) {
            Some(name) => Some(name.value()),
            None => plain_name(&param.pat),
        };
        let description = arg.expr("description", errors);
        let default = arg.maybe_expr("default").map(default_value);
        let range = arg.expr("range", errors);
        let header = arg.text("header", errors);
        Self {
            index,
            ty,
            name,
            description: description.map_or(docs, |text| vec![text]),
            options,
            default,
            range: range.and_then(|range| a_range(range, errors)),
            header: header.filter(|name| is_token(name, errors)),
        }
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

    /// The statements that describe it when the route is made.
    pub(crate) fn describe(&self, root: &Root) -> TokenStream {
        let (param, ty) = (self.param(), &self.ty);
        let support = root.support(ty.span());
        let ask = match self.name {
            Some(_) => quote_spanned!(at(ty.span())=> param),
            None => quote_spanned!(at(ty.span())=> nameless),
        };
        let name = self.name.as_deref().unwrap_or_default();
        let description = (!self.description.is_empty()).then(|| {
            let pieces = &self.description;
            quote!(.doc(&[#(#pieces),*]))
        });
        let range = self.range.as_ref().map(|range| {
            let range = range_tokens(range, &support);
            quote!(.range(#range))
        });
        let header = self.header.as_ref().map(|name| quote!(.header(#name)));
        let options = self
            .options
            .map(|span| quote_spanned!(at(span)=> #param.with_options();));
        let default = self.describe_default();
        quote_spanned! {at(ty.span())=>
            let #param = (&&&&#support::Slot::<#ty>::new()).#ask();
            #options
            let about = #support::About::new(#name) #description #range #header;
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
        let range = self.range.as_ref().map(
            |range| quote_spanned!(at(range.span())=> #param.check_range(input, #index, &#value)?;),
        );
        quote_spanned! {at(self.ty.span())=>
            let #value = #param.take(input, #index, #default)?;
            #range
        }
    }
}

fn refuse_cfg(attributes: &[Attribute], errors: &mut Errors) {
    for attribute in attributes {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            let message = "a parameter of a tool cannot depend on the configuration; \
                           write two tools and put `#[cfg(…)]` on each";
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

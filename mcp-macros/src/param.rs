//! One parameter of a marked method.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, ExprRange, GenericArgument, Lit, LitStr, Pat, PatType, PathArguments,
    RangeLimits, Type, UnOp,
};

use crate::docs;
use crate::errors::Errors;
use crate::options::{CratePath, Options, default_value, hygienic};
use crate::route::RouteKind;

/// The options of `#[arg(…)]`. Only tool arguments have the last one.
const OPTIONS: [&str; 8] = [
    "name",
    "title",
    "description",
    "default",
    "range",
    "length",
    "pattern",
    "header",
];

/// Types that are extractors by their name. Only the compiler knows all of them.
const EXTRACTORS: &[&str] = &[
    "Ask",
    "Cancel",
    "ClientInfo",
    "Extension",
    "Header",
    "Headers",
    "Identity",
    "Log",
    "Notify",
    "Progress",
    "Prompts",
    "RequestMeta",
    "Resources",
    "State",
    "Templates",
    "Tools",
];

/// The position of a parameter, which determines the types it accepts.
#[derive(Clone, Copy)]
enum Position {
    /// A parameter with a name: an extractor or an argument.
    Named,
    /// A parameter with a pattern: an extractor.
    Unnamed,
    /// A parameter of a resource whose name is not a URI variable: an extractor.
    WithoutVariable,
    /// A completion parameter: an extractor.
    InCompletion,
}

/// The type by which a completion receives the typed text.
#[derive(Clone, Copy)]
enum Prefix {
    Borrowed,
    Owned,
}

/// The option `default` or `default = …`.
enum Default {
    OfType,
    Value(TokenStream),
}

/// A parameter of a marked method.
pub(crate) struct Param {
    index: usize,
    /// The type with anonymous lifetimes.
    ty: Type,
    name: Option<String>,
    /// `#[arg(name = …)]` sets the name.
    is_renamed: bool,
    position: Position,
    prefix: Option<Prefix>,
    /// The setters of `ParameterInfo`.
    info: TokenStream,
    /// The span of `#[arg(…)]`.
    options: Option<Span>,
    default: Option<Default>,
    range: Option<ExprRange>,
    length: Option<ExprRange>,
    pattern: Option<Expr>,
}

impl Param {
    /// Reads a parameter and removes attributes that the compiler would reject.
    pub(crate) fn read(
        kind: RouteKind,
        index: usize,
        param: &mut PatType,
        ty: Type,
        errors: &mut Errors,
    ) -> Self {
        let docs = docs::remove(&mut param.attrs);
        reject_cfg(kind, &param.attrs, errors);
        let arg = remove_arg(&mut param.attrs, errors);
        let options = arg.as_ref().map(|arg| arg.path().span());
        let known = match kind {
            RouteKind::Tool => &OPTIONS[..],
            RouteKind::Resource | RouteKind::Prompt | RouteKind::Completion => &OPTIONS[..7],
        };
        let mut arg = Options::from_attribute("#[arg]", arg.as_ref(), known, errors);
        let new_name = arg.text("name", errors);
        let is_renamed = new_name.is_some();
        let name = match new_name {
            Some(name) => Some(name.value()),
            None => plain_name(&param.pat),
        };
        let title = arg.setter("title", errors);
        let description = match arg.expr("description", errors) {
            Some(text) => Some(quote!(.doc(&[#text]))),
            None => (!docs.is_empty()).then(|| quote!(.doc(&[#(#docs),*]))),
        };
        let default = arg.optional_expr("default").map(|value| {
            value.map_or(Default::OfType, |value| {
                Default::Value(default_value(&value))
            })
        });
        let range = arg.range("range", errors);
        let length = arg.range("length", errors);
        let pattern = arg.expr("pattern", errors);
        let header = arg.text("header", errors);
        let header = header.filter(|name| is_header_name(name, errors));
        let header = header.map(|name| quote!(.header(#name)));
        Self {
            index,
            ty,
            position: match name {
                Some(_) => Position::Named,
                None => Position::Unnamed,
            },
            name,
            is_renamed,
            prefix: None,
            info: quote!(#title #description #header),
            options,
            default,
            range,
            length,
            pattern,
        }
    }

    /// Reads a completion parameter: the typed text, or an extractor.
    pub(crate) fn of_completion(
        index: usize,
        param: &mut PatType,
        ty: Type,
        crate_path: &CratePath,
        errors: &mut Errors,
    ) -> Self {
        let mut param = Self::read(RouteKind::Completion, index, param, ty, errors);
        param.prefix = prefix(&param.ty);
        param.position = Position::InCompletion;
        if param.prefix.is_some() {
            let private = crate_path.private(param.ty.span());
            param.ty = syn::parse_quote!(#private::Prefix);
        }
        param
    }

    pub(crate) fn is_prefix(&self) -> bool {
        self.prefix.is_some()
    }

    pub(crate) fn ty(&self) -> &Type {
        &self.ty
    }

    /// Returns the argument's name.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns whether the parameter is an argument with a name, as far as its tokens show.
    pub(crate) fn is_argument(&self) -> bool {
        let is_extractor = || {
            let name = type_name(&self.ty);
            name.is_some_and(|name| EXTRACTORS.contains(&&*name))
        };
        self.name.is_some()
            && self.prefix.is_none()
            && !self.takes_all_arguments()
            && (self.is_renamed || !is_extractor())
    }

    /// Returns whether the type is `Args<T>` or `RawArgs`.
    pub(crate) fn takes_all_arguments(&self) -> bool {
        let Type::Path(path) = &self.ty else {
            return false;
        };
        let last = path.path.segments.last();
        last.is_some_and(|last| last.ident == "Args" || last.ident == "RawArgs")
    }

    /// Marks a parameter of a resource whose name is not a URI variable.
    pub(crate) fn mark_without_variable(&mut self) {
        self.position = Position::WithoutVariable;
    }

    /// Returns the classified parameter's variable: `__param_0`.
    fn param(&self) -> Ident {
        format_ident!("__param_{}", self.index, span = Span::mixed_site())
    }

    /// Returns the default's variable: `__default_0`.
    fn default(&self) -> Ident {
        format_ident!("__default_{}", self.index, span = Span::mixed_site())
    }

    /// Returns the value's variable in a call: `__value_0`.
    pub(crate) fn value(&self) -> Ident {
        format_ident!("__value_{}", self.index, span = Span::mixed_site())
    }

    /// Returns the value as the function receives it.
    pub(crate) fn passed(&self) -> TokenStream {
        let value = self.value();
        match self.prefix {
            None => quote!(#value),
            Some(Prefix::Borrowed) => quote!(&#value),
            Some(Prefix::Owned) => quote!(#value.0),
        }
    }

    /// Returns the statements that describe the parameter when the route is created.
    pub(crate) fn describe(&self, crate_path: &CratePath) -> TokenStream {
        let (param, ty) = (self.param(), &self.ty);
        let span = hygienic(ty.span());
        let private = crate_path.private(span);
        let classify = match self.position {
            Position::Named => quote_spanned!(span=> classify),
            Position::Unnamed => quote_spanned!(span=> classify_unnamed),
            Position::WithoutVariable => quote_spanned!(span=> classify_without_variable),
            Position::InCompletion => quote_spanned!(span=> classify_in_completion),
        };
        let name = self.name.as_deref().unwrap_or_default();
        let range = self.range.as_ref().map(|range| {
            let bounds = range_tokens(range, &private);
            quote_spanned!(hygienic(range.span())=> let __info = #param.with_range(__info, #bounds);)
        });
        let length = self.length.as_ref().map(|length| {
            let bounds = length_tokens(length);
            quote_spanned!(hygienic(length.span())=> let __info = #param.with_length(__info, #bounds);)
        });
        let pattern = self.pattern.as_ref().map(|pattern| {
            quote_spanned!(hygienic(pattern.span())=> let __info = #param.with_pattern(__info, #pattern);)
        });
        let setters = &self.info;
        let options = self
            .options
            .map(|span| quote_spanned!(hygienic(span)=> #param.with_options();));
        let default = self.describe_default();
        quote_spanned! {span=>
            let #param = (&&&&#private::Probe::<#ty>::new()).#classify();
            #options
            let __info = #private::ParameterInfo::new(#name) #setters;
            #range
            #length
            #pattern
            #default
            #param.describe(&mut __parameters, __info);
        }
    }

    fn describe_default(&self) -> Option<TokenStream> {
        let (param, default) = (self.param(), self.default());
        let (span, value) = match self.default.as_ref()? {
            Default::OfType => {
                let span = hygienic(self.options.unwrap_or_else(|| self.ty.span()));
                (span, quote_spanned!(span=> #param.default_of_type()))
            }
            Default::Value(value) => {
                let span = hygienic(value.span());
                (span, quote_spanned!(span=> #param.default_value(|| #value)))
            }
        };
        Some(quote_spanned! {span=>
            let #default = #value;
            let __info = #param.with_default(__info, #default);
        })
    }

    /// Returns the statements that extract the value from the `__reader` of a call.
    pub(crate) fn extract(&self) -> TokenStream {
        let (param, value) = (self.param(), self.value());
        let index = Literal::usize_unsuffixed(self.index);
        let default = match &self.default {
            Some(_) => self.default().into_token_stream(),
            None => quote!(::core::option::Option::None),
        };
        quote_spanned! {hygienic(self.ty.span())=>
            let #value = #param.extract(__reader, #index, #default)?;
        }
    }
}

/// Returns how a parameter of type `&str` or `String` receives the typed text.
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

fn reject_cfg(kind: RouteKind, attributes: &[Attribute], errors: &mut Errors) {
    let noun = kind.noun();
    for attribute in attributes {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            let message = format!(
                "a parameter of a {noun} cannot depend on the configuration; \
                 write two {noun}s and put `#[cfg(…)]` on each"
            );
            errors.add_at(attribute, message);
        }
    }
}

fn remove_arg(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Attribute> {
    let mut args = attributes.extract_if(.., |attribute| is_named(attribute, "arg"));
    let first = args.next();
    for second in args {
        errors.add_at(second, "write all options in one `#[arg(…)]`");
    }
    first
}

/// Returns whether the last segment of the attribute's path is `name`.
fn is_named(attribute: &Attribute, name: &str) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|segment| segment.ident == name)
}

/// Returns the name of `a` or `mut a`; other patterns have none.
fn plain_name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(plain) => Some(plain.ident.unraw().to_string()),
        _ => None,
    }
}

/// Returns the name of a type without path and parameters; for an `Option`, of the type in it.
fn type_name(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) if last.ident == "Option" => {
            match arguments.args.first()? {
                GenericArgument::Type(inner) => type_name(inner),
                _ => None,
            }
        }
        _ => Some(last.ident.to_string()),
    }
}

/// Returns the minimum and the maximum of a length, each as an `Option<u64>`.
fn length_tokens(range: &ExprRange) -> TokenStream {
    let bound = |bound: Option<&Expr>, is_exclusive: bool| match bound {
        None => quote!(::core::option::Option::None),
        Some(bound) => {
            let span = hygienic(bound.span());
            let less = is_exclusive.then(|| quote_spanned!(span=> - 1));
            quote_spanned!(span=> ::core::option::Option::Some((#bound) as u64 #less))
        }
    };
    let is_half_open = matches!(range.limits, RangeLimits::HalfOpen(_));
    let from = bound(range.start.as_deref(), false);
    let to = bound(range.end.as_deref(), is_half_open);
    quote!(#from, #to)
}

fn range_tokens(range: &ExprRange, private: &TokenStream) -> TokenStream {
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
    quote_spanned!(hygienic(range.span())=> #private::Range::new() #from #to)
}

/// Returns a bound. Integer literals without a suffix become `i128`, because the type of the parameter
/// is unknown here.
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

fn is_header_name(name: &LitStr, errors: &mut Errors) -> bool {
    let text = name.value();
    let fits = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let valid = !text.is_empty() && text.chars().all(fits);
    if !valid {
        let message = "the name of a header has letters, digits and `-`, such as `Region`";
        errors.add_at(name, message);
    }
    valid
}

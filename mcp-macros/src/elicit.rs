//! `#[derive(Elicit)]`: a struct as a form, an enum as a choice in one.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Expr, ExprLit, ExprRange, Field, Fields, Ident, Lit, LitStr,
    RangeLimits, Type, Variant,
};

use crate::docs;
use crate::errors::Errors;
use crate::options::{Options, Root, at};

const ATTRIBUTE: &str = "#[elicit]";
const OF_FIELD: &[&str] = &[
    "name",
    "title",
    "description",
    "default",
    "range",
    "length",
    "format",
];
const OF_VALUE: &[&str] = &["name", "title"];
const FORMATS: &[&str] = &["email", "uri", "date", "date-time"];

/// Expands the derive.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let root = options(&input.attrs, &["crate"], &mut errors).root(&mut errors);
    if !input.generics.params.is_empty() {
        errors.at(&input.generics, "a form cannot be generic");
        return errors.into_token_stream();
    }
    let name = &input.ident;
    let implementation = match &input.data {
        Data::Struct(data) => form(name, &data.fields, &root, &mut errors),
        Data::Enum(data) => choice(name, data.variants.iter(), &root, &mut errors),
        Data::Union(_) => {
            errors.at(name, "a form is a struct, and a choice in one is an enum");
            TokenStream::new()
        }
    };
    quote!(#errors #implementation)
}

fn options(attributes: &[Attribute], known: &[&str], errors: &mut Errors) -> Options {
    let mut found = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("elicit"));
    let options = Options::of(ATTRIBUTE, found.next(), known, errors);
    for second in found {
        errors.at(second, "write all options in one `#[elicit(…)]`");
    }
    options
}

fn form(name: &Ident, fields: &Fields, root: &Root, errors: &mut Errors) -> TokenStream {
    let Fields::Named(fields) = fields else {
        errors.at(name, "the fields of a form have names: `struct … { … }`");
        return TokenStream::new();
    };
    let span = at(name.span());
    let (path, support) = (root.at(span), root.support(span));
    let (mut adds, mut reads, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
    let mut names: Vec<String> = Vec::new();
    for field in &fields.named {
        let Some(ident) = &field.ident else { continue };
        let shown = Shown::read(ident, field, errors);
        if names.contains(&shown.name) {
            errors.at(ident, format!("another field is named `{}`", shown.name));
        }
        adds.push(shown.add(root));
        reads.push(shown.answer(root));
        bounds.push(shown.bound(root));
        names.push(shown.name);
    }
    quote_spanned! {span=>
        #[automatically_derived]
        #[allow(trivial_bounds)]
        impl #path::Elicit for #name
        where
            #(#bounds)*
        {
            fn form() -> #support::FormSchema {
                let form = #support::FormSchema::new();
                #(#adds)*
                form
            }

            #[allow(unused_mut, unused_variables)]
            fn from_answers(
                mut answers: #support::JsonObject,
            ) -> ::core::result::Result<Self, #support::FormError> {
                ::core::result::Result::Ok(Self { #(#reads)* })
            }
        }
    }
}

/// A field of a form, as its tokens say it.
struct Shown<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    name: String,
    title: Option<LitStr>,
    description: Vec<Expr>,
    default: Option<Expr>,
    range: Option<Bounds>,
    length: Option<Bounds>,
    format: Option<LitStr>,
}

impl<'a> Shown<'a> {
    fn read(ident: &'a Ident, field: &'a Field, errors: &mut Errors) -> Self {
        let mut options = options(&field.attrs, OF_FIELD, errors);
        let name = options.text("name", errors);
        let description = options.expr("description", errors);
        let format = options.text("format", errors);
        Self {
            ident,
            ty: &field.ty,
            name: name.map_or_else(|| ident.unraw().to_string(), |name| name.value()),
            title: options.text("title", errors),
            description: description.map_or_else(|| docs::of(&field.attrs), |text| vec![text]),
            default: options.expr("default", errors),
            range: bounds("range", &mut options, errors),
            length: bounds("length", &mut options, errors),
            format: format.filter(|format| is_format(format, errors)),
        }
    }

    /// A type that no form can show is told here, once, and not wherever it is used.
    fn bound(&self, root: &Root) -> TokenStream {
        let span = at(self.ty.span());
        let (path, ty) = (root.at(span), self.ty);
        quote_spanned!(span=> #ty: #path::ElicitField,)
    }

    /// Adds the field to `form`.
    fn add(&self, root: &Root) -> TokenStream {
        let span = at(self.ty.span());
        let (path, support) = (root.at(span), root.support(span));
        let (ty, name) = (self.ty, &self.name);
        let title = self.title.as_ref().map(|title| quote!(.title(#title)));
        let description = (!self.description.is_empty()).then(|| {
            let pieces = &self.description;
            quote_spanned!(span=> .describe(#support::doc(&[#(#pieces),*])))
        });
        let range = self.range.as_ref().map(|range| {
            let (span, support) = (at(range.span), root.support(range.span));
            let limits = range.limits(&quote!(f64));
            quote_spanned!(span=> let field = #support::form::RangeField::range(field, #limits);)
        });
        let length = self.length.as_ref().map(|length| {
            let (span, support) = (at(length.span), root.support(length.span));
            let limits = length.limits(&quote!(u64));
            quote_spanned!(span=> let field = #support::form::LengthField::length(field, #limits);)
        });
        let format = self.format.as_ref().map(|format| {
            let (span, support) = (at(format.span()), root.support(format.span()));
            quote_spanned!(span=> let field = #support::form::FormatField::format(field, #format);)
        });
        let default = self.default.as_ref().map(|default| {
            let value = default_value(default);
            quote_spanned! {at(default.span())=>
                let value: <#ty as #path::ElicitField>::Given = #value;
                let field = <#ty as #path::ElicitField>::with_default(field, value);
            }
        });
        quote_spanned! {span=>
            let field = <#ty as #path::ElicitField>::schema() #title #description;
            #range
            #length
            #format
            #default
            let form = #support::form::field::<#ty>(form, #name, field);
        }
    }

    /// Takes the field's answer out of `answers`.
    fn answer(&self, root: &Root) -> TokenStream {
        let span = at(self.ty.span());
        let support = root.support(span);
        let (ident, ty, name) = (self.ident, self.ty, &self.name);
        quote_spanned!(span=> #ident: #support::form::answer::<#ty>(&mut answers, #name)?,)
    }
}

/// From where to where, both included.
struct Bounds {
    span: Span,
    from: Option<Expr>,
    to: Option<Expr>,
}

impl Bounds {
    /// The two arguments of what sets them.
    fn limits(&self, number: &TokenStream) -> TokenStream {
        let limit = |bound: &Option<Expr>| match bound {
            Some(bound) => {
                quote_spanned!(at(bound.span())=> ::core::option::Option::Some((#bound) as #number))
            }
            None => quote!(::core::option::Option::None),
        };
        let (from, to) = (limit(&self.from), limit(&self.to));
        quote!(#from, #to)
    }
}

fn bounds(key: &'static str, options: &mut Options, errors: &mut Errors) -> Option<Bounds> {
    match options.expr(key, errors)? {
        Expr::Range(ExprRange {
            start,
            limits: RangeLimits::HalfOpen(_),
            end: Some(end),
            ..
        }) => {
            let start = start.map(ToTokens::into_token_stream).unwrap_or_default();
            let message = format!(
                "a form has no open ends; write `{key} = {start}..=…` with the last value that fits"
            );
            errors.at(end, message);
            None
        }
        Expr::Range(range) if range.start.is_some() || range.end.is_some() => Some(Bounds {
            span: range.span(),
            from: range.start.map(|from| *from),
            to: range.end.map(|to| *to),
        }),
        other => {
            let message = format!("`{key}` needs a range, such as `1..=100` or `1..`");
            errors.at(other, message);
            None
        }
    }
}

fn is_format(format: &LitStr, errors: &mut Errors) -> bool {
    let known = FORMATS.contains(&&*format.value());
    if !known {
        let formats: Vec<_> = FORMATS.iter().map(|format| format!("`{format}`")).collect();
        let message = format!("a form knows the formats {}", formats.join(", "));
        errors.at(format, message);
    }
    known
}

/// A text literal is a `String`'s default, too.
fn default_value(value: &Expr) -> TokenStream {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => quote_spanned!(at(text.span())=> ::core::convert::Into::into(#text)),
        value => value.into_token_stream(),
    }
}

/// The values of an enum.
#[derive(Default)]
struct Values<'a> {
    idents: Vec<&'a Ident>,
    texts: Vec<String>,
    /// `Option`s of `String`s.
    titles: Vec<TokenStream>,
}

impl<'a> Values<'a> {
    fn read(
        variants: impl Iterator<Item = &'a Variant>,
        support: &TokenStream,
        errors: &mut Errors,
    ) -> Self {
        let mut values = Self::default();
        for variant in variants {
            if !matches!(variant.fields, Fields::Unit) {
                errors.at(variant, "a user picks from values without fields");
                continue;
            }
            let mut options = options(&variant.attrs, OF_VALUE, errors);
            let text = options.text("name", errors);
            let text = text.map_or_else(|| variant.ident.unraw().to_string(), |text| text.value());
            if values.texts.contains(&text) {
                errors.at(variant, format!("another value is named `{text}`"));
            }
            let docs = docs::of(&variant.attrs);
            values.titles.push(match options.text("title", errors) {
                Some(title) => {
                    quote!(::core::option::Option::Some(::std::string::String::from(#title)))
                }
                None if docs.is_empty() => quote!(::core::option::Option::None),
                None => quote!(::core::option::Option::Some(#support::doc(&[#(#docs),*]))),
            });
            values.texts.push(text);
            values.idents.push(&variant.ident);
        }
        values
    }
}

fn choice<'a>(
    name: &Ident,
    variants: impl Iterator<Item = &'a Variant>,
    root: &Root,
    errors: &mut Errors,
) -> TokenStream {
    let span = at(name.span());
    let (path, support) = (root.at(span), root.support(span));
    let values = Values::read(variants, &support, errors);
    if values.texts.is_empty() {
        errors.at(name, "there is nothing to pick from");
        return TokenStream::new();
    }
    let Values {
        idents,
        texts,
        titles,
    } = values;
    // Values with fields are told above, and not again.
    let wrong = errors
        .is_any()
        .then(|| quote_spanned!(span=> #[allow(unreachable_patterns)] _ => "",));
    quote_spanned! {span=>
        #[automatically_derived]
        impl #path::ElicitChoice for #name {
            fn choices() -> #support::Choices {
                #support::form::choices(&[#((#texts, #titles)),*])
            }

            fn as_text(&self) -> &'static str {
                match self {
                    #(Self::#idents => #texts,)*
                    #wrong
                }
            }

            fn from_text(text: &str) -> ::core::option::Option<Self> {
                match text {
                    #(#texts => ::core::option::Option::Some(Self::#idents),)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        #[automatically_derived]
        impl #path::ElicitField for #name {
            type Schema = #support::EnumSchema;
            type Given = Self;

            fn schema() -> Self::Schema {
                #support::form::choice_field::<Self>()
            }

            fn with_default(field: Self::Schema, value: Self) -> Self::Schema {
                #support::form::choice_default(field, &value)
            }

            fn read(
                answer: ::core::option::Option<#support::Value>,
            ) -> ::core::result::Result<Self, ::std::string::String> {
                #support::form::read_choice(answer.as_ref())
            }
        }
    }
}

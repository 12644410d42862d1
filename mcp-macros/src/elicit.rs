//! `#[derive(Elicit)]`: a struct as a form, an enum as a choice in a form.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Expr, Field, Fields, Ident, LitStr, RangeLimits, Type, Variant};

use crate::docs;
use crate::errors::Errors;
use crate::foreign::{ForeignOptions, Limits, Place};
use crate::options::{CratePath, Options, default_value, hygienic};
use crate::rename::RenameRule;

const ATTRIBUTE: &str = "#[elicit]";
const FIELD_OPTIONS: &[&str] = &[
    "name",
    "title",
    "description",
    "default",
    "range",
    "length",
    "format",
];
const VALUE_OPTIONS: &[&str] = &["name", "title"];
const FORMATS: &[&str] = &["email", "uri", "date", "date-time"];

/// Expands the derive.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let mut type_options = Options::of_derive(ATTRIBUTE, &input.attrs, &["crate"], &mut errors);
    let crate_path = type_options.crate_path(&mut errors);
    let rename_all = ForeignOptions::read(&input.attrs, Place::Type, &mut errors).rename_all;
    if !input.generics.params.is_empty() {
        errors.add_at(&input.generics, "a form cannot be generic");
        return errors.into_token_stream();
    }
    let name = &input.ident;
    let implementation = match &input.data {
        Data::Struct(data) => form(name, &data.fields, rename_all, &crate_path, &mut errors),
        Data::Enum(data) => {
            let variants = data.variants.iter();
            choice(name, variants, rename_all, &crate_path, &mut errors)
        }
        Data::Union(_) => {
            errors.add_at(name, "a form is a struct, and a choice in one is an enum");
            TokenStream::new()
        }
    };
    quote!(#errors #implementation)
}

/// Returns the implementation of `Elicit` for a struct.
fn form(
    name: &Ident,
    fields: &Fields,
    rename_all: Option<RenameRule>,
    crate_path: &CratePath,
    errors: &mut Errors,
) -> TokenStream {
    let Fields::Named(fields) = fields else {
        errors.add_at(name, "the fields of a form have names: `struct … { … }`");
        return TokenStream::new();
    };
    let span = hygienic(name.span());
    let private = crate_path.private(span);
    let (mut adds, mut reads, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
    let mut names: Vec<String> = Vec::new();
    for field in &fields.named {
        let Some(ident) = &field.ident else { continue };
        let field = FormField::read(ident, field, rename_all, errors);
        if field.is_skipped {
            reads.push(field.skipped());
            continue;
        }
        if names.contains(&field.name) {
            errors.add_at(ident, format!("another field is named `{}`", field.name));
        }
        adds.push(field.add(crate_path));
        reads.push(field.answer(crate_path));
        bounds.push(field.bound(crate_path));
        names.push(field.name);
    }
    quote_spanned! {span=>
        #[automatically_derived]
        #[allow(trivial_bounds)]
        impl #private::Elicit for #name
        where
            #(#bounds)*
        {
            fn form() -> #private::FormSchema {
                let __form = #private::FormSchema::new();
                #(#adds)*
                __form
            }

            #[allow(unused_mut, unused_variables)]
            fn from_answers(
                mut __answers: #private::JsonObject,
            ) -> ::core::result::Result<Self, #private::FormError> {
                ::core::result::Result::Ok(Self { #(#reads)* })
            }
        }
    }
}

/// A field of a struct with `#[derive(Elicit)]`.
struct FormField<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    name: String,
    title: Option<LitStr>,
    description: Vec<Expr>,
    default: Option<Expr>,
    /// The default by an attribute of serde or schemars.
    foreign_default: Option<TokenStream>,
    range: Option<Limits>,
    length: Option<Limits>,
    format: Option<LitStr>,
    /// The form does not contain the field, which has its default.
    is_skipped: bool,
}

impl<'a> FormField<'a> {
    fn read(
        ident: &'a Ident,
        field: &'a Field,
        rename_all: Option<RenameRule>,
        errors: &mut Errors,
    ) -> Self {
        let mut options = Options::of_derive(ATTRIBUTE, &field.attrs, FIELD_OPTIONS, errors);
        let foreign = ForeignOptions::read(&field.attrs, Place::Field, errors);
        let name = options.text("name", errors).map(|name| name.value());
        let name = name.or(foreign.rename).unwrap_or_else(|| {
            let name = ident.unraw().to_string();
            rename_all.map_or(name.clone(), |rule| rule.field(&name))
        });
        let description = options.expr("description", errors);
        let format = options.text("format", errors);
        let format = format.filter(|format| is_format(format, errors));
        Self {
            ident,
            ty: &field.ty,
            name,
            title: options.text("title", errors).or(foreign.title),
            description: description
                .or(foreign.description)
                .map_or_else(|| docs::read(&field.attrs), |text| vec![text]),
            default: options.expr("default", errors),
            // An empty field of an `Option` is `None` anyway.
            foreign_default: foreign.default.filter(|_| !is_option(&field.ty)),
            range: limits("range", &mut options, errors).or(foreign.range),
            length: limits("length", &mut options, errors).or(foreign.length),
            format: format.or(foreign.format),
            is_skipped: foreign.is_skipped,
        }
    }

    /// Returns the field initializer of a field that the form does not contain.
    fn skipped(&self) -> TokenStream {
        let (span, ident) = (hygienic(self.ty.span()), self.ident);
        let default = self.foreign_default.clone();
        let default =
            default.unwrap_or_else(|| quote_spanned!(span=> ::core::default::Default::default()));
        quote_spanned!(span=> #ident: #default,)
    }

    /// Returns a bound on the type. The compiler reports a type that no form can show once, here.
    fn bound(&self, crate_path: &CratePath) -> TokenStream {
        let span = hygienic(self.ty.span());
        let (private, ty) = (crate_path.private(span), self.ty);
        quote_spanned!(span=> #ty: #private::ElicitField,)
    }

    /// Returns the statements that add the field to `form`.
    fn add(&self, crate_path: &CratePath) -> TokenStream {
        let span = hygienic(self.ty.span());
        let private = crate_path.private(span);
        let (ty, name) = (self.ty, &self.name);
        let title = self.title.as_ref().map(|title| quote!(.title(#title)));
        let description = (!self.description.is_empty()).then(|| {
            let parts = &self.description;
            quote_spanned!(span=> .description(#private::doc(&[#(#parts),*])))
        });
        let set = |span: Span, [field_trait, method]: [&str; 2], value: &TokenStream| {
            let span = hygienic(span);
            let private = crate_path.private(span);
            let (field_trait, method) = (Ident::new(field_trait, span), Ident::new(method, span));
            quote_spanned!(span=> let __field = #private::form::#field_trait::#method(__field, #value);)
        };
        let range = self.range.as_ref().map(|range| {
            let limits = range.arguments(&quote!(f64));
            set(range.span(), ["RangeField", "range"], &limits)
        });
        let length = self.length.as_ref().map(|length| {
            let limits = length.arguments(&quote!(u64));
            set(length.span(), ["LengthField", "length"], &limits)
        });
        let format = self
            .format
            .as_ref()
            .map(|format| set(format.span(), ["FormatField", "format"], &quote!(#format)));
        let own = self.default.as_ref();
        let own = own.map(|default| (default.span(), default_value(default)));
        let foreign = self.foreign_default.clone();
        let default = own.or_else(|| foreign.map(|value| (self.ty.span(), value)));
        let default = default.map(|(span, value)| {
            quote_spanned! {hygienic(span)=>
                let __value: <#ty as #private::ElicitField>::Given = #value;
                let __field = <#ty as #private::ElicitField>::with_default(__field, __value);
            }
        });
        quote_spanned! {span=>
            let __field = <#ty as #private::ElicitField>::schema() #title #description;
            #range
            #length
            #format
            #default
            let __form = #private::form::field::<#ty>(__form, #name, __field);
        }
    }

    /// Returns the field initializer that removes the answer from `__answers`.
    fn answer(&self, crate_path: &CratePath) -> TokenStream {
        let span = hygienic(self.ty.span());
        let private = crate_path.private(span);
        let (ident, ty, name) = (self.ident, self.ty, &self.name);
        quote_spanned!(span=> #ident: #private::form::answer::<#ty>(&mut __answers, #name)?,)
    }
}

/// Returns whether the type is written as an `Option`.
fn is_option(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident == "Option")
}

fn limits(key: &'static str, options: &mut Options, errors: &mut Errors) -> Option<Limits> {
    let range = options.range(key, errors)?;
    if let (RangeLimits::HalfOpen(_), Some(end)) = (&range.limits, &range.end) {
        let start = range.start.map(ToTokens::into_token_stream);
        let start = start.unwrap_or_default();
        let message = format!(
            "a form has no open ends; write `{key} = {start}..=…` with the last value that fits"
        );
        errors.add_at(end, message);
        return None;
    }
    Some(Limits {
        min: range.start.map(|start| *start),
        max: range.end.map(|end| *end),
    })
}

fn is_format(format: &LitStr, errors: &mut Errors) -> bool {
    let known = FORMATS.contains(&&*format.value());
    if !known {
        let formats: Vec<_> = FORMATS.iter().map(|format| format!("`{format}`")).collect();
        let message = format!("a form knows the formats {}", formats.join(", "));
        errors.add_at(format, message);
    }
    known
}

/// The values of an enum.
#[derive(Default)]
struct Values<'a> {
    idents: Vec<&'a Ident>,
    /// Names of the values in answers.
    names: Vec<String>,
    /// Expressions of type `Option<String>`.
    titles: Vec<TokenStream>,
    /// Values that the user cannot choose.
    skipped: Vec<&'a Ident>,
}

impl<'a> Values<'a> {
    fn read(
        variants: impl Iterator<Item = &'a Variant>,
        rename_all: Option<RenameRule>,
        private: &TokenStream,
        errors: &mut Errors,
    ) -> Self {
        let mut values = Self::default();
        for variant in variants {
            if !matches!(variant.fields, Fields::Unit) {
                errors.add_at(variant, "a user picks from values without fields");
                continue;
            }
            let attributes = &variant.attrs;
            let mut options = Options::of_derive(ATTRIBUTE, attributes, VALUE_OPTIONS, errors);
            let foreign = ForeignOptions::read(attributes, Place::Value, errors);
            if foreign.is_skipped {
                values.skipped.push(&variant.ident);
                continue;
            }
            let name = options.text("name", errors).map(|name| name.value());
            let name = name.or(foreign.rename).unwrap_or_else(|| {
                let name = variant.ident.unraw().to_string();
                rename_all.map_or(name.clone(), |rule| rule.value(&name))
            });
            if values.names.contains(&name) {
                errors.add_at(variant, format!("another value is named `{name}`"));
            }
            let docs = match foreign.description {
                Some(text) => vec![text],
                None => docs::read(attributes),
            };
            values
                .titles
                .push(match options.text("title", errors).or(foreign.title) {
                    Some(title) => {
                        quote!(::core::option::Option::Some(::std::string::String::from(#title)))
                    }
                    None if docs.is_empty() => quote!(::core::option::Option::None),
                    None => quote!(::core::option::Option::Some(#private::doc(&[#(#docs),*]))),
                });
            values.names.push(name);
            values.idents.push(&variant.ident);
        }
        values
    }
}

/// Returns the implementations of `ElicitChoice` and `ElicitField` for an enum.
fn choice<'a>(
    name: &Ident,
    variants: impl Iterator<Item = &'a Variant>,
    rename_all: Option<RenameRule>,
    crate_path: &CratePath,
    errors: &mut Errors,
) -> TokenStream {
    let span = hygienic(name.span());
    let private = crate_path.private(span);
    let values = Values::read(variants, rename_all, &private, errors);
    if values.names.is_empty() {
        errors.add_at(name, "there is nothing to pick from");
        return TokenStream::new();
    }
    let Values {
        idents,
        names,
        titles,
        skipped,
    } = values;
    // Prevents a further error for values with fields, which are reported above.
    let fallback = (!errors.is_empty())
        .then(|| quote_spanned!(span=> #[allow(unreachable_patterns)] _ => "",));
    quote_spanned! {span=>
        #[automatically_derived]
        impl #private::ElicitChoice for #name {
            fn choices() -> #private::Choices {
                #private::form::choices(&[#((#names, #titles)),*])
            }

            fn as_text(&self) -> &'static str {
                match self {
                    #(Self::#idents => #names,)*
                    #(Self::#skipped => ::core::stringify!(#skipped),)*
                    #fallback
                }
            }

            fn from_text(__text: &str) -> ::core::option::Option<Self> {
                match __text {
                    #(#names => ::core::option::Option::Some(Self::#idents),)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        #[automatically_derived]
        impl #private::ElicitField for #name {
            type Schema = #private::EnumSchema;
            type Given = Self;

            fn schema() -> Self::Schema {
                #private::form::choice_field::<Self>()
            }

            fn with_default(__field: Self::Schema, __value: Self) -> Self::Schema {
                #private::form::choice_default(__field, &__value)
            }

            fn read(
                __answer: ::core::option::Option<#private::Value>,
            ) -> ::core::result::Result<Self, ::std::string::String> {
                #private::form::read_choice(__answer.as_ref())
            }
        }
    }
}

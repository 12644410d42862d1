//! Attributes of serde and schemars on a type with `#[derive(Elicit)]`.
//!
//! An attribute that changes the answers or the form is applied, or it is an error: a form that ignores it
//! would contradict the type's `Deserialize`. `#[elicit(…)]` takes precedence.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprPath, LitStr, Token, parenthesized};

use crate::errors::Errors;
use crate::options::hygienic;
use crate::rename::RenameRule;

/// Attributes that change neither the answers nor the form.
const IRRELEVANT: &[&str] = &[
    "alias",
    "bound",
    "borrow",
    "crate",
    "deny_unknown_fields",
    "expecting",
    "getter",
    "inline",
    "into",
    "serialize_with",
    "skip_serializing",
    "skip_serializing_if",
];

/// The position of the attributes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Type,
    Field,
    Value,
}

/// Attributes of serde and schemars that forms have as well.
#[derive(Default)]
pub(crate) struct ForeignOptions {
    pub(crate) rename: Option<String>,
    pub(crate) rename_all: Option<RenameRule>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<Expr>,
    /// An expression of the field's type.
    pub(crate) default: Option<TokenStream>,
    pub(crate) range: Option<Limits>,
    pub(crate) length: Option<Limits>,
    pub(crate) format: Option<LitStr>,
    /// The field or value is not a part of the form.
    pub(crate) is_skipped: bool,
}

/// The inclusive bounds of `range` or `length`.
#[derive(Default)]
pub(crate) struct Limits {
    pub(crate) min: Option<Expr>,
    pub(crate) max: Option<Expr>,
}

impl Limits {
    pub(crate) fn span(&self) -> Span {
        let first = self.min.as_ref().or(self.max.as_ref());
        first.map_or_else(Span::call_site, Spanned::span)
    }

    /// Returns the setter's two arguments.
    pub(crate) fn arguments(&self, number: &TokenStream) -> TokenStream {
        let argument = |limit: &Option<Expr>| match limit {
            Some(limit) => {
                quote_spanned!(hygienic(limit.span())=> ::core::option::Option::Some((#limit) as #number))
            }
            None => quote!(::core::option::Option::None),
        };
        let (min, max) = (argument(&self.min), argument(&self.max));
        quote!(#min, #max)
    }
}

impl ForeignOptions {
    /// Reads the attributes. Those of schemars take precedence over those of serde.
    pub(crate) fn read(attributes: &[Attribute], place: Place, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        for library in ["serde", "schemars"] {
            let attributes = attributes.iter();
            for attribute in attributes.filter(|attribute| attribute.path().is_ident(library)) {
                let parsed = attribute.parse_nested_meta(|meta| options.set(&meta, library, place));
                errors.ok(parsed);
            }
        }
        options
    }

    fn set(&mut self, meta: &ParseNestedMeta<'_>, library: &str, place: Place) -> syn::Result<()> {
        let name = meta.path.get_ident().map(ToString::to_string);
        let name = name.unwrap_or_default();
        match (&*name, place) {
            ("rename", Place::Type) => drop(renamed(meta)?),
            ("rename", _) => {
                if let Some(name) = renamed(meta)? {
                    self.rename = Some(name.value());
                }
            }
            ("rename_all", Place::Type) => {
                if let Some(rule) = renamed(meta)? {
                    self.rename_all = Some(RenameRule::parse(&rule)?);
                }
            }
            ("title", Place::Field | Place::Value) => self.title = Some(meta.value()?.parse()?),
            ("title" | "description", Place::Type) => drop(meta.value()?.parse::<Expr>()?),
            ("description", _) => self.description = Some(meta.value()?.parse()?),
            ("default", Place::Field) => self.set_default(meta)?,
            ("range", Place::Field) => self.range = Some(limits(meta)?),
            ("length", Place::Field) => self.length = Some(limits(meta)?),
            ("email", Place::Field) => self.format = Some(LitStr::new("email", meta.path.span())),
            ("url", Place::Field) => self.format = Some(LitStr::new("uri", meta.path.span())),
            ("skip" | "skip_deserializing", Place::Field | Place::Value) => self.is_skipped = true,
            (known, _) if IRRELEVANT.contains(&known) => skip_value(meta)?,
            _ => {
                return Err(meta.error(format!(
                    "a form cannot express `{name}` of `#[{library}]`; remove it, use an option \
                     of `#[elicit(…)]`, or implement the trait by hand"
                )));
            }
        }
        Ok(())
    }

    fn set_default(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if !meta.input.peek(Token![=]) {
            let span = hygienic(meta.path.span());
            self.default = Some(quote_spanned!(span=> ::core::default::Default::default()));
            return Ok(());
        }
        let function: LitStr = meta.value()?.parse()?;
        let path: ExprPath = function.parse()?;
        self.default = Some(quote!(#path()));
        Ok(())
    }
}

/// Returns the name of `rename = "…"`, or of `rename(deserialize = "…")`.
fn renamed(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<LitStr>> {
    if meta.input.peek(Token![=]) {
        return meta.value()?.parse().map(Some);
    }
    let mut name = None;
    meta.parse_nested_meta(|inner| {
        let given: LitStr = inner.value()?.parse()?;
        if inner.path.is_ident("deserialize") {
            name = Some(given);
        }
        Ok(())
    })?;
    Ok(name)
}

/// Parses `(min = …, max = …)` or `(equal = …)`.
fn limits(meta: &ParseNestedMeta<'_>) -> syn::Result<Limits> {
    let mut limits = Limits::default();
    meta.parse_nested_meta(|inner| {
        let value: Expr = inner.value()?.parse()?;
        if inner.path.is_ident("min") {
            limits.min = Some(value);
        } else if inner.path.is_ident("max") {
            limits.max = Some(value);
        } else if inner.path.is_ident("equal") {
            limits.min = Some(value.clone());
            limits.max = Some(value);
        } else {
            return Err(inner.error("a form knows `min`, `max` and `equal`"));
        }
        Ok(())
    })?;
    Ok(limits)
}

/// Skips the value of an attribute that does not matter.
fn skip_value(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(Token![=]) {
        return meta.value()?.parse::<Expr>().map(drop);
    }
    if meta.input.peek(syn::token::Paren) {
        let content;
        parenthesized!(content in meta.input);
        return content.parse::<TokenStream>().map(drop);
    }
    Ok(())
}

//! Attribute options, such as `name = "x", read_only`, and the library path.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprLit, ExprRange, Lit, LitBool, LitStr, Meta, Token, parenthesized, token,
};

use crate::errors::Errors;

/// The options of one attribute. Each getter removes its option.
pub(crate) struct Options {
    attribute: &'static str,
    options: Vec<NameValue>,
}

/// `name`, `name = value` or `name(value, …)`.
struct NameValue {
    name: Ident,
    value: Option<Expr>,
}

impl Parse for NameValue {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any)?;
        if input.peek(token::Paren) {
            let content;
            let paren = parenthesized!(content in input);
            let values = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
            let list = quote_spanned!(paren.span.join()=> [#values]);
            let value = Some(syn::parse2(list)?);
            return Ok(Self { name, value });
        }
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { name, value })
    }
}

impl Options {
    /// Parses the options of an attribute that may start with a string literal without a name.
    pub(crate) fn with_text(
        attribute: &'static str,
        found: &Attribute,
        accepts_text: bool,
        known: &[&str],
        errors: &mut Errors,
    ) -> (Option<LitStr>, Self) {
        let Meta::List(list) = &found.meta else {
            let options = Self::from_attribute(attribute, Some(found), known, errors);
            return (None, options);
        };
        let split = |input: ParseStream<'_>| {
            let text = if accepts_text && input.peek(LitStr) {
                Some(input.parse()?)
            } else {
                None
            };
            if text.is_some() && !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
            Ok((text, input.parse()?))
        };
        let (text, rest) = errors
            .ok(split.parse2(list.tokens.clone()))
            .unwrap_or_default();
        (text, Self::parse(attribute, rest, known, errors))
    }

    /// Parses the options of an attribute on an item or a parameter; none if there is no attribute.
    pub(crate) fn from_attribute(
        attribute: &'static str,
        found: Option<&Attribute>,
        known: &[&str],
        errors: &mut Errors,
    ) -> Self {
        let tokens = match found.map(|found| &found.meta) {
            None | Some(Meta::Path(_)) => TokenStream::new(),
            Some(Meta::List(list)) => list.tokens.clone(),
            Some(Meta::NameValue(value)) => {
                let message = format!("write the options of `{attribute}` in parentheses");
                errors.add_at(value, message);
                TokenStream::new()
            }
        };
        Self::parse(attribute, tokens, known, errors)
    }

    /// Parses the options of a derive attribute, such as `#[output]`; none if there is no attribute.
    pub(crate) fn of_derive(
        attribute: &'static str,
        attributes: &[Attribute],
        known: &[&str],
        errors: &mut Errors,
    ) -> Self {
        let name = attribute.trim_matches(['#', '[', ']']);
        let attributes = attributes.iter();
        let mut found = attributes.filter(|found| found.path().is_ident(name));
        let options = Self::from_attribute(attribute, found.next(), known, errors);
        for second in found {
            errors.add_at(second, format!("write all options in one `#[{name}(…)]`"));
        }
        options
    }

    /// Parses the options of the attribute macro that is being expanded.
    pub(crate) fn parse(
        attribute: &'static str,
        tokens: TokenStream,
        known: &[&str],
        errors: &mut Errors,
    ) -> Self {
        let parsed = Punctuated::<NameValue, Token![,]>::parse_terminated.parse2(tokens);
        let mut options: Vec<NameValue> = Vec::new();
        for option in errors.ok(parsed).into_iter().flatten() {
            let name = &option.name;
            if !known.contains(&&*name.to_string()) {
                errors.add_at(name, unknown_option(name, attribute, known));
            } else if options.iter().any(|other| other.name == *name) {
                errors.add_at(name, format!("`{name}` is set twice"));
            } else {
                options.push(option);
            }
        }
        Self { attribute, options }
    }

    fn remove(&mut self, name: &str) -> Option<NameValue> {
        let index = self.options.iter().position(|option| option.name == name)?;
        Some(self.options.remove(index))
    }

    /// Returns the option `name`'s span.
    pub(crate) fn span(&self, name: &str) -> Option<Span> {
        let mut options = self.options.iter();
        let option = options.find(|option| option.name == name)?;
        Some(option.name.span())
    }

    /// Refuses the options that are left, because the attribute has the option `name`.
    pub(crate) fn refuse_others(&self, name: &str, errors: &mut Errors) {
        for option in &self.options {
            let message = format!("remove `{}`: it has no effect with `{name}`", option.name);
            errors.add_at(&option.name, message);
        }
    }

    /// Returns the value of `name` or `name = …`.
    #[expect(
        clippy::option_option,
        reason = "absent, without a value, with a value"
    )]
    pub(crate) fn optional_expr(&mut self, name: &str) -> Option<Option<Expr>> {
        self.remove(name).map(|option| option.value)
    }

    /// Returns the value of `name = …`.
    pub(crate) fn expr(&mut self, name: &str, errors: &mut Errors) -> Option<Expr> {
        let option = self.remove(name)?;
        if option.value.is_none() {
            let attribute = self.attribute;
            let message = format!("`{name}` of `{attribute}` needs a value: `{name} = …`");
            errors.add_at(&option.name, message);
        }
        option.value
    }

    /// Returns `.name(…)` for `name = …`.
    pub(crate) fn setter(&mut self, name: &str, errors: &mut Errors) -> Option<TokenStream> {
        let value = self.expr(name, errors)?;
        let method = Ident::new(name, Span::call_site());
        Some(quote!(.#method(#value)))
    }

    /// Returns the range of `name = 1..=9`.
    pub(crate) fn range(&mut self, name: &str, errors: &mut Errors) -> Option<ExprRange> {
        match self.expr(name, errors)? {
            Expr::Range(range) if range.start.is_some() || range.end.is_some() => Some(range),
            other => {
                let message = format!("`{name}` needs a range, such as `1..=100` or `1..`");
                errors.add_at(other, message);
                None
            }
        }
    }

    /// Returns the value of `name = "…"`.
    pub(crate) fn text(&mut self, name: &str, errors: &mut Errors) -> Option<LitStr> {
        let value = self.expr(name, errors)?;
        let text = string_literal(&value).cloned();
        if text.is_none() {
            errors.add_at(value, format!("`{name}` needs a string literal"));
        }
        text
    }

    /// Returns the strings of `name("…", …)`.
    pub(crate) fn texts(&mut self, name: &str, errors: &mut Errors) -> Option<Expr> {
        let value = self.expr(name, errors)?;
        let is_text = |expr: &Expr| string_literal(expr).is_some();
        match &value {
            Expr::Array(array) if !array.elems.is_empty() && array.elems.iter().all(is_text) => {
                Some(value)
            }
            _ => {
                let message = format!("`{name}` needs string literals: `{name}(\"…\")`");
                errors.add_at(value, message);
                None
            }
        }
    }

    /// Returns the value of `name`, `name = true` or `name = false`.
    pub(crate) fn flag(&mut self, name: &str, errors: &mut Errors) -> Option<bool> {
        match self.optional_expr(name)? {
            None => Some(true),
            Some(Expr::Lit(ExprLit {
                lit: Lit::Bool(LitBool { value, .. }),
                ..
            })) => Some(value),
            Some(other) => {
                errors.add_at(other, format!("`{name}` is `true` or `false`"));
                None
            }
        }
    }

    /// Returns `.name()` for `name` or `name = true`.
    pub(crate) fn marker(&mut self, name: &str, errors: &mut Errors) -> Option<TokenStream> {
        let method = Ident::new(name, Span::call_site());
        (self.flag(name, errors) == Some(true)).then(|| quote!(.#method()))
    }

    /// Returns the path of `crate = some::path`, or else `::mcp`.
    pub(crate) fn crate_path(&mut self, errors: &mut Errors) -> CratePath {
        match self.expr("crate", errors) {
            None => CratePath(quote!(::mcp)),
            Some(Expr::Path(path)) => CratePath(path.into_token_stream()),
            Some(other) => {
                errors.add_at(other, "`crate` needs a path, such as `my_crate::mcp`");
                CratePath(quote!(::mcp))
            }
        }
    }
}

/// The library's path in generated code.
pub(crate) struct CratePath(TokenStream);

impl CratePath {
    /// Returns the path of the module with helpers for generated code. The compiler reports errors in
    /// the code at `span`.
    pub(crate) fn private(&self, span: Span) -> TokenStream {
        self.private_unhygienic(hygienic(span))
    }

    /// Returns the same path with exactly this span, as if the user had written it.
    pub(crate) fn private_unhygienic(&self, span: Span) -> TokenStream {
        let path = self.located_at(span);
        quote_spanned!(span=> #path::__private)
    }

    fn located_at(&self, span: Span) -> TokenStream {
        let tokens = self.0.clone().into_iter().map(|mut token| {
            token.set_span(span);
            token
        });
        tokens.collect()
    }
}

/// Returns the span of generated code at a place in the user's code. Local variables with this span are
/// invisible to the user, lints ignore it, and the compiler reports errors at the user's code.
pub(crate) fn hygienic(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// Returns the string literal that an expression is.
pub(crate) fn string_literal(expr: &Expr) -> Option<&LitStr> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Returns the option `default`'s value; a string literal converts into `String`.
pub(crate) fn default_value(value: &Expr) -> TokenStream {
    match string_literal(value) {
        Some(text) => {
            quote_spanned!(hygienic(text.span())=> ::core::convert::Into::into(#text))
        }
        None => value.into_token_stream(),
    }
}

fn unknown_option(name: &Ident, attribute: &str, known: &[&str]) -> String {
    let normalize = |name: &str| name.replace('_', "").to_lowercase();
    let normalized = normalize(&name.to_string());
    match known.iter().find(|known| normalize(known) == normalized) {
        Some(similar) => {
            format!("unknown option `{name}` of `{attribute}`; did you mean `{similar}`?")
        }
        None => {
            let known: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
            format!(
                "unknown option `{name}` of `{attribute}`; it takes {}",
                known.join(", ")
            )
        }
    }
}

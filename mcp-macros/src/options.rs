//! What stands in the parentheses of an attribute: `name = "x", read_only`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, LitBool, LitStr, Meta, Token};

use crate::errors::Errors;

/// The options of one attribute, taken one by one.
pub(crate) struct Options {
    attribute: &'static str,
    options: Vec<Opt>,
}

struct Opt {
    key: Ident,
    value: Option<Expr>,
}

impl Parse for Opt {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { key, value })
    }
}

impl Options {
    /// The options of an attribute, after a text without a name when it takes one.
    pub(crate) fn with_text(
        attribute: &'static str,
        found: &Attribute,
        takes_text: bool,
        known: &[&str],
        errors: &mut Errors,
    ) -> (Option<LitStr>, Self) {
        let Meta::List(list) = &found.meta else {
            return (None, Self::of(attribute, Some(found), known, errors));
        };
        let split = |input: ParseStream<'_>| {
            let text = match takes_text && input.peek(LitStr) {
                true => Some(input.parse()?),
                false => None,
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

    /// The options of an attribute on an item or a parameter; none when it is not there.
    pub(crate) fn of(
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
                errors.at(value, message);
                TokenStream::new()
            }
        };
        Self::parse(attribute, tokens, known, errors)
    }

    /// The options of the attribute that is being expanded.
    pub(crate) fn parse(
        attribute: &'static str,
        tokens: TokenStream,
        known: &[&str],
        errors: &mut Errors,
    ) -> Self {
        let parsed = Punctuated::<Opt, Token![,]>::parse_terminated.parse2(tokens);
        let mut options: Vec<Opt> = Vec::new();
        for opt in errors.ok(parsed).into_iter().flatten() {
            if !known.contains(&&*opt.key.to_string()) {
                errors.at(&opt.key, unknown(&opt.key, attribute, known));
            } else if options.iter().any(|other| other.key == opt.key) {
                errors.at(&opt.key, format!("`{}` is set twice", opt.key));
            } else {
                options.push(opt);
            }
        }
        Self { attribute, options }
    }

    fn take(&mut self, key: &str) -> Option<Opt> {
        let index = self.options.iter().position(|opt| opt.key == key)?;
        Some(self.options.remove(index))
    }

    /// `key` or `key = …`.
    #[expect(clippy::option_option, reason = "absent, without a value, with one")]
    pub(crate) fn maybe_expr(&mut self, key: &str) -> Option<Option<Expr>> {
        self.take(key).map(|opt| opt.value)
    }

    /// `key = …`.
    pub(crate) fn expr(&mut self, key: &str, errors: &mut Errors) -> Option<Expr> {
        let opt = self.take(key)?;
        if opt.value.is_none() {
            let message = format!("`{key}` of `{}` needs a value: `{key} = …`", self.attribute);
            errors.at(&opt.key, message);
        }
        opt.value
    }

    /// `key = "…"`.
    pub(crate) fn text(&mut self, key: &str, errors: &mut Errors) -> Option<LitStr> {
        match self.expr(key, errors)? {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text),
            other => {
                errors.at(other, format!("`{key}` needs a string literal"));
                None
            }
        }
    }

    /// `key` or `key = true` or `key = false`.
    pub(crate) fn flag(&mut self, key: &str, errors: &mut Errors) -> Option<bool> {
        match self.maybe_expr(key)? {
            None => Some(true),
            Some(Expr::Lit(ExprLit {
                lit: Lit::Bool(LitBool { value, .. }),
                ..
            })) => Some(value),
            Some(other) => {
                errors.at(other, format!("`{key}` is `true` or `false`"));
                None
            }
        }
    }

    /// `crate = some::path`, else `::mcp`: where the emitted code finds the library.
    pub(crate) fn root(&mut self, errors: &mut Errors) -> Root {
        match self.expr("crate", errors) {
            None => Root(quote!(::mcp)),
            Some(Expr::Path(path)) => Root(path.into_token_stream()),
            Some(other) => {
                errors.at(other, "`crate` needs a path, such as `my_crate::mcp`");
                Root(quote!(::mcp))
            }
        }
    }
}

/// The path of the library.
pub(crate) struct Root(TokenStream);

impl Root {
    /// The path, for code whose mistakes are told at `span`.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        self.spanned(at(span))
    }

    /// The path, as if the user had written it at `span`.
    pub(crate) fn spanned(&self, span: Span) -> TokenStream {
        let tokens = self.0.clone().into_iter().map(|mut token| {
            token.set_span(span);
            token
        });
        tokens.collect()
    }

    /// The path of the module that only macros use.
    pub(crate) fn support(&self, span: Span) -> TokenStream {
        let root = self.at(span);
        quote_spanned!(at(span)=> #root::macro_support)
    }
}

/// The span of emitted code: its local variables are the macro's own, its mistakes are told where
/// the user's code is, and no lint looks at it.
pub(crate) fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

fn unknown(key: &Ident, attribute: &str, known: &[&str]) -> String {
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let meant = plain(&key.to_string());
    match known.iter().find(|known| plain(known) == meant) {
        Some(meant) => format!("unknown option `{key}` of `{attribute}`; did you mean `{meant}`?"),
        None => {
            let known: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
            format!(
                "unknown option `{key}` of `{attribute}`; it takes {}",
                known.join(", ")
            )
        }
    }
}

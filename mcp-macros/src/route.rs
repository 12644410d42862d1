//! The attribute of a marked method: `#[tool]`, `#[resource]`, `#[prompt]` or `#[completion]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, LitStr, Type};

use crate::cache::cache_hint;
use crate::docs;
use crate::errors::Errors;
use crate::extras;
use crate::options::{CratePath, Options, hygienic, string_literal};
use crate::rename::RenameRule;
use crate::task::task_mode;
use crate::variables;

/// The place of a marked function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FnPosition {
    /// In an `impl` block with `#[mcp::server]`.
    Method,
    /// Outside any `impl` block.
    Free,
}

/// The kind of route that an attribute creates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteKind {
    Tool,
    Resource,
    Prompt,
    Completion,
}

impl RouteKind {
    const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Prompt, Self::Completion];

    /// Returns the attribute's name, which is the route's kind.
    pub(crate) fn noun(self) -> &'static str {
        self.attribute().trim_matches(['#', '[', ']'])
    }

    fn attribute(self) -> &'static str {
        match self {
            Self::Tool => "#[tool]",
            Self::Resource => "#[resource]",
            Self::Prompt => "#[prompt]",
            Self::Completion => "#[completion]",
        }
    }

    fn options(self) -> Vec<&'static str> {
        let own: &[_] = match self {
            Self::Tool => &[
                "read_only",
                "destructive",
                "idempotent",
                "open_world",
                "task",
                "app",
                "app_only",
            ],
            Self::Resource => &[
                "mime_type",
                "annotations",
                "cache",
                "list",
                "encoded_slashes",
            ],
            Self::Prompt => &[],
            Self::Completion => return vec!["prompt", "template", "argument", "layer", "blocking"],
        };
        let calls = ["layer", "blocking", "visible_to", "scopes"];
        let texts = ["name", "title", "description"];
        [&texts, own, &["icon", "meta"], &calls].concat()
    }

    /// Returns the kind of an attribute with any path.
    pub(crate) fn from_attribute(attribute: &Attribute) -> Option<Self> {
        let last = attribute.path().segments.last()?;
        Self::ALL.into_iter().find(|kind| last.ident == kind.noun())
    }
}

/// The attribute with its parsed options.
pub(crate) struct RouteAttribute<'a> {
    pub(crate) kind: RouteKind,
    attribute: &'a Attribute,
    /// The string literal without a name: a resource URI.
    text: Option<LitStr>,
    options: Options,
}

impl<'a> RouteAttribute<'a> {
    /// Parses the attribute of a function. Only the attribute of a free function has the option
    /// `crate`; for a method, the attribute of the `impl` block has it.
    pub(crate) fn parse(
        kind: RouteKind,
        attribute: &'a Attribute,
        position: FnPosition,
        errors: &mut Errors,
    ) -> Self {
        let mut known = kind.options();
        if position == FnPosition::Free {
            known.push("crate");
        }
        let takes_text = kind == RouteKind::Resource;
        let (text, options) =
            Options::with_text(kind.attribute(), attribute, takes_text, &known, errors);
        Self {
            kind,
            attribute,
            text,
            options,
        }
    }

    /// Returns the library's path: `crate = path`, or else `::mcp`.
    pub(crate) fn crate_path(&mut self, errors: &mut Errors) -> CratePath {
        self.options.crate_path(errors)
    }
}

/// The code that the attribute's options become.
pub(crate) struct Route {
    pub(crate) kind: RouteKind,
    /// The name or URI, which identifies the route among those of its kind.
    pub(crate) key: String,
    /// The listed item as an expression.
    pub(crate) item: TokenStream,
    /// The created route's setters.
    pub(crate) setters: TokenStream,
    /// The option `blocking`'s span, if it is set.
    pub(crate) blocking: Option<Span>,
    /// The resource URI and its variables.
    pub(crate) uri: Option<(LitStr, Vec<String>)>,
    /// The function that lists the resources of a template.
    pub(crate) list: Option<Expr>,
    pub(crate) completes: Option<CompletionTarget>,
}

/// The argument that a completion is for.
pub(crate) struct CompletionTarget {
    pub(crate) kind: RouteKind,
    /// The prompt's name, or URI template.
    pub(crate) owner: String,
    pub(crate) argument: String,
    /// The option `argument`, for the span of errors.
    pub(crate) argument_expr: Expr,
}

impl Route {
    /// Reads the attribute. Returns `None` after adding errors.
    pub(crate) fn read(
        attribute: RouteAttribute<'_>,
        ident: &Ident,
        attributes: &[Attribute],
        private: &TokenStream,
        errors: &mut Errors,
    ) -> Option<Self> {
        let RouteAttribute {
            kind,
            attribute,
            text,
            mut options,
        } = attribute;
        let name = listed_name(kind, options.text("name", errors), ident, errors);
        let title = options.setter("title", errors);
        let description = options.setter("description", errors);
        let description = description.or_else(|| docs::description(attributes, private));
        let icons = options.expr("icon", errors);
        let icons = icons.map(|given| extras::icons(&given, private));
        let meta = options.expr("meta", errors);
        let meta = meta.map(|given| extras::meta(&given, errors));
        let common = quote!(#title #description #icons #meta);
        let layer = options.setter("layer", errors);
        let visible_to = options.setter("visible_to", errors);
        let scopes = options.texts("scopes", errors);
        let scopes = scopes.map(|scopes| quote!(.scopes(#scopes)));
        let span = options.span("blocking");
        let is_blocking = options.flag("blocking", errors) == Some(true);
        let mut route = Self {
            kind,
            item: TokenStream::new(),
            key: name,
            setters: TokenStream::new(),
            blocking: span.filter(|_| is_blocking),
            uri: None,
            list: None,
            completes: None,
        };
        match kind {
            RouteKind::Tool => route.read_tool(&common, &mut options, private, errors),
            RouteKind::Resource => {
                let Some(uri) = text else {
                    let message = "`#[resource]` needs the URI: `#[resource(\"config://app\")]`, \
                                   or a template: `#[resource(\"users://{id}/profile\")]`";
                    errors.add_at(attribute, message);
                    return None;
                };
                route.read_resource(uri, &common, &mut options, private, errors)?;
            }
            RouteKind::Prompt => {
                let name = &route.key;
                route.item = quote!(#private::Prompt::new(#name) #common);
            }
            RouteKind::Completion => {
                route.read_completion(attribute, &mut options, private, errors)?;
            }
        }
        route.setters.extend(quote!(#layer #visible_to #scopes));
        Some(route)
    }

    fn read_tool(
        &mut self,
        common: &TokenStream,
        options: &mut Options,
        private: &TokenStream,
        errors: &mut Errors,
    ) {
        let name = &self.key;
        let read_only = options.marker("read_only", errors);
        let destructive = options.flag("destructive", errors);
        let destructive = destructive.map(|is| quote!(.destructive(#is)));
        let idempotent = options.marker("idempotent", errors);
        let open_world = options.flag("open_world", errors);
        let open_world = open_world.map(|is| quote!(.open_world(#is)));
        let task = options.expr("task", errors);
        let task = task.and_then(|value| errors.ok(task_mode(&value, private)));
        let task = task.map(|mode| quote!(.task(#mode)));
        let app = options.setter("app", errors);
        let app_only = options.marker("app_only", errors);
        self.item = quote! {
            #private::Tool::new(#name) #common
                #read_only #destructive #idempotent #open_world #app #app_only
        };
        self.setters.extend(task);
    }

    fn read_resource(
        &mut self,
        uri: LitStr,
        common: &TokenStream,
        options: &mut Options,
        private: &TokenStream,
        errors: &mut Errors,
    ) -> Option<()> {
        let variables = errors.ok(variables::names(&uri))?;
        self.list = options.expr("list", errors);
        if let (Some(list), true) = (&self.list, variables.is_empty()) {
            let message = "`list` is for a URI template, such as `note://{id}`; a resource \
                           is listed by itself";
            errors.add_at(list, message);
        }
        if let Some(names) = options.texts("encoded_slashes", errors) {
            if variables.is_empty() {
                let message =
                    "`encoded_slashes` names variables of a URI template, such as `note://{id}`";
                errors.add_at(&names, message);
            }
            self.setters.extend(quote!(.encoded_slashes(#names)));
        }
        let mime_type = options.setter("mime_type", errors);
        let annotations = options.setter("annotations", errors);
        let cache = options.expr("cache", errors);
        let cache = cache.and_then(|value| errors.ok(cache_hint(&value, private)));
        let cache = cache.map(|hint| quote!(.cache(#hint)));
        let ty = if variables.is_empty() {
            quote!(Resource)
        } else {
            quote!(ResourceTemplate)
        };
        let name = std::mem::replace(&mut self.key, uri.value());
        self.item = quote!(#private::#ty::new(#uri).name(#name) #common #mime_type #annotations);
        self.setters.extend(cache);
        self.uri = Some((uri, variables));
        Some(())
    }

    fn read_completion(
        &mut self,
        attribute: &Attribute,
        options: &mut Options,
        private: &TokenStream,
        errors: &mut Errors,
    ) -> Option<()> {
        let prompt = options.expr("prompt", errors);
        let template = options.expr("template", errors);
        let argument_expr = options.expr("argument", errors);
        let (kind, of, owner, argument_expr) = match (prompt, template, argument_expr) {
            (Some(owner), None, Some(argument)) => {
                (RouteKind::Prompt, quote!(prompt), owner, argument)
            }
            (None, Some(owner), Some(argument)) => {
                (RouteKind::Resource, quote!(template), owner, argument)
            }
            _ => {
                let message = "`#[completion]` needs to know what it completes: \
                               `#[completion(prompt = \"review\", argument = \"file\")]` or \
                               `#[completion(template = \"users://{id}\", argument = \"id\")]`";
                errors.add_at(attribute, message);
                return None;
            }
        };
        self.item = quote!((#private::CompletionReference::#of(#owner), #argument_expr));
        let (owner, argument) = (literal(&owner), literal(&argument_expr));
        self.key = format!("{argument} of {owner}");
        self.completes = Some(CompletionTarget {
            kind,
            owner,
            argument,
            argument_expr,
        });
        Some(())
    }

    /// Returns the method of `Routes` that adds the route. The function of `__private` that creates the
    /// route has the same name.
    pub(crate) fn add_method(&self) -> Ident {
        let name = match &self.uri {
            Some((_, variables)) if !variables.is_empty() => "template",
            _ => self.kind.noun(),
        };
        Ident::new(name, Span::call_site())
    }

    /// Returns the type of the created route, an item of `__private`.
    pub(crate) fn route_type(&self) -> Ident {
        let name = RenameRule::Pascal.field(&self.add_method().to_string());
        format_ident!("{name}Route")
    }

    /// Returns the function of `__private` that creates the route. It has the return type's span,
    /// where the compiler reports a type that is not a result.
    pub(crate) fn constructor(&self, output: &Type, crate_path: &CratePath) -> TokenStream {
        let span = hygienic(output.span());
        let (private, function) = (crate_path.private(span), self.add_method());
        quote_spanned!(span=> #private::#function::<#output, _, _>)
    }

    /// Returns the method of `HandlerOutput` that converts the return value.
    pub(crate) fn convert_method(&self) -> TokenStream {
        match self.kind {
            RouteKind::Tool => quote!(into_result),
            RouteKind::Resource => quote!(into_contents),
            RouteKind::Prompt => quote!(into_prompt),
            RouteKind::Completion => quote!(into_completion),
        }
    }
}

fn listed_name(
    kind: RouteKind,
    given: Option<LitStr>,
    ident: &Ident,
    errors: &mut Errors,
) -> String {
    let name = match &given {
        Some(given) => given.value(),
        None => ident.unraw().to_string(),
    };
    if kind == RouteKind::Tool {
        check_tool_name(&name, given.as_ref(), ident, errors);
    }
    name
}

// spec: TOOL-08
fn check_tool_name(name: &str, given: Option<&LitStr>, ident: &Ident, errors: &mut Errors) {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if (1..=128).contains(&name.len()) && name.chars().all(fits) {
        return;
    }
    match given {
        Some(given) => errors.add_at(given, "a tool's name has 1 to 128 of `A-Za-z0-9_-.`"),
        None => errors.add_at(
            ident,
            "a tool's name has 1 to 128 of `A-Za-z0-9_-.`; set another one: `#[tool(name = \"…\")]`",
        ),
    }
}

/// Returns the value of a string literal, or the tokens of another expression.
fn literal(expr: &Expr) -> String {
    match string_literal(expr) {
        Some(text) => text.value(),
        None => expr.to_token_stream().to_string(),
    }
}

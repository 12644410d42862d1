//! The attribute of a marked method: `#[tool]`, `#[resource]`, `#[prompt]` or `#[completion]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, LitStr, Type};

use crate::cache::cache_hint;
use crate::docs;
use crate::errors::Errors;
use crate::extras;
use crate::options::{CratePath, Options, hygienic, string_literal};
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
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
            Self::Completion => "completion",
        }
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
            Self::Resource => &["mime_type", "annotations", "cache", "list"],
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

/// Options that all kinds of listed routes have.
struct ListedOptions {
    name: String,
    title: Option<Expr>,
    /// Parts of the doc comment.
    docs: Vec<Expr>,
    /// The option `description`, which replaces the doc comment.
    description: Option<Expr>,
    icon: Option<Expr>,
    meta: TokenStream,
}

/// The attribute's options.
pub(crate) struct Route {
    listed: ListedOptions,
    layer: Option<Expr>,
    visible_to: Option<Expr>,
    scopes: Option<Expr>,
    /// The option `blocking`'s span, if it is set.
    pub(crate) blocking: Option<Span>,
    own: OwnOptions,
}

/// The argument that a completion is for.
pub(crate) struct CompletionTarget<'a> {
    pub(crate) kind: RouteKind,
    /// The prompt's name, or URI template.
    pub(crate) owner: String,
    pub(crate) argument: String,
    /// The option `argument`, for the span of errors.
    pub(crate) argument_expr: &'a Expr,
}

/// Options that one kind of route has.
enum OwnOptions {
    Tool {
        read_only: Option<bool>,
        destructive: Option<bool>,
        idempotent: Option<bool>,
        open_world: Option<bool>,
        task: Option<Box<Expr>>,
        app: Option<Box<Expr>>,
        app_only: Option<bool>,
    },
    Resource {
        uri: LitStr,
        variables: Vec<String>,
        mime_type: Option<Expr>,
        annotations: Option<Expr>,
        cache: Option<Box<Expr>>,
        list: Option<Box<Expr>>,
    },
    Prompt,
    Completion {
        of_prompt: bool,
        owner: Expr,
        argument: Expr,
    },
}

impl Route {
    /// Reads the attribute. Returns `None` after adding errors.
    pub(crate) fn read(
        attribute: RouteAttribute<'_>,
        ident: &Ident,
        attributes: &[Attribute],
        errors: &mut Errors,
    ) -> Option<Self> {
        let RouteAttribute {
            kind,
            attribute,
            text,
            mut options,
        } = attribute;
        let listed = ListedOptions {
            name: listed_name(kind, options.text("name", errors), ident, errors),
            title: options.expr("title", errors),
            docs: docs::read(attributes),
            description: options.expr("description", errors),
            icon: options.expr("icon", errors),
            meta: match options.expr("meta", errors) {
                Some(given) => extras::meta(&given, errors),
                None => TokenStream::new(),
            },
        };
        let layer = options.expr("layer", errors);
        let visible_to = options.expr("visible_to", errors);
        let scopes = options.texts("scopes", errors);
        let span = options.span("blocking");
        let blocking = options.flag("blocking", errors) == Some(true);
        let own = match kind {
            RouteKind::Tool => OwnOptions::Tool {
                read_only: options.flag("read_only", errors),
                destructive: options.flag("destructive", errors),
                idempotent: options.flag("idempotent", errors),
                open_world: options.flag("open_world", errors),
                task: options.expr("task", errors).map(Box::new),
                app: options.expr("app", errors).map(Box::new),
                app_only: options.flag("app_only", errors),
            },
            RouteKind::Resource => {
                let Some(uri) = text else {
                    let message = "`#[resource]` needs the URI: `#[resource(\"config://app\")]`, \
                                   or a template: `#[resource(\"users://{id}/profile\")]`";
                    errors.add_at(attribute, message);
                    return None;
                };
                let variables = errors.ok(variables::names(&uri))?;
                let list = options.expr("list", errors).map(Box::new);
                if let (Some(list), true) = (&list, variables.is_empty()) {
                    let message = "`list` is for a URI template, such as `note://{id}`; a resource \
                                   is listed by itself";
                    errors.add_at(list, message);
                }
                OwnOptions::Resource {
                    variables,
                    list,
                    uri,
                    mime_type: options.expr("mime_type", errors),
                    annotations: options.expr("annotations", errors),
                    cache: options.expr("cache", errors).map(Box::new),
                }
            }
            RouteKind::Prompt => OwnOptions::Prompt,
            RouteKind::Completion => completion_options(attribute, &mut options, errors)?,
        };
        Some(Self {
            listed,
            layer,
            visible_to,
            scopes,
            blocking: span.filter(|_| blocking),
            own,
        })
    }

    /// Returns the name or URI, which identifies the route among those of its kind.
    pub(crate) fn key(&self) -> String {
        match &self.own {
            OwnOptions::Tool { .. } | OwnOptions::Prompt => self.listed.name.clone(),
            OwnOptions::Resource { uri, .. } => uri.value(),
            OwnOptions::Completion {
                owner, argument, ..
            } => format!("{} of {}", literal(argument), literal(owner)),
        }
    }

    /// Returns the resource URI and its variables.
    pub(crate) fn variables(&self) -> Option<(&LitStr, &[String])> {
        match &self.own {
            OwnOptions::Resource { uri, variables, .. } => Some((uri, variables)),
            _ => None,
        }
    }

    /// Returns the method of `Routes` that adds the route. The function of `__private` that creates the
    /// route has the same name.
    pub(crate) fn add_method(&self) -> TokenStream {
        match &self.own {
            OwnOptions::Tool { .. } => quote!(tool),
            OwnOptions::Resource { variables, .. } if variables.is_empty() => quote!(resource),
            OwnOptions::Resource { .. } => quote!(template),
            OwnOptions::Prompt => quote!(prompt),
            OwnOptions::Completion { .. } => quote!(completion),
        }
    }

    /// Returns the type of the created route, an item of `__private`.
    pub(crate) fn route_type(&self) -> TokenStream {
        match &self.own {
            OwnOptions::Tool { .. } => quote!(ToolRoute),
            OwnOptions::Resource { variables, .. } if variables.is_empty() => quote!(ResourceRoute),
            OwnOptions::Resource { .. } => quote!(TemplateRoute),
            OwnOptions::Prompt => quote!(PromptRoute),
            OwnOptions::Completion { .. } => quote!(CompletionRoute),
        }
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
        match &self.own {
            OwnOptions::Tool { .. } => quote!(into_result),
            OwnOptions::Resource { .. } => quote!(into_contents),
            OwnOptions::Prompt => quote!(into_prompt),
            OwnOptions::Completion { .. } => quote!(into_completion),
        }
    }

    /// Returns the listed item as an expression.
    pub(crate) fn item(&self, private: &TokenStream) -> TokenStream {
        let name = &self.listed.name;
        let common = self.common_setters(private);
        match &self.own {
            OwnOptions::Tool {
                read_only,
                destructive,
                idempotent,
                open_world,
                app,
                app_only,
                ..
            } => {
                let read_only = (*read_only == Some(true)).then(|| quote!(.read_only()));
                let idempotent = (*idempotent == Some(true)).then(|| quote!(.idempotent()));
                let destructive = destructive.map(|is| quote!(.destructive(#is)));
                let open_world = open_world.map(|is| quote!(.open_world(#is)));
                let app = app.as_ref().map(|uri| quote!(.app(#uri)));
                let app_only = (*app_only == Some(true)).then(|| quote!(.app_only()));
                quote! {
                    #private::Tool::new(#name) #common
                        #read_only #destructive #idempotent #open_world #app #app_only
                }
            }
            OwnOptions::Resource {
                uri,
                variables,
                mime_type,
                annotations,
                ..
            } => {
                let ty = if variables.is_empty() {
                    quote!(Resource)
                } else {
                    quote!(ResourceTemplate)
                };
                let mime_type = mime_type
                    .as_ref()
                    .map(|mime_type| quote!(.mime_type(#mime_type)));
                let annotations = annotations
                    .as_ref()
                    .map(|given| quote!(.annotations(#given)));
                quote!(#private::#ty::new(#uri).name(#name) #common #mime_type #annotations)
            }
            OwnOptions::Prompt => quote!(#private::Prompt::new(#name) #common),
            OwnOptions::Completion {
                of_prompt,
                owner,
                argument,
            } => {
                let of = if *of_prompt {
                    quote!(prompt)
                } else {
                    quote!(template)
                };
                quote!((#private::CompletionReference::#of(#owner), #argument))
            }
        }
    }

    /// Returns the setters that all listed items have.
    fn common_setters(&self, private: &TokenStream) -> TokenStream {
        let listed = &self.listed;
        let title = listed.title.as_ref().map(|title| quote!(.title(#title)));
        let description = match (&listed.description, listed.docs.as_slice()) {
            (Some(description), _) => quote!(.description(#description)),
            (None, []) => quote!(),
            (None, docs) => quote!(.description(#private::doc(&[#(#docs),*]))),
        };
        let icons = listed.icon.as_ref();
        let icons = icons.map(|icons| extras::icons(icons, private));
        let meta = &listed.meta;
        quote!(#title #description #icons #meta)
    }

    /// Returns the created route's setters.
    pub(crate) fn setters(&self, private: &TokenStream, errors: &mut Errors) -> TokenStream {
        let cache = match &self.own {
            OwnOptions::Resource { cache, .. } => cache.as_deref(),
            _ => None,
        };
        let cache = cache.and_then(|value| errors.ok(cache_hint(value, private)));
        let cache = cache.map(|hint| quote!(.cache(#hint)));
        let task = match &self.own {
            OwnOptions::Tool { task, .. } => task.as_deref(),
            _ => None,
        };
        let task = task.and_then(|value| errors.ok(task_mode(value, private)));
        let task = task.map(|mode| quote!(.task(#mode)));
        let layer = self.layer.as_ref().map(|layer| quote!(.layer(#layer)));
        let visible_to = self.visible_to.as_ref();
        let visible_to = visible_to.map(|filter| quote!(.visible_to(#filter)));
        let scopes = self.scopes.as_ref();
        let scopes = scopes.map(|scopes| quote!(.scopes(#scopes)));
        quote!(#cache #task #layer #visible_to #scopes)
    }

    /// Returns the function that lists the resources of a template.
    pub(crate) fn list(&self) -> Option<&Expr> {
        match &self.own {
            OwnOptions::Resource { list, .. } => list.as_deref(),
            _ => None,
        }
    }

    /// Returns the argument that a completion is for.
    pub(crate) fn completes(&self) -> Option<CompletionTarget<'_>> {
        match &self.own {
            OwnOptions::Completion {
                of_prompt,
                owner,
                argument,
            } => Some(CompletionTarget {
                kind: if *of_prompt {
                    RouteKind::Prompt
                } else {
                    RouteKind::Resource
                },
                owner: literal(owner),
                argument: literal(argument),
                argument_expr: argument,
            }),
            _ => None,
        }
    }
}

fn completion_options(
    attribute: &Attribute,
    options: &mut Options,
    errors: &mut Errors,
) -> Option<OwnOptions> {
    let prompt = options.expr("prompt", errors);
    let template = options.expr("template", errors);
    let argument = options.expr("argument", errors);
    let of_prompt = prompt.is_some();
    match (prompt, template, argument) {
        (Some(owner), None, Some(argument)) | (None, Some(owner), Some(argument)) => {
            Some(OwnOptions::Completion {
                of_prompt,
                owner,
                argument,
            })
        }
        _ => {
            let message = "`#[completion]` needs to know what it completes: \
                           `#[completion(prompt = \"review\", argument = \"file\")]` or \
                           `#[completion(template = \"users://{id}\", argument = \"id\")]`";
            errors.add_at(attribute, message);
            None
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

//! What a method is marked as, and what the attribute says: a tool, a resource, a prompt, a
//! completion.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr};

use crate::cache;
use crate::docs;
use crate::errors::Errors;
use crate::extras;
use crate::options::{Options, at};
use crate::variables;

/// The attributes that make a route of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Resource,
    Prompt,
    Completion,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Prompt, Self::Completion];

    /// The name of the attribute, and of what it makes.
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

    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Tool => &[
                "name",
                "title",
                "description",
                "read_only",
                "destructive",
                "idempotent",
                "open_world",
                "icon",
                "meta",
                "layer",
            ],
            Self::Resource => &[
                "name",
                "title",
                "description",
                "mime",
                "icon",
                "annotations",
                "cache",
                "meta",
                "layer",
            ],
            Self::Prompt => &["name", "title", "description", "icon", "meta", "layer"],
            Self::Completion => &["prompt", "template", "argument", "layer"],
        }
    }

    /// Which attribute this is, whatever its path.
    pub(crate) fn of(attribute: &Attribute) -> Option<Self> {
        let last = attribute.path().segments.last()?;
        Self::ALL.into_iter().find(|kind| last.ident == kind.noun())
    }
}

/// What is listed of any route.
struct Listed {
    name: String,
    title: Option<Expr>,
    description: Vec<Expr>,
    given_description: Option<Expr>,
    icon: Option<Expr>,
    meta: TokenStream,
}

/// What the attribute says.
pub(crate) struct Route {
    listed: Listed,
    layer: Option<Expr>,
    own: Own,
}

/// What a completion is for.
pub(crate) struct Completes<'a> {
    pub(crate) kind: Kind,
    /// The name of the prompt, the text of the template.
    pub(crate) owner: String,
    pub(crate) argument: String,
    /// Where the argument is written.
    pub(crate) at: &'a Expr,
}

enum Own {
    Tool {
        read_only: Option<bool>,
        destructive: Option<bool>,
        idempotent: Option<bool>,
        open_world: Option<bool>,
    },
    Resource {
        uri: LitStr,
        variables: Vec<String>,
        mime: Option<Expr>,
        annotations: Option<Expr>,
        cache: Option<Expr>,
    },
    Prompt,
    Completion {
        of_prompt: bool,
        owner: Expr,
        argument: Expr,
    },
}

impl Route {
    /// Reads the attribute. Without a result the mistakes are noted.
    pub(crate) fn read(
        kind: Kind,
        attribute: &Attribute,
        ident: &Ident,
        attributes: &[Attribute],
        errors: &mut Errors,
    ) -> Option<Self> {
        let takes_text = kind == Kind::Resource;
        let name = kind.attribute();
        let (text, mut options) =
            Options::with_text(name, attribute, takes_text, kind.options(), errors);
        let listed = Listed {
            name: listed_name(kind, options.text("name", errors), ident, errors),
            title: options.expr("title", errors),
            description: docs::of(attributes),
            given_description: options.expr("description", errors),
            icon: options.expr("icon", errors),
            meta: match options.expr("meta", errors) {
                Some(given) => extras::meta(&given, errors),
                None => TokenStream::new(),
            },
        };
        let layer = options.expr("layer", errors);
        let own = match kind {
            Kind::Tool => Own::Tool {
                read_only: options.flag("read_only", errors),
                destructive: options.flag("destructive", errors),
                idempotent: options.flag("idempotent", errors),
                open_world: options.flag("open_world", errors),
            },
            Kind::Resource => {
                let Some(uri) = text else {
                    let message = "`#[resource]` needs the URI: `#[resource(\"config://app\")]`, \
                                   or a template: `#[resource(\"users://{id}/profile\")]`";
                    errors.at(attribute, message);
                    return None;
                };
                Own::Resource {
                    variables: errors.ok(variables::of(&uri))?,
                    uri,
                    mime: options.expr("mime", errors),
                    annotations: options.expr("annotations", errors),
                    cache: options.expr("cache", errors),
                }
            }
            Kind::Prompt => Own::Prompt,
            Kind::Completion => completion(attribute, &mut options, errors)?,
        };
        Some(Self { listed, layer, own })
    }

    /// By what clients find it; no two of one kind may have the same.
    pub(crate) fn key(&self) -> String {
        match &self.own {
            Own::Tool { .. } | Own::Prompt => self.listed.name.clone(),
            Own::Resource { uri, .. } => uri.value(),
            Own::Completion {
                owner, argument, ..
            } => format!("{} of {}", literal(argument), literal(owner)),
        }
    }

    /// The variables of a resource's URI, and where it is written.
    pub(crate) fn variables(&self) -> Option<(&LitStr, &[String])> {
        match &self.own {
            Own::Resource { uri, variables, .. } => Some((uri, variables)),
            _ => None,
        }
    }

    /// The method of `Routes` that takes it.
    pub(crate) fn adds(&self) -> TokenStream {
        match &self.own {
            Own::Tool { .. } => quote!(tool),
            Own::Resource { variables, .. } if variables.is_empty() => quote!(resource),
            Own::Resource { .. } => quote!(template),
            Own::Prompt => quote!(prompt),
            Own::Completion { .. } => quote!(completion),
        }
    }

    /// The method of what was returned that makes the result.
    pub(crate) fn becomes(&self) -> TokenStream {
        match &self.own {
            Own::Tool { .. } => quote!(into_result),
            Own::Resource { .. } => quote!(into_contents),
            Own::Prompt => quote!(into_prompt),
            Own::Completion { .. } => quote!(into_completion),
        }
    }

    /// What is listed, as an expression.
    pub(crate) fn listed(&self, support: &TokenStream) -> TokenStream {
        let name = &self.listed.name;
        let common = self.common(support);
        match &self.own {
            Own::Tool {
                read_only,
                destructive,
                idempotent,
                open_world,
            } => {
                let read_only = (*read_only == Some(true)).then(|| quote!(.read_only()));
                let idempotent = (*idempotent == Some(true)).then(|| quote!(.idempotent()));
                let destructive = destructive.map(|is| quote!(.destructive(#is)));
                let open_world = open_world.map(|is| quote!(.open_world(#is)));
                quote! {
                    #support::Tool::new(#name) #common
                        #read_only #destructive #idempotent #open_world
                }
            }
            Own::Resource {
                uri,
                variables,
                mime,
                annotations,
                ..
            } => {
                let ty = match variables.is_empty() {
                    true => quote!(Resource),
                    false => quote!(ResourceTemplate),
                };
                let mime = mime.as_ref().map(|mime| quote!(.mime_type(#mime)));
                let annotations = annotations
                    .as_ref()
                    .map(|given| quote!(.annotations(#given)));
                quote!(#support::#ty::new(#uri).name(#name) #common #mime #annotations)
            }
            Own::Prompt => quote!(#support::Prompt::new(#name) #common),
            Own::Completion {
                of_prompt,
                owner,
                argument,
            } => {
                let of = match of_prompt {
                    true => quote!(prompt),
                    false => quote!(resource),
                };
                quote!((#support::CompletionReference::#of(#owner), #argument))
            }
        }
    }

    fn common(&self, support: &TokenStream) -> TokenStream {
        let listed = &self.listed;
        let title = listed.title.as_ref().map(|title| quote!(.title(#title)));
        let description = match (&listed.given_description, listed.description.as_slice()) {
            (Some(given), _) => quote!(.describe(#given)),
            (None, []) => quote!(),
            (None, pieces) => quote!(.describe(#support::doc(&[#(#pieces),*]))),
        };
        let icons = listed.icon.as_ref();
        let icons = icons.map(|given| extras::icons(given, support));
        let meta = &listed.meta;
        quote!(#title #description #icons #meta)
    }

    /// What is said of the finished route.
    pub(crate) fn finish(&self, support: &TokenStream, errors: &mut Errors) -> TokenStream {
        let cache = match &self.own {
            Own::Resource { cache, .. } => cache.as_ref(),
            _ => None,
        };
        let cache = cache.and_then(|given| errors.ok(cache::hint(given, support)));
        let cache = cache.map(|hint| quote!(.cache(#hint)));
        let layer = self.layer.as_ref().map(|layer| quote!(.layer(#layer)));
        quote!(#cache #layer)
    }

    /// What a completion is for: the prompt or the template, and its argument.
    pub(crate) fn completes(&self) -> Option<Completes<'_>> {
        match &self.own {
            Own::Completion {
                of_prompt,
                owner,
                argument,
            } => Some(Completes {
                kind: match of_prompt {
                    true => Kind::Prompt,
                    false => Kind::Resource,
                },
                owner: literal(owner),
                argument: literal(argument),
                at: argument,
            }),
            _ => None,
        }
    }
}

fn completion(attribute: &Attribute, options: &mut Options, errors: &mut Errors) -> Option<Own> {
    let prompt = options.expr("prompt", errors);
    let template = options.expr("template", errors);
    let argument = options.expr("argument", errors);
    match (prompt, template, argument) {
        (Some(owner), None, Some(argument)) => Some(Own::Completion {
            of_prompt: true,
            owner,
            argument,
        }),
        (None, Some(owner), Some(argument)) => Some(Own::Completion {
            of_prompt: false,
            owner,
            argument,
        }),
        _ => {
            let message = "`#[completion]` needs to know what it completes: \
                           `#[completion(prompt = \"review\", argument = \"file\")]` or \
                           `#[completion(template = \"users://{id}\", argument = \"id\")]`";
            errors.at(attribute, message);
            None
        }
    }
}

fn listed_name(kind: Kind, given: Option<LitStr>, ident: &Ident, errors: &mut Errors) -> String {
    let name = match &given {
        Some(given) => given.value(),
        None => ident.unraw().to_string(),
    };
    if kind == Kind::Tool {
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
        Some(given) => errors.at(given, "a tool's name has 1 to 128 of `A-Za-z0-9_-.`"),
        None => errors.at(
            ident,
            "a tool's name has 1 to 128 of `A-Za-z0-9_-.`; set another one: `#[tool(name = \"…\")]`",
        ),
    }
}

/// The text of a literal, the tokens of anything else.
fn literal(expr: &Expr) -> String {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => text.value(),
        other => other.to_token_stream().to_string(),
    }
}

/// The call of `macro_support` that makes the route.
pub(crate) fn make(route: &Route, support: &TokenStream, output: &syn::Type) -> TokenStream {
    use syn::spanned::Spanned;
    let function = route.adds();
    quote_spanned!(at(output.span())=> #support::#function::<#output, _, _>)
}

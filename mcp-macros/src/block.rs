//! `#[mcp::server]` and `#[mcp::tools]`: an `impl` block, and the routes of its tools.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, ImplItem, Item, ItemImpl, Type};

use crate::docs;
use crate::errors::Errors;
use crate::options::Options;
use crate::tool::{ToolMethod, at, cfgs, is_named};

/// Which attribute stands on the block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Server,
    Tools,
}

impl Kind {
    fn attribute(self) -> &'static str {
        match self {
            Self::Server => "#[mcp::server]",
            Self::Tools => "#[mcp::tools]",
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Server => &[
                "name",
                "version",
                "title",
                "instructions",
                "routes",
                "crate",
            ],
            Self::Tools => &["routes", "crate"],
        }
    }
}

/// Expands either attribute.
pub(crate) fn expand(kind: Kind, options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut options = Options::parse(kind.attribute(), options, kind.options(), &mut errors);
    let mut block = match impl_block(kind, item.clone()) {
        Ok(block) => block,
        Err(error) => {
            errors.add(error);
            return quote!(#errors #item);
        }
    };
    let tools = read_tools(&mut block, &mut errors);
    if let Some((of, _)) = &block.trait_ {
        let message = format!(
            "{} belongs on an `impl` block of the type itself, not of a trait",
            kind.attribute()
        );
        errors.at(of, message);
        return quote!(#errors #block);
    }
    if kind == Kind::Tools && tools.found == 0 {
        let message = "no function in this block has `#[tool]`";
        errors.add(syn::Error::new(Span::call_site(), message));
    }
    let root = options.root(&mut errors);
    let emitted = Emitted {
        support: quote!(#root::macro_support),
        root,
        routes: routes_name(&mut options, &block.self_ty, &mut errors),
        block: &block,
        tools: &tools.tools,
    };
    let routes = emitted.routes();
    let server = (kind == Kind::Server).then(|| emitted.server(&mut options, &mut errors));
    quote!(#block #routes #server #errors)
}

fn impl_block(kind: Kind, item: TokenStream) -> syn::Result<ItemImpl> {
    match syn::parse2(item)? {
        Item::Impl(block) => Ok(block),
        other => {
            let message = format!(
                "{} belongs on an `impl` block: `impl MyServer {{ … }}`",
                kind.attribute()
            );
            Err(syn::Error::new_spanned(other, message))
        }
    }
}

struct Tools {
    /// Those without mistakes.
    tools: Vec<ToolMethod>,
    /// So many have the attribute.
    found: usize,
}

fn read_tools(block: &mut ItemImpl, errors: &mut Errors) -> Tools {
    let mut tools: Vec<ToolMethod> = Vec::new();
    let mut found = 0;
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        if !method
            .attrs
            .iter()
            .any(|attribute| is_named(attribute, "tool"))
        {
            continue;
        }
        found += 1;
        let Some(tool) = ToolMethod::read(method, errors) else {
            continue;
        };
        let same = |other: &&ToolMethod| {
            // Of two functions of one name the compiler speaks itself.
            other.name() == tool.name()
                && other.ident() != tool.ident()
                && !(other.is_conditional() || tool.is_conditional())
        };
        if let Some(other) = tools.iter().find(same) {
            let message = format!(
                "two tools are named `{}`: this one and `{}`; rename one",
                tool.name(),
                other.ident()
            );
            errors.at(tool.ident(), message);
        }
        tools.push(tool);
    }
    Tools { tools, found }
}

/// The name of the function that is added. It looks as if the user had written it, so that the
/// compiler warns when nobody calls it.
fn routes_name(options: &mut Options, ty: &Type, errors: &mut Errors) -> Ident {
    match options.expr("routes", errors) {
        Some(Expr::Path(ExprPath { path, .. })) if path.get_ident().is_some() => path
            .require_ident()
            .cloned()
            .unwrap_or_else(|_| default_name(ty)),
        Some(other) => {
            errors.at(
                other,
                "`routes` needs the name of a function, such as `more_tools`",
            );
            default_name(ty)
        }
        None => default_name(ty),
    }
}

fn default_name(ty: &Type) -> Ident {
    Ident::new("tools", ty.span())
}

/// What is put beside the block.
struct Emitted<'a> {
    root: TokenStream,
    support: TokenStream,
    routes: Ident,
    block: &'a ItemImpl,
    tools: &'a [ToolMethod],
}

impl Emitted<'_> {
    fn takes_self(&self) -> bool {
        self.tools.iter().any(ToolMethod::takes_self)
    }

    fn cfgs(&self) -> TokenStream {
        let cfgs = cfgs(&self.block.attrs);
        quote!(#(#cfgs)*)
    }

    /// `fn tools(self: Arc<Self>) -> Routes`, or `fn tools() -> Routes` where no tool needs a value.
    fn routes(&self) -> TokenStream {
        let Self { root, support, .. } = self;
        let span = Span::mixed_site();
        let (generics, _, bounds) = self.block.generics.split_for_impl();
        let (cfgs, ty, name) = (self.cfgs(), &self.block.self_ty, &self.routes);
        let tools = self.tools.iter().map(|tool| tool.route(root, support));
        let (receiver, this) = match self.takes_self() {
            true => (
                quote_spanned!(span=> self: ::std::sync::Arc<Self>),
                quote_spanned!(span=> let this = self;),
            ),
            false => (quote!(), quote!()),
        };
        let shared = self.shared_bounds();
        quote_spanned! {span=>
            #cfgs
            impl #generics #ty #bounds {
                /// The tools of an `impl` block, as routes.
                #[allow(deprecated, unused_imports, clippy::all, clippy::pedantic)]
                pub(crate) fn #name(#receiver) -> #root::Routes #shared {
                    use #support::{ByCall as _, ByValue as _};
                    #this
                    let routes = #root::Routes::new();
                    #(#tools)*
                    routes
                }
            }
        }
    }

    /// What a generic type must be to be shared by calls; every other type is asked directly.
    fn shared_bounds(&self) -> Option<TokenStream> {
        let generic = !self.block.generics.params.is_empty();
        generic.then(|| quote!(where Self: ::core::marker::Send + ::core::marker::Sync + 'static))
    }

    fn server(&self, options: &mut Options, errors: &mut Errors) -> TokenStream {
        let Self { root, support, .. } = self;
        let span = Span::mixed_site();
        let (cfgs, ty) = (self.cfgs(), &self.block.self_ty);
        let mut generics = self.block.generics.clone();
        if !generics.params.is_empty() {
            let bounds = generics.make_where_clause();
            bounds.predicates.push(syn::parse_quote! {
                Self: ::core::marker::Send + ::core::marker::Sync + 'static
            });
        }
        let (generics, _, bounds) = generics.split_for_impl();
        let info = self.info(options, errors);
        let instructions = options.expr("instructions", errors);
        let instructions = instructions.map(|text| quote!(.instructions(#text)));
        let name = &self.routes;
        let routes = match self.takes_self() {
            true => quote_spanned!(span=> Self::#name(self)),
            false => quote_spanned!(span=> Self::#name()),
        };
        // The type's own tokens: what it lacks is told where it is written.
        let shared = quote_spanned!(at(ty.span())=> #support::ServerBlock);
        quote_spanned! {span=>
            #cfgs
            #[automatically_derived]
            impl #generics #shared for #ty #bounds {
                fn server(self: ::std::sync::Arc<Self>) -> #root::Server {
                    #root::Server::with_info(#info) #instructions .merge(#routes)
                }
            }

            #cfgs
            #[automatically_derived]
            impl #generics #root::IntoServer for #ty #bounds {
                fn into_server(self) -> #root::Server {
                    #support::ServerBlock::server(::std::sync::Arc::new(self))
                }
            }
        }
    }

    fn info(&self, options: &mut Options, errors: &mut Errors) -> TokenStream {
        let support = &self.support;
        let name = options.expr("name", errors).map_or_else(
            || quote!(::core::env!("CARGO_PKG_NAME")),
            Expr::into_token_stream,
        );
        let version = options.expr("version", errors).map_or_else(
            || quote!(::core::env!("CARGO_PKG_VERSION")),
            Expr::into_token_stream,
        );
        let title = options.expr("title", errors);
        let title = title.map(|title| quote!(.title(#title)));
        let docs = docs::of(&self.block.attrs);
        let description =
            (!docs.is_empty()).then(|| quote!(.description(#support::doc(&[#(#docs),*]))));
        quote!(#support::Implementation::new(#name, #version) #title #description)
    }
}

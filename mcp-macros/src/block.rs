//! `#[mcp::server]` and `#[mcp::tools]`: an `impl` block, and its routes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, ImplItem, Item, ItemImpl, Type, WherePredicate};

use crate::docs;
use crate::errors::Errors;
use crate::extras;
use crate::method::{RouteMethod, cfgs};
use crate::options::{Options, Root, at};
use crate::route::Kind as RouteKind;

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
                "icon",
                "website",
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
    let root = options.root(&mut errors);
    let methods = read_methods(&mut block, &root, &mut errors);
    if let Some((of, _)) = &block.trait_ {
        let message = format!(
            "`{}` belongs on an `impl` block of the type itself, not of a trait",
            kind.attribute()
        );
        errors.at(of, message);
        return quote!(#errors #block);
    }
    if kind == Kind::Tools && !methods.any {
        let message = "no function in this block has `#[tool]`, `#[resource]`, `#[prompt]` or \
                       `#[completion]`";
        errors.add(syn::Error::new(Span::call_site(), message));
    }
    let emitted = Emitted {
        root,
        routes: routes_name(&mut options, &block.self_ty, &mut errors),
        block: &block,
        methods: &methods,
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
                "`{}` belongs on an `impl` block: `impl MyServer {{ … }}`",
                kind.attribute()
            );
            Err(syn::Error::new_spanned(other, message))
        }
    }
}

struct Methods {
    /// Those without mistakes.
    methods: Vec<RouteMethod>,
    /// There is one, with mistakes or without.
    any: bool,
    /// One of them has a receiver, with mistakes or without.
    take_self: bool,
}

fn read_methods(block: &mut ItemImpl, root: &Root, errors: &mut Errors) -> Methods {
    let mut methods: Vec<RouteMethod> = Vec::new();
    let (mut any, mut take_self) = (false, false);
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some(kind) = method.attrs.iter().find_map(RouteKind::of) else {
            continue;
        };
        any = true;
        take_self |= method.sig.receiver().is_some();
        let Some(method) = RouteMethod::read(kind, root, method, errors) else {
            continue;
        };
        let same = |other: &&RouteMethod| {
            // Of two functions of one name the compiler speaks itself.
            other.key() == method.key()
                && other.ident() != method.ident()
                && !(other.is_conditional() || method.is_conditional())
        };
        if let Some(other) = methods.iter().find(same) {
            errors.at(
                method.ident(),
                same_key(other.ident(), kind, &method.key().1),
            );
        }
        methods.push(method);
    }
    check_completions(&methods, errors);
    Methods {
        methods,
        any,
        take_self,
    }
}

/// What completes an argument of a prompt or a template in this block names one that there is.
fn check_completions(methods: &[RouteMethod], errors: &mut Errors) {
    for what in methods.iter().filter_map(RouteMethod::completes) {
        let is_owner = |other: &&RouteMethod| other.key() == (what.kind, what.owner.clone());
        let owner = methods.iter().find(is_owner);
        let Some(known) = owner.and_then(RouteMethod::argument_names) else {
            continue;
        };
        if !known.contains(&&*what.argument) {
            let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            let message = format!(
                "`{}` has no argument `{}`; it has {}",
                what.owner,
                what.argument,
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                }
            );
            errors.at(what.at, message);
        }
    }
}

fn same_key(other: &Ident, kind: RouteKind, key: &str) -> String {
    match kind {
        RouteKind::Tool | RouteKind::Prompt => {
            let noun = kind.noun();
            format!("`{other}` is a {noun} named `{key}`, too; rename one of them")
        }
        RouteKind::Resource => {
            format!("`{other}` is the resource `{key}`, too; give one of them another URI")
        }
        RouteKind::Completion => format!("`{other}` completes {key}, too; remove one of them"),
    }
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
    root: Root,
    routes: Ident,
    block: &'a ItemImpl,
    methods: &'a Methods,
}

impl Emitted<'_> {
    /// What a type lacks is told where it is written.
    fn span(&self) -> Span {
        at(self.block.self_ty.span())
    }

    fn cfgs(&self) -> TokenStream {
        let cfgs = cfgs(&self.block.attrs);
        quote!(#(#cfgs)*)
    }

    /// Calls share the value. Written as a bound, a type that cannot be shared is told once, and
    /// not again for each of its tools.
    fn shared(&self) -> WherePredicate {
        syn::parse_quote_spanned! {self.span()=>
            Self: ::core::marker::Send + ::core::marker::Sync + 'static
        }
    }

    /// `fn tools(self: Arc<Self>) -> Routes`, or `fn tools() -> Routes` where none of them needs a value.
    fn routes(&self) -> TokenStream {
        let span = self.span();
        let mut generics = self.block.generics.clone();
        if self.methods.take_self {
            generics.make_where_clause().predicates.push(self.shared());
        }
        let (generics, _, bounds) = generics.split_for_impl();
        let (cfgs, ty, function) = (self.cfgs(), &self.block.self_ty, self.function());
        quote_spanned! {span=>
            #cfgs
            #[allow(trivial_bounds)]
            impl #generics #ty #bounds {
                /// The marked functions of an `impl` block, as routes.
                #[allow(
                    deprecated,
                    unused_imports,
                    unused_qualifications,
                    clippy::all,
                    clippy::nursery,
                    clippy::pedantic
                )]
                #function
            }
        }
    }

    /// The function, but for its attributes. For the compiler its head and its braces are the
    /// user's own: it does not warn of unused code that a macro wrote.
    fn function(&self) -> TokenStream {
        let (span, users) = (self.span(), self.routes.span());
        let (root, support) = (self.root.at(span), self.root.support(span));
        let methods = self.methods.methods.iter();
        let methods = methods.map(|method| method.route(&self.root));
        let this = self.methods.take_self.then(|| quote_spanned!(users=> self));
        let receiver = this
            .as_ref()
            .map(|this| quote_spanned!(users=> #this: ::std::sync::Arc<Self>));
        let share = this.map(|this| quote_spanned!(span=> let this = #this;));
        let body = quote_spanned! {span=>
            use #support::{
                ByCall as _, ByCompletion as _, ByContents as _, ByPrompt as _, ByResult as _,
                ByValue as _, ByWrapper as _, NoCompletion as _, NoContents as _, NoPrompt as _,
                NoResult as _,
            };
            #share
            let routes = #root::Routes::new();
            #(#methods)*
            routes
        };
        let (name, path) = (&self.routes, self.root.spanned(users));
        quote_spanned! {users=>
            pub(crate) fn #name(#receiver) -> #path::Routes { #body }
        }
    }

    fn server(&self, options: &mut Options, errors: &mut Errors) -> TokenStream {
        let span = self.span();
        let (root, support) = (self.root.at(span), self.root.support(span));
        let (cfgs, ty, name) = (self.cfgs(), &self.block.self_ty, &self.routes);
        let mut generics = self.block.generics.clone();
        generics.make_where_clause().predicates.push(self.shared());
        let (generics, _, bounds) = generics.split_for_impl();
        let info = info(self.block, &support, options, errors);
        let instructions = options.expr("instructions", errors);
        let instructions = instructions.map(|text| quote!(.instructions(#text)));
        let routes = match self.methods.take_self {
            true => quote_spanned!(span=> Self::#name(self)),
            false => quote_spanned!(span=> Self::#name()),
        };
        quote_spanned! {span=>
            #cfgs
            #[automatically_derived]
            #[allow(trivial_bounds)]
            impl #generics #support::ServerBlock for #ty #bounds {
                fn server(self: ::std::sync::Arc<Self>) -> #root::Server {
                    #root::Server::with_info(#info) #instructions .merge(#routes)
                }
            }

            #cfgs
            #[automatically_derived]
            #[allow(trivial_bounds)]
            impl #generics #root::IntoServer for #ty #bounds {
                fn into_server(self) -> #root::Server {
                    #support::ServerBlock::server(::std::sync::Arc::new(self))
                }
            }
        }
    }
}

/// Who the server is.
fn info(
    block: &ItemImpl,
    support: &TokenStream,
    options: &mut Options,
    errors: &mut Errors,
) -> TokenStream {
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
    let icons = options.expr("icon", errors);
    let icons = icons.map(|given| extras::icons(&given, support));
    let website = options.expr("website", errors);
    let website = website.map(|url| quote!(.website_url(#url)));
    let docs = docs::of(&block.attrs);
    let description =
        (!docs.is_empty()).then(|| quote!(.description(#support::doc(&[#(#docs),*]))));
    quote!(#support::Implementation::new(#name, #version) #title #description #icons #website)
}

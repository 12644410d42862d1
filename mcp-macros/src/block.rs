//! `#[mcp::server]`: an `impl` block and the code that is generated for it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ImplItem, Item, ItemImpl, WherePredicate};

use crate::docs;
use crate::errors::Errors;
use crate::extras;
use crate::method::{RouteMethod, cfgs, remove_attribute};
use crate::options::{CratePath, Options, hygienic};
use crate::route::{FnPosition, Route, RouteAttribute, RouteKind};

const ATTRIBUTE: &str = "#[mcp::server]";

const OPTIONS: &[&str] = &[
    "name",
    "version",
    "title",
    "instructions",
    "icon",
    "website",
    "routes",
    "crate",
];

/// Expands `#[mcp::server]`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut options = Options::parse(ATTRIBUTE, options, OPTIONS, &mut errors);
    let mut block = match impl_block(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            errors.add(error);
            return quote!(#errors #item);
        }
    };
    let crate_path = options.crate_path(&mut errors);
    let methods = read_methods(&mut block, &crate_path, &mut errors);
    if let Some((trait_path, _)) = &block.trait_ {
        let message =
            format!("`{ATTRIBUTE}` belongs on an `impl` block of the type itself, not of a trait");
        errors.add_at(trait_path, message);
        return quote!(#errors #block);
    }
    let routes_name = routes_name(&mut options, &mut errors);
    let generated = GeneratedCode {
        crate_path,
        block: &block,
        methods: &methods,
    };
    let code = match routes_name {
        Some(name) => {
            options.refuse_others("routes", &mut errors);
            if !methods.is_any_marked {
                let message = "no function in this block has `#[tool]`, `#[resource]`, `#[prompt]` or \
                               `#[completion]`";
                errors.add(syn::Error::new(Span::call_site(), message));
            }
            generated.routes(&name)
        }
        None => generated.server(&mut options, &mut errors),
    };
    quote!(#block #code #errors)
}

fn impl_block(item: TokenStream) -> syn::Result<ItemImpl> {
    match syn::parse2(item)? {
        Item::Impl(block) => Ok(block),
        other => {
            let message =
                format!("`{ATTRIBUTE}` belongs on an `impl` block: `impl MyServer {{ … }}`");
            Err(syn::Error::new_spanned(other, message))
        }
    }
}

/// The marked methods of a block.
struct Methods {
    /// Methods without errors.
    valid: Vec<RouteMethod>,
    /// At least one method is marked, with or without errors.
    is_any_marked: bool,
    /// At least one marked method has a receiver, with or without errors.
    needs_self: bool,
}

fn read_methods(block: &mut ItemImpl, crate_path: &CratePath, errors: &mut Errors) -> Methods {
    let mut valid: Vec<RouteMethod> = Vec::new();
    let (mut is_any_marked, mut needs_self) = (false, false);
    let signatures: Vec<_> = block
        .items
        .iter()
        .filter_map(|item| match item {
            ImplItem::Fn(method) => Some(method.sig.clone()),
            _ => None,
        })
        .collect();
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some(kind) = method.attrs.iter().find_map(RouteKind::from_attribute) else {
            continue;
        };
        is_any_marked = true;
        needs_self |= method.sig.receiver().is_some();
        let Some(attribute) = remove_attribute(kind, &mut method.attrs, errors) else {
            continue;
        };
        let attribute = RouteAttribute::parse(kind, &attribute, FnPosition::Method, errors);
        let function = (&mut method.attrs, &mut method.sig);
        let method = RouteMethod::read(
            FnPosition::Method,
            attribute,
            crate_path,
            function,
            &signatures,
            errors,
        );
        let Some(method) = method else { continue };
        needs_self |= method.list_needs_self();
        let is_duplicate = |other: &&RouteMethod| {
            // If both functions have the same identifier, the compiler reports it.
            other.key() == method.key()
                && other.ident != method.ident
                && !(other.is_conditional() || method.is_conditional())
        };
        if let Some(other) = valid.iter().find(is_duplicate) {
            let message = duplicate_message(&other.ident, &method.route);
            errors.add_at(&method.ident, message);
        }
        valid.push(method);
    }
    check_completions(&valid, errors);
    Methods {
        valid,
        is_any_marked,
        needs_self,
    }
}

/// Checks that completions for prompts and templates of this block name existing arguments.
fn check_completions(methods: &[RouteMethod], errors: &mut Errors) {
    let targets = methods.iter();
    for target in targets.filter_map(|method| method.route.completes.as_ref()) {
        let is_owner = |other: &&RouteMethod| other.key() == (target.kind, &*target.owner);
        let owner = methods.iter().find(is_owner);
        let Some(known) = owner.and_then(RouteMethod::argument_names) else {
            continue;
        };
        if !known.contains(&&*target.argument) {
            let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            let message = format!(
                "`{}` has no argument `{}`; it has {}",
                target.owner,
                target.argument,
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                }
            );
            errors.add_at(&target.argument_expr, message);
        }
    }
}

fn duplicate_message(other: &Ident, Route { kind, key, .. }: &Route) -> String {
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

/// Returns the name of `routes = name`. The name has a span of the user's code, so that the compiler
/// warns when the function is unused.
fn routes_name(options: &mut Options, errors: &mut Errors) -> Option<Ident> {
    let value = options.expr("routes", errors)?;
    let name = match &value {
        Expr::Path(path) => path.path.get_ident().cloned(),
        _ => None,
    };
    if name.is_none() {
        let message = "`routes` needs the name of a function, such as `more_tools`";
        errors.add_at(&value, message);
    }
    Some(name.unwrap_or_else(|| Ident::new("routes", value.span())))
}

/// The code that is generated after the block.
struct GeneratedCode<'a> {
    crate_path: CratePath,
    block: &'a ItemImpl,
    methods: &'a Methods,
}

impl GeneratedCode<'_> {
    /// Returns the span at which the compiler reports missing traits of the type.
    fn span(&self) -> Span {
        hygienic(self.block.self_ty.span())
    }

    fn cfgs(&self) -> TokenStream {
        let cfgs = cfgs(&self.block.attrs);
        quote!(#(#cfgs)*)
    }

    /// Returns the bounds on `Self`, which concurrent calls share. Because the bounds are explicit, the
    /// compiler reports a violation once, not for each tool.
    fn shared_bounds(&self) -> WherePredicate {
        syn::parse_quote_spanned! {self.span()=>
            Self: ::core::marker::Send + ::core::marker::Sync + 'static
        }
    }

    /// Returns the `impl` block with `fn name(self: Arc<Self>) -> Routes`, or `fn name() -> Routes` if
    /// no function needs `self`.
    fn routes(&self, name: &Ident) -> TokenStream {
        let span = self.span();
        let mut generics = self.block.generics.clone();
        if self.methods.needs_self {
            let bounds = self.shared_bounds();
            generics.make_where_clause().predicates.push(bounds);
        }
        let (generics, _, bounds) = generics.split_for_impl();
        let (cfgs, ty) = (self.cfgs(), &self.block.self_ty);
        let (allowed, function) = (allowed(span), self.function(name));
        quote_spanned! {span=>
            #cfgs
            #[allow(trivial_bounds)]
            impl #generics #ty #bounds {
                /// Returns the marked functions of an `impl` block as routes.
                #allowed
                #function
            }
        }
    }

    /// Returns the function without its attributes. The signature and the braces have spans of the
    /// user's code: the compiler would not warn about an unused function with the macro's spans.
    fn function(&self, name: &Ident) -> TokenStream {
        let users = name.span();
        let this = quote_spanned!(users=> self);
        let body = self.body(&this);
        let receiver = self
            .methods
            .needs_self
            .then(|| quote_spanned!(users=> #this: ::std::sync::Arc<Self>));
        let private = self.crate_path.private_unhygienic(users);
        quote_spanned! {users=>
            pub(crate) fn #name(#receiver) -> #private::Routes { #body }
        }
    }

    /// Returns statements and an expression that evaluate to the routes; `this` is the `Arc` with the
    /// value.
    fn body(&self, this: &TokenStream) -> TokenStream {
        let span = self.span();
        let private = self.crate_path.private(span);
        let methods = self.methods.valid.iter();
        let methods = methods.map(|method| method.add_statement(&self.crate_path));
        let share = self
            .methods
            .needs_self
            .then(|| quote_spanned!(span=> let __this = #this;));
        let imports = probe_traits(&private, span);
        quote_spanned! {span=>
            #imports
            #share
            let __routes = #private::Routes::new();
            #(#methods)*
            __routes
        }
    }

    fn server(&self, options: &mut Options, errors: &mut Errors) -> TokenStream {
        let span = self.span();
        let private = self.crate_path.private(span);
        let (cfgs, ty, allowed) = (self.cfgs(), &self.block.self_ty, allowed(span));
        let mut generics = self.block.generics.clone();
        let bounds = self.shared_bounds();
        generics.make_where_clause().predicates.push(bounds);
        let (generics, _, bounds) = generics.split_for_impl();
        let info = implementation(self.block, &private, options, errors);
        let instructions = options.setter("instructions", errors);
        let body = self.body(&quote_spanned!(span=> self));
        quote_spanned! {span=>
            #cfgs
            #[automatically_derived]
            #[allow(trivial_bounds)]
            impl #generics #private::OnlyBlockWithoutRoutes for #ty #bounds {
                fn server(self: ::std::sync::Arc<Self>) -> #private::Server {
                    #allowed
                    let __routes = { #body };
                    #private::Server::with_info(#info) #instructions .merge(__routes)
                }
            }
        }
    }
}

/// Returns the lints that generated code does not follow.
pub(crate) fn allowed(span: Span) -> TokenStream {
    quote_spanned! {span=>
        #[allow(
            deprecated,
            unused_imports,
            unused_qualifications,
            clippy::all,
            clippy::nursery,
            clippy::pedantic
        )]
    }
}

/// Returns the imports of the traits whose methods generated code calls.
pub(crate) fn probe_traits(private: &TokenStream, span: Span) -> TokenStream {
    quote_spanned! {span=>
        use #private::{
            IsArgument as _, IsCompletion as _, IsContents as _, IsExtractor as _,
            IsGenericExtractor as _, IsPrompt as _, IsToolResult as _, NotCompletion as _,
            NotContents as _, NotPrompt as _, NotToolResult as _,
        };
    }
}

/// Returns the server's `Implementation`: name, version, title, description, icons, website.
fn implementation(
    block: &ItemImpl,
    private: &TokenStream,
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
    let title = options.setter("title", errors);
    let icons = options.expr("icon", errors);
    let icons = icons.map(|given| extras::icons(&given, private));
    let website = options.expr("website", errors);
    let website = website.map(|url| quote!(.website_url(#url)));
    let description = docs::description(&block.attrs, private);
    quote!(#private::Implementation::new(#name, #version) #title #description #icons #website)
}

//! `#[tool]` and its counterparts on a free function: the function becomes a route.
//!
//! A unit struct takes the function's name. It converts into the route and into `Routes`. It also
//! dereferences to a function pointer, so code can still call the function by its name. The function itself
//! moves into an anonymous constant. There it shadows the struct, because a parameter cannot have a unit
//! struct's name, but can have its function's name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, FnArg, ItemFn, Lifetime, Signature, Type, TypeReference, Visibility};

use crate::block::{allowed, probe_traits};
use crate::errors::Errors;
use crate::method::{RouteMethod, anonymize_lifetimes, cfgs, remove_attribute};
use crate::options::{CratePath, hygienic};
use crate::route::{FnPosition, RouteAttribute, RouteKind};

/// Expands the attribute on a free function.
pub(crate) fn expand(kind: RouteKind, options: TokenStream, item: TokenStream) -> TokenStream {
    let mut function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(_) => return misplaced(kind, item),
    };
    if function.sig.receiver().is_some() {
        return misplaced(kind, item);
    }
    let mut errors = Errors::default();
    let name = Ident::new(kind.noun(), Span::call_site());
    let attribute: Attribute = if options.is_empty() {
        syn::parse_quote!(#[#name])
    } else {
        syn::parse_quote!(#[#name(#options)])
    };
    function.attrs.insert(0, attribute);
    let original = function.sig.clone();
    let Some(attribute) = remove_attribute(kind, &mut function.attrs, &mut errors) else {
        return quote!(#errors #function);
    };
    let mut attribute = RouteAttribute::parse(kind, &attribute, FnPosition::Free, &mut errors);
    let crate_path = attribute.crate_path(&mut errors);
    let parts = (&mut function.attrs, &mut function.sig);
    let route = RouteMethod::read(
        FnPosition::Free,
        attribute,
        &crate_path,
        parts,
        &[],
        &mut errors,
    );
    match route {
        Some(route) => {
            let code = generate(&route, &crate_path, &original, &mut function);
            quote!(#errors #code)
        }
        None => quote!(#errors #function),
    }
}

/// Keeps the item, and adds an error that says where the attribute belongs.
fn misplaced(kind: RouteKind, item: TokenStream) -> TokenStream {
    let message = format!(
        "`#[{}]` belongs on a function: on a free one, or on one in an `impl` block that has \
         `#[mcp::server]`",
        kind.noun()
    );
    let error = syn::Error::new(Span::call_site(), message).to_compile_error();
    quote!(#error #item)
}

fn generate(
    route: &RouteMethod,
    crate_path: &CratePath,
    original: &Signature,
    function: &mut ItemFn,
) -> TokenStream {
    let ident = &route.ident;
    let span = hygienic(ident.span());
    let private = crate_path.private(span);
    let visibility = std::mem::replace(&mut function.vis, Visibility::Inherited);
    let documentation = function.attrs.iter();
    let documentation: Vec<_> = documentation
        .filter(|attribute| attribute.path().is_ident("doc"))
        .collect();
    let cfgs = cfgs(&function.attrs);
    let (add, ty) = (route.route.add_method(), route.route.route_type());
    let (allowed, imports) = (allowed(span), probe_traits(&private, span));
    let route_expr = route.route_expr(crate_path);
    let pointer = pointer(route, original);
    let structure = quote_spanned! {ident.span()=>
        #(#documentation)*
        #(#cfgs)*
        #[allow(non_camel_case_types)]
        #[derive(
            ::core::clone::Clone,
            ::core::marker::Copy,
            ::core::fmt::Debug,
        )]
        #visibility struct #ident;
    };
    quote_spanned! {span=>
        #structure

        #(#cfgs)*
        const _: () = {
            #function

            #[automatically_derived]
            impl ::core::convert::From<#ident> for #private::#ty {
                #allowed
                fn from(_: #ident) -> Self {
                    #imports
                    #route_expr
                }
            }

            #[automatically_derived]
            impl ::core::convert::From<#ident> for #private::Routes {
                fn from(__function: #ident) -> Self {
                    #private::Routes::new().#add(__function)
                }
            }

            #pointer
        };
    }
}

/// Returns the `Deref` implementation that makes the struct callable like the function.
fn pointer(route: &RouteMethod, original: &Signature) -> TokenStream {
    let ident = &route.ident;
    let span = hygienic(ident.span());
    let is_async = original.asyncness.is_some();
    let mut anonymize = anonymize_lifetimes(original);
    let types = original.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(param) => Some((*param.ty).clone()),
        FnArg::Receiver(_) => None,
    });
    let types: Vec<Type> = types
        .map(|mut ty| {
            anonymize.visit_type_mut(&mut ty);
            // The boxed future is `'static`, so it cannot borrow arguments.
            if is_async {
                StaticLifetimes.visit_type_mut(&mut ty);
            }
            ty
        })
        .collect();
    let mut output = route.output.clone();
    if is_async {
        StaticLifetimes.visit_type_mut(&mut output);
        output = syn::parse_quote_spanned! {span=>
            ::core::pin::Pin<::std::boxed::Box<
                dyn ::core::future::Future<Output = #output> + ::core::marker::Send,
            >>
        };
    }
    let values: Vec<_> = (0..types.len())
        .map(|index| Ident::new(&format!("__value_{index}"), span))
        .collect();
    let mut callee = ident.clone();
    callee.set_span(span);
    let call = quote_spanned!(span=> #callee(#(#values),*));
    let call = if is_async {
        quote_spanned!(span=> ::std::boxed::Box::pin(#call))
    } else {
        call.into_token_stream()
    };
    quote_spanned! {span=>
        #[automatically_derived]
        impl ::core::ops::Deref for #ident {
            type Target = fn(#(#types),*) -> #output;

            #[allow(deprecated, clippy::all, clippy::nursery, clippy::pedantic)]
            fn deref(&self) -> &Self::Target {
                const FUNCTION: fn(#(#types),*) -> #output = |#(#values),*| #call;
                &FUNCTION
            }
        }
    }
}

/// Replaces all lifetimes by `'static`.
struct StaticLifetimes;

impl VisitMut for StaticLifetimes {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        lifetime.ident = Ident::new("static", lifetime.ident.span());
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        let span = reference.and_token.span;
        reference
            .lifetime
            .get_or_insert_with(|| Lifetime::new("'static", span));
        visit_mut::visit_type_reference_mut(self, reference);
    }
}

//! `#[derive(Output)]`: a type as structured content.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::DeriveInput;

use crate::errors::Errors;
use crate::options::{Options, at};

/// Expands the derive.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let mut attributes = input
        .attrs
        .iter()
        .filter(|found| found.path().is_ident("output"));
    let mut options = Options::of("#[output]", attributes.next(), &["crate"], &mut errors);
    for second in attributes {
        errors.at(second, "write all options in one `#[output(…)]`");
    }
    let name = &input.ident;
    // What the type lacks is told where it is written.
    let span = at(name.span());
    let root = options.root(&mut errors).at(span);
    let mut generics = input.generics;
    let bounds = generics.make_where_clause();
    bounds.predicates.push(syn::parse_quote_spanned! {span=>
        Self: #root::macro_support::Serialize + #root::macro_support::JsonSchema
    });
    let (impls, types, bounds) = generics.split_for_impl();
    let implementation = quote_spanned! {span=>
        #[automatically_derived]
        #[allow(trivial_bounds)]
        impl #impls #root::IntoToolResult for #name #types #bounds {
            fn into_tool_result(
                self,
            ) -> ::core::result::Result<#root::macro_support::CallToolResult, #root::ToolError> {
                #root::IntoToolResult::into_tool_result(#root::Json(self))
            }

            fn output_schema() -> ::core::option::Option<#root::macro_support::JsonObject> {
                <#root::Json<Self> as #root::IntoToolResult>::output_schema()
            }
        }
    };
    quote!(#errors #implementation)
}

//! `#[derive(Output)]`: a type as structured content of a tool.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::DeriveInput;

use crate::errors::Errors;
use crate::options::{Options, hygienic};

/// Expands the derive.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let mut options = Options::of_derive("#[output]", &input.attrs, &["crate"], &mut errors);
    let name = &input.ident;
    // The compiler reports missing traits at the type's name.
    let span = hygienic(name.span());
    let private = options.crate_path(&mut errors).private(span);
    let mut generics = input.generics;
    let bounds = generics.make_where_clause();
    bounds.predicates.push(syn::parse_quote_spanned! {span=>
        Self: #private::Serialize + #private::JsonSchema
    });
    let (impl_generics, type_generics, bounds) = generics.split_for_impl();
    let implementation = quote_spanned! {span=>
        #[automatically_derived]
        #[allow(trivial_bounds)]
        impl #impl_generics #private::IntoToolResult for #name #type_generics #bounds {
            fn into_tool_result(
                self,
            ) -> ::core::result::Result<#private::CallToolResult, #private::ToolError> {
                #private::IntoToolResult::into_tool_result(#private::Json(self))
            }

            fn output_schema() -> ::core::option::Option<#private::JsonObject> {
                <#private::Json<Self> as #private::IntoToolResult>::output_schema()
            }
        }
    };
    quote!(#errors #implementation)
}

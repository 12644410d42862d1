//! The client: a struct with a method for each item of the catalog.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::{doc, method_docs};
use super::types;
use crate::model::{Kind, Method, Model};
use crate::names::ident;
use crate::types::{Shape, Type};

pub(crate) fn client(model: &Model) -> TokenStream {
    let name = ident(&model.name);
    let methods = model.methods.iter().map(|item| method(item, model));
    let templates = templates(model);
    let arguments = model
        .methods
        .iter()
        .filter_map(|method| method.arguments.as_ref());
    let types = types::definitions(&model.types, arguments);
    let imports = super::imports();
    quote! {
        #imports
        use ::mcp::typed::TypedCall;

        /// The server's calls, with types.
        #[derive(Debug, Clone)]
        pub struct #name {
            client: ::mcp::Client,
        }
        impl #name {
            /// Wraps a connected client.
            pub fn new(client: ::mcp::Client) -> Self {
                Self { client }
            }
            /// The client of all calls.
            pub fn client(&self) -> &::mcp::Client {
                &self.client
            }
            #(#methods)*
        }
        #types
        #templates
    }
}

/// Returns the parameter with the arguments of a method.
pub(super) fn parameter(method: &Method, model: &Model) -> Option<TokenStream> {
    let ty = types::reference(method.arguments.as_ref()?, &model.types);
    Some(match method.kind {
        Kind::Template => quote!(variables: #ty,),
        _ => quote!(arguments: #ty,),
    })
}

fn method(method: &Method, model: &Model) -> TokenStream {
    let docs = doc(&method_docs(method));
    let (name, key) = (ident(&method.name), &method.key);
    let parameter = parameter(method, model);
    let passed = match method.arguments {
        Some(_) => quote!(arguments),
        None => quote!(()),
    };
    let (result, call) = match method.kind {
        Kind::Tool => match &method.output {
            None => (
                quote!(::mcp::PreparedCall<'a, ::mcp::CallToolResult>),
                quote!(self.client.call(#key, #passed)),
            ),
            Some(output) => {
                let output = types::reference(output, &model.types);
                (
                    quote!(TypedCall<'a, #output>),
                    quote!(TypedCall::new(self.client.call(#key, #passed))),
                )
            }
        },
        Kind::Prompt => (
            quote!(::mcp::PreparedCall<'a, ::mcp::types::GetPromptResult>),
            quote!(self.client.get_prompt(#key, #passed)),
        ),
        Kind::Template | Kind::Resource => {
            let uri = match method.arguments {
                Some(_) => quote!(variables.uri()),
                None => quote!(#key),
            };
            (
                quote!(::mcp::PreparedCall<'a, ::mcp::types::ReadResourceResult>),
                quote!(self.client.read_resource(#uri)),
            )
        }
    };
    quote! {
        #docs
        pub fn #name<'a>(&self, #parameter) -> #result {
            #call
        }
    }
}

/// Returns the conversion of variables to URIs.
pub(super) fn templates(model: &Model) -> TokenStream {
    let templates = model
        .methods
        .iter()
        .filter(|method| method.kind == Kind::Template);
    let implementations = templates.filter_map(|method| {
        let Type::Named(slot) = method.arguments.as_ref()? else {
            return None;
        };
        let Some(Shape::Struct { fields, .. }) = model.types.shape(*slot) else {
            return None;
        };
        let name = ident(model.types.name(*slot));
        let template = &method.key;
        let values = fields.iter().map(|field| {
            let (key, name) = (&field.key, ident(&field.name));
            if field.required.is_some() {
                quote!((#key, Some(self.#name.as_str())))
            } else {
                quote!((#key, self.#name.as_deref()))
            }
        });
        Some(quote! {
            impl #name {
                /// The URI with these variables.
                pub fn uri(&self) -> String {
                    ::mcp::types::uri_template::expand(#template, &[#(#values),*])
                }
            }
        })
    });
    implementations.collect()
}

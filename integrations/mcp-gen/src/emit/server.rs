//! The server: a trait with a method for each item of the catalog, and a function that serves it.

use proc_macro2::TokenStream;
use quote::quote;

use super::client::{parameter, templates};
use super::docs::{doc, method_docs};
use super::types;
use crate::model::{Kind, Method, Model};
use crate::names::ident;

pub(crate) fn server(model: &Model) -> TokenStream {
    let name = ident(&model.name);
    let methods = model
        .methods
        .iter()
        .map(|method| declaration(method, model));
    let routes = model.methods.iter().map(|method| route(method, model));
    let outputs = model
        .methods
        .iter()
        .filter_map(|method| method.output.as_ref());
    let definitions = types::definitions(&model.types, outputs);
    let imports = super::imports();
    let templates = templates(model);
    quote! {
        #imports

        /// The tools, prompts and resources of the server. [`server`] serves an implementation.
        pub trait #name: Send + Sync + 'static {
            #(#methods)*
        }
        /// Creates a server from an implementation, with the package's name and version.
        pub fn server<T: #name>(implementation: T) -> ::mcp::Server {
            let name = env!("CARGO_PKG_NAME");
            let version = env!("CARGO_PKG_VERSION");
            ::mcp::typed::CatalogServer::new(name, version, CATALOG, implementation)
                #(#routes)*
                .finish()
        }
        #definitions
        #templates
    }
}

/// Returns the `Result` type of a method.
fn outcome(method: &Method, model: &Model) -> TokenStream {
    match method.kind {
        Kind::Tool => {
            let output = match &method.output {
                Some(ty) => types::reference(ty, &model.types),
                None => quote!(::mcp::CallToolResult),
            };
            quote!(Result<#output, ::mcp::ToolError>)
        }
        Kind::Prompt => {
            quote!(Result<::mcp::types::GetPromptResult, ::mcp::PromptError>)
        }
        Kind::Template | Kind::Resource => {
            quote!(Result<::mcp::types::ReadResourceResult, ::mcp::ResourceError>)
        }
    }
}

fn declaration(method: &Method, model: &Model) -> TokenStream {
    let docs = doc(&method_docs(method));
    let name = ident(&method.name);
    let parameter = parameter(method, model);
    let outcome = outcome(method, model);
    quote! {
        #docs
        fn #name(
            &self,
            #parameter
            call: ::mcp::CallContext,
        ) -> impl ::std::future::Future<Output = #outcome> + Send;
    }
}

fn route(method: &Method, model: &Model) -> TokenStream {
    let (name, key) = (ident(&method.name), &method.key);
    let (pattern, passed) = match &method.arguments {
        Some(ty) => {
            let ty = types::reference(ty, &model.types);
            (quote!(arguments: #ty), quote!(arguments, call))
        }
        None => (quote!(_: Value), quote!(call)),
    };
    let add = match (method.kind, &method.output) {
        (Kind::Tool, Some(_)) => quote!(typed_tool),
        (Kind::Tool, None) => quote!(tool),
        (Kind::Prompt, _) => quote!(prompt),
        (Kind::Template, _) => quote!(template),
        (Kind::Resource, _) => quote!(resource),
    };
    quote! {
        .#add(#key, |implementation: ::std::sync::Arc<T>, #pattern, call| async move {
            implementation.#name(#passed).await
        })
    }
}

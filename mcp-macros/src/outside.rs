//! `#[tool]` and its counterparts outside of a block with `#[mcp::server]` or `#[mcp::tools]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ItemFn;

use crate::route::RouteKind;

/// Reports where the attribute belongs and keeps the item.
pub(crate) fn expand(kind: RouteKind, item: TokenStream) -> TokenStream {
    let mut message = format!(
        "`#[{}]` belongs on a function in an `impl` block that has `#[mcp::server]` or \
         `#[mcp::tools]`",
        kind.noun()
    );
    if let Ok(function) = syn::parse2::<ItemFn>(item.clone())
        && function.sig.receiver().is_none()
    {
        let name = &function.sig.ident;
        let by_hand = match kind {
            RouteKind::Tool => format!("Tool::new(\"{name}\").handler({name})"),
            RouteKind::Resource => format!("Resource::new(\"…\").read({name})"),
            RouteKind::Prompt => format!("Prompt::new(\"{name}\").handler({name})"),
            RouteKind::Completion => format!("CompletionRoute::prompt(\"…\", \"…\", {name})"),
        };
        message +=
            &format!("; without such a block write `{by_hand}`, with extractors as parameters");
    }
    let error = syn::Error::new(Span::call_site(), message).to_compile_error();
    quote!(#error #item)
}

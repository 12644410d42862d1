//! `#[tool]` where no block looks for it.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ItemFn;

/// Says where it belongs, and leaves the item as it is.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut message = "`#[tool]` belongs on a function in an `impl` block that has \
                       `#[mcp::server]` or `#[mcp::tools]`"
        .to_owned();
    if let Ok(function) = syn::parse2::<ItemFn>(item.clone())
        && function.sig.receiver().is_none()
    {
        let name = &function.sig.ident;
        message += &format!(
            "; without such a block write `Tool::new(\"{name}\").handler({name})`, with extractors as parameters"
        );
    }
    let error = syn::Error::new(Span::call_site(), message).to_compile_error();
    quote!(#error #item)
}

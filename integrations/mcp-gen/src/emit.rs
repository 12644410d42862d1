//! The generated code.

mod client;
mod docs;
mod server;
mod types;

use proc_macro2::TokenStream;
use quote::quote;

pub(crate) use client::client;
pub(crate) use server::server;

/// Lints that do not apply to generated code: it is not documented everywhere, and not all of it is used.
pub(crate) fn allow() -> TokenStream {
    quote! {
        allow(
            clippy::all,
            clippy::nursery,
            clippy::pedantic,
            clippy::restriction,
            dead_code,
            missing_docs,
            rustdoc::all,
            unnameable_types,
            unreachable_pub,
            unused_imports,
            unused_qualifications
        )
    }
}

/// The names that generated code uses without a path. No generated type has one of them.
fn imports() -> TokenStream {
    quote! {
        use ::std::collections::BTreeMap;

        use ::mcp::typed::serde::{Deserialize, Serialize};
        use ::mcp::typed::Value;
    }
}

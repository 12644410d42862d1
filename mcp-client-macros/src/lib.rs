//! The macro [`client!`], which generates a typed client from a snapshot of a server.
//!
//! Use it through the crate `mcp` (feature `client-macros`). The code comes from `mcp-gen`, which is
//! compiled for the compiler only: nothing of it is a part of the program.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_client::catalog::Snapshot;
use mcp_gen::Generator;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, LitStr, Token, Visibility, parse_macro_input};

/// Largest snapshot: 64 MiB.
const MAX_BYTES: u64 = 64 << 20;

/// Generates a module with a typed client from the snapshot of a server.
///
/// The path is relative to the folder of the package's `Cargo.toml`. `mcp snapshot TARGET -o FILE` writes
/// the file. The package is compiled again when the file changes.
///
/// ```no_run
/// mcp::client!("tests/shop.json", mod shop);
///
/// # async fn example(client: mcp::Client) -> mcp::Result<()> {
/// let shop = shop::Shop::new(client);
/// let sum = shop.add(shop::AddInput::new(1.0, 2.0)).await?;
/// # Ok(())
/// # }
/// ```
///
/// The module contains the struct (named like the module), the types of arguments and results, and the
/// snapshot as `CATALOG`. The module may have attributes and a visibility: `pub mod shop`.
///
/// The guide has the rules: `mcp::guide::typed_clients`.
#[proc_macro]
pub fn client(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as Input);
    input
        .expand()
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// `"FILE", mod NAME`
struct Input {
    file: LitStr,
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let usage = "write `mcp::client!(\"shop.json\", mod shop);`";
        let explain = |error: syn::Error| syn::Error::new(error.span(), usage);
        let file = input.parse().map_err(explain)?;
        input.parse::<Token![,]>().map_err(explain)?;
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![mod]>().map_err(explain)?;
        let name = input.parse().map_err(explain)?;
        input.parse::<Option<Token![;]>>()?;
        if !input.is_empty() {
            return Err(input.error(usage));
        }
        Ok(Self {
            file,
            attributes,
            visibility,
            name,
        })
    }
}

impl Input {
    fn expand(&self) -> syn::Result<TokenStream> {
        let failed = |message: String| syn::Error::new(self.file.span(), message);
        let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let folder = folder.ok_or_else(|| {
            failed("`CARGO_MANIFEST_DIR` is not set; compile with cargo".to_owned())
        })?;
        let shown = self.file.value();
        let path = folder.join(&shown);
        let text = read(&path).map_err(|error| {
            failed(format!(
                "cannot read `{shown}` in the folder of `Cargo.toml`: {error}; write it with \
                 `mcp snapshot TARGET -o {shown}`"
            ))
        })?;
        let snapshot: Snapshot = text
            .parse()
            .map_err(|error| failed(format!("`{shown}`: {error}")))?;
        let generated = Generator::client(self.name.to_string())
            .generate(&snapshot)
            .map_err(|error| failed(format!("`{shown}`: {error}")))?;
        let Self {
            attributes,
            visibility,
            name,
            ..
        } = self;
        let (allow, items) = (generated.allow(), generated.tokens());
        // `include_str!` makes the compiler track the file.
        let path = path.display().to_string();
        let path = LitStr::new(&path, Span::call_site());
        Ok(quote! {
            #(#attributes)*
            #[#allow]
            #visibility mod #name {
                #items
                /// The catalog of which this module was generated, as JSON.
                pub const CATALOG: &str = include_str!(#path);
            }
        })
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let size = fs::metadata(path)?.len();
    if size > MAX_BYTES {
        return Err(std::io::Error::other("a snapshot has at most 64 MiB"));
    }
    fs::read_to_string(path)
}

//! [`GenerateError`].

/// The reason why no code can be generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The catalogue has too many tools, prompts, resources and templates.
    #[error(
        "the catalogue has {count} items, more than the limit of {limit}; generate from a part of it"
    )]
    TooMany {
        /// The number of items.
        count: usize,
        /// The largest number.
        limit: usize,
    },
    /// The generated code is malformed: an error of this library.
    #[error("the generated code is malformed: {0}; please report the catalogue that causes this")]
    Malformed(syn::Error),
    /// A file is no Rust.
    #[error("the file is no Rust: {0}; generate it again with `mcp gen`")]
    NotRust(syn::Error),
    /// A file has no catalogue.
    #[error("the file has no `CATALOGUE`; generate it with `mcp gen`")]
    NoCatalogue,
    /// The catalogue of a file is malformed.
    #[error("the `CATALOGUE` of the file is malformed: {0}; generate it again with `mcp gen`")]
    Catalogue(#[from] mcp_catalogue::SnapshotError),
}

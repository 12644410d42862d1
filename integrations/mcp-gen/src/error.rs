//! [`GenerateError`].

/// The reason why no code can be generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The catalog has too many tools, prompts, resources and templates.
    #[error(
        "the catalog has {count} items, more than the limit of {limit}; generate from a part of it"
    )]
    TooMany {
        /// The number of items.
        count: usize,
        /// The largest number.
        limit: usize,
    },
    /// The generated code is malformed: an error of this library.
    #[error("the generated code is malformed: {0}; please report the catalog that causes this")]
    Malformed(syn::Error),
    /// A file has no catalog.
    #[error("the file has no `CATALOG`; generate it with `mcp gen`")]
    NoCatalog,
    /// The catalog of a file is malformed.
    #[error("the `CATALOG` of the file is malformed: {0}; generate it again with `mcp gen`")]
    Catalog(#[from] mcp_client::catalog::SnapshotError),
}

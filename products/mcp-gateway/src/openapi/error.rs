//! [`OpenApiError`].

/// The error of an OpenAPI document, or of its settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenApiError {
    /// The document is neither JSON nor YAML.
    #[error("the OpenAPI document cannot be read: {0}")]
    Malformed(String),
    /// The document is longer than the limit.
    #[error("the OpenAPI document is longer than {0} bytes, the limit")]
    TooLong(usize),
    /// The document is not one of OpenAPI 3.
    #[error("{0} is not supported; convert the document to OpenAPI 3.0 or 3.1")]
    Version(String),
    /// The base URL has no scheme `http` or `https`, no host, or a query.
    #[error("{0:?} is not a base URL; use `https://HOST/PATH` without a query")]
    BaseUrl(String),
    /// A header cannot be sent.
    #[error("the header {0:?} cannot be sent")]
    Header(String),
    /// No operation is selected.
    #[error("the OpenAPI document has no operation with the selected tags and methods")]
    NoOperation,
}

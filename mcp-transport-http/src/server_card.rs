//! Names of server cards, which servers and clients use.

/// MIME type of a card.
pub(crate) const CARD_MIME_TYPE: &str = "application/mcp-server-card+json";
/// Path of a domain's catalog.
pub(crate) const CATALOG_PATH: &str = "/.well-known/ai-catalog.json";

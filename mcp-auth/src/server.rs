//! Server authorization: the check of access tokens, as a tower layer.
//!
//! | layer | modules | content |
//! |---|---|---|
//! | 1 | `cache`, `identity`, `verifier` | bounded caches, values for handlers, the trait of verifiers |
//! | 2 | `jwt` | signatures, keys and claims of tokens |
//! | 3 | `issuer`, `introspection`, `static_tokens`, `proof_memory`, `proof` | sources of verified tokens, proofs of possession |
//! | 4 | `challenge` | refusals |
//! | 5 | `protection` | the check of a request |
//! | 6 | `layer`, `settings`, then `serve`, `exchange`, `identity_header` | the tower layer, the builder, the authorization of `Serve`, tokens for other services, callers in a signed header |

mod cache;
mod challenge;
mod exchange;
mod identity;
mod identity_header;
mod introspection;
mod issuer;
mod jwt;
mod layer;
mod proof;
mod proof_memory;
mod protection;
mod serve;
mod settings;
mod static_tokens;
mod verifier;

pub use exchange::TokenExchange;
pub use identity::{AccessToken, Claims};
pub use identity_header::IdentityHeader;
pub use introspection::Introspection;
pub use jwt::Algorithm;
pub use layer::Protected;
pub use protection::Protection;
pub use settings::ResourceServer;
pub use static_tokens::StaticTokens;
pub use verifier::{TokenVerifier, VerifiedToken, VerifyError};

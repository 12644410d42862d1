//! JSON Web Tokens: signatures, keys, and the claims of access tokens.
//!
//! Spec: RFC 7515, RFC 7517, RFC 7518, RFC 7519, RFC 9068.

mod algorithm;
mod claims;
mod jwk;
mod jws;

pub use algorithm::Algorithm;
pub(super) use claims::{ClaimRules, check, from_claims};
pub(super) use jwk::{Jwk, KeySet, UNKNOWN_KEY, WRONG_ALGORITHM};
pub(super) use jws::{INVALID_SIGNATURE, Jws, claims_of, unverified_issuer};

//! Signature algorithms.

use ring::signature::{self, RsaParameters, VerificationAlgorithm};

/// An asymmetric signature algorithm of tokens. Symmetric algorithms and `none` do not exist here.
///
/// # Examples
///
/// ```
/// use mcp::auth::{Algorithm, ResourceServer};
///
/// let auth = ResourceServer::new("https://mcp.example.com/mcp")
///     .issuer("https://login.example.com")
///     .algorithms([Algorithm::Es256]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// RSA PKCS#1 v1.5 with SHA-256.
    Rs256,
    /// RSA PKCS#1 v1.5 with SHA-384.
    Rs384,
    /// RSA PKCS#1 v1.5 with SHA-512.
    Rs512,
    /// RSA PSS with SHA-256.
    Ps256,
    /// RSA PSS with SHA-384.
    Ps384,
    /// RSA PSS with SHA-512.
    Ps512,
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// ECDSA with P-384 and SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

/// The implementation of an algorithm.
pub(super) enum Verification {
    Rsa(&'static RsaParameters),
    Other(&'static dyn VerificationAlgorithm),
}

use Verification::{Other, Rsa};

impl Algorithm {
    /// Algorithms that are accepted by default.
    pub(in crate::server) const DEFAULT: [Self; 5] = [
        Self::Rs256,
        Self::Ps256,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
    ];

    /// Reads the name in a header. `None` for symmetric and unknown algorithms, and for `none`.
    pub(in crate::server) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }

    /// The name in headers and metadata, such as `ES256`.
    pub(crate) fn name(self) -> &'static str {
        self.parts().0
    }

    pub(super) fn verification(self) -> Verification {
        self.parts().1
    }

    fn parts(self) -> (&'static str, Verification) {
        match self {
            Self::Rs256 => ("RS256", Rsa(&signature::RSA_PKCS1_2048_8192_SHA256)),
            Self::Rs384 => ("RS384", Rsa(&signature::RSA_PKCS1_2048_8192_SHA384)),
            Self::Rs512 => ("RS512", Rsa(&signature::RSA_PKCS1_2048_8192_SHA512)),
            Self::Ps256 => ("PS256", Rsa(&signature::RSA_PSS_2048_8192_SHA256)),
            Self::Ps384 => ("PS384", Rsa(&signature::RSA_PSS_2048_8192_SHA384)),
            Self::Ps512 => ("PS512", Rsa(&signature::RSA_PSS_2048_8192_SHA512)),
            Self::Es256 => ("ES256", Other(&signature::ECDSA_P256_SHA256_FIXED)),
            Self::Es384 => ("ES384", Other(&signature::ECDSA_P384_SHA384_FIXED)),
            Self::EdDsa => ("EdDSA", Other(&signature::ED25519)),
        }
    }
}

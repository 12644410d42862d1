//! TLS that trusts the operating system's certificates.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// Returns a TLS configuration that trusts the operating system's certificates, and `roots`.
pub(super) fn config(roots: Vec<CertificateDer<'static>>) -> Result<ClientConfig, Error> {
    // A provider that the program has installed for the whole process is used here, too.
    let provider = CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(ring::default_provider()));
    let verifier = SystemRoots {
        provider: provider.clone(),
        roots,
        verifier: OnceLock::new(),
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// A verifier that loads the trusted certificates at the first handshake: loading takes
/// milliseconds, and plain HTTP must work on machines without certificates.
#[derive(Debug)]
struct SystemRoots {
    provider: Arc<CryptoProvider>,
    /// Trusted in addition.
    roots: Vec<CertificateDer<'static>>,
    verifier: OnceLock<Result<Verifier, Error>>,
}

impl SystemRoots {
    #[cfg(not(target_os = "android"))]
    fn load(&self) -> Result<Verifier, Error> {
        Verifier::new_with_extra_roots(self.roots.iter().cloned(), self.provider.clone())
    }

    /// The verifier of Android takes no further certificates.
    #[cfg(target_os = "android")]
    fn load(&self) -> Result<Verifier, Error> {
        Verifier::new(self.provider.clone())
    }
}

impl ServerCertVerifier for SystemRoots {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verifier = self.verifier.get_or_init(|| self.load());
        verifier.as_ref().map_err(Error::clone)?.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        )
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

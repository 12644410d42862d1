//! The export's HTTP client.

use std::sync::Arc;
use std::thread;

use reqwest::blocking::Client;
use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::init_error::InitError;

/// Builds the export's HTTP client. `uses_tls`: an endpoint is an `https` URL. Its certificates
/// are those of the operating system, which are loaded only then.
pub(crate) fn client(uses_tls: bool) -> Result<Client, InitError> {
    let config = config(uses_tls)?;
    // A dedicated thread, because the client blocks, which runtime threads must not.
    let building =
        thread::spawn(move || Client::builder().tls_backend_preconfigured(config).build());
    let client = building.join().map_err(|_| InitError::Client {
        reason: "the thread that builds it has panicked".to_owned(),
    })?;
    client.map_err(|error| InitError::Client {
        reason: error.to_string(),
    })
}

fn config(uses_tls: bool) -> Result<ClientConfig, InitError> {
    let error = |error: rustls::Error| InitError::Client {
        reason: error.to_string(),
    };
    // A provider that the program has installed for the whole process is used here, too.
    let provider = CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(ring::default_provider()));
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(error)?;
    let config = if uses_tls {
        let verifier = Verifier::new(provider).map_err(error)?;
        config
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
    } else {
        config.with_root_certificates(RootCertStore::empty())
    };
    Ok(config.with_no_client_auth())
}

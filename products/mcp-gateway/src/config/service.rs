//! Servers of OpenAPI documents in a configuration file.

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use http::Method;
use mcp_client::{ClientBuilder, Error, Over};
use mcp_core::{InProcessChannel, ServerIdentity};
use mcp_server::Server;

use super::error::ConfigError;
use super::file::OpenApiConfig;
use crate::openapi::{OpenApi, OpenApiError};
use crate::settings::server::GatewayServer;

/// Returns the server of a service with this base URL and these headers, and the header that it passes on.
pub(super) fn server(
    name: &str,
    key: &str,
    config: &OpenApiConfig,
    (url, headers, forwarded): (&str, &[(String, String)], Option<&str>),
    create: &dyn Fn(OpenApi) -> Result<Server, OpenApiError>,
) -> Result<GatewayServer, ConfigError> {
    let key = format!("{key}.openapi");
    let invalid = |error: &dyn fmt::Display| ConfigError::invalid(&key, error.to_string());
    let limit = config.max_document_bytes.unwrap_or(OpenApi::MAX_BYTES);
    let document = mcp_files::read(&config.document, limit as u64).map_err(|error| {
        let message = format!("the file {:?} cannot be read: {error}", config.document);
        ConfigError::invalid(format!("{key}.document"), message)
    })?;
    let api = match OpenApi::parse_within(&document, limit) {
        Ok(api) => api,
        // The other servers of the gateway are served: this one fails, with the reason in log and status.
        Err(error) => return Ok(unusable(name, &key, error)),
    };
    let mut api = api.base_url(url).map_err(|error| invalid(&error))?;
    for (name, value) in headers {
        api = api.header(name, value).map_err(|error| invalid(&error))?;
    }
    if let Some(name) = forwarded {
        let forwarding = api.forward_header(name);
        api = forwarding.map_err(|error| invalid(&error))?;
    }
    if let Some(tags) = &config.tags {
        api = api.tags(tags);
    }
    if let Some(methods) = &config.methods {
        let methods = methods.iter().map(|method| {
            let method = method.to_ascii_uppercase();
            Method::from_bytes(method.as_bytes())
                .map_err(|error| ConfigError::invalid(format!("{key}.methods"), error.to_string()))
        });
        api = api.methods(methods.collect::<Result<Vec<_>, _>>()?);
    }
    if let Some(bytes) = config.max_response_bytes {
        api = api.max_response_bytes(bytes);
    }
    let server = match create(api) {
        Ok(server) => Arc::new(server),
        Err(error @ OpenApiError::NoOperation) => return Ok(unusable(name, &key, error)),
        Err(error) => return Err(invalid(&error)),
    };
    let settings = format!("{config:?}");
    let mut parts = vec![&*document, url, &settings, forwarded.unwrap_or_default()];
    parts.extend(headers.iter().flat_map(|(name, value)| [&**name, &**value]));
    let id = ServerIdentity::from_parts("openapi", parts).to_string();
    let connect =
        move |client: ClientBuilder| client.connect(Over(InProcessChannel::new(server.clone())));
    Ok(GatewayServer::new(name, connect).connection_id(id))
}

/// Returns a server that cannot be connected, because of its document.
fn unusable(name: &str, key: &str, error: OpenApiError) -> GatewayServer {
    tracing::warn!(key, error = %mcp_types::escaped(&error), "the server of an OpenAPI document cannot be used");
    GatewayServer::new(name, move |_| ready(Err(Error::other(error.clone()))))
}

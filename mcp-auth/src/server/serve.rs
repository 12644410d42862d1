//! A protected server as the authorization of [`Serve`](mcp_transport_http::Serve).

use std::error::Error;

use mcp_transport_http::{Authorization, ProtectedEndpoint, StreamableHttp};

use super::layer::Protected;
use super::settings::ResourceServer;
use crate::egress::{Zone, zone_of_url};

impl Authorization for ResourceServer {
    type Service = Protected<StreamableHttp>;

    fn host(&self) -> Option<String> {
        let url = self
            .0
            .url()
            .filter(|url| zone_of_url(url) != Zone::Loopback)?;
        url.host_str().map(str::to_owned)
    }

    fn path(&self) -> Option<String> {
        self.0.url().map(|url| url.path().to_owned())
    }

    fn protect(
        self,
        endpoint: StreamableHttp,
    ) -> Result<ProtectedEndpoint<Self::Service>, Box<dyn Error + Send + Sync>> {
        let protection = self.owns_origin().build()?;
        Ok(ProtectedEndpoint {
            service: protection.protect(endpoint),
            paths: protection.metadata_paths().map(str::to_owned).collect(),
        })
    }
}

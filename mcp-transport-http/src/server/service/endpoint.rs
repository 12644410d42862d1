//! Endpoint state, shared by its clones.

use std::sync::Arc;

use mcp_core::{ServerProfile, Service};

use super::super::config::{Config, SessionMode};
use super::super::session::{SessionContext, SessionTable};
use super::super::sse_2024::SseConnections;
use super::source::{ModernProfiles, ServiceSource};

/// Endpoint state, shared by its clones. A setting that is changed later copies it.
#[derive(Clone)]
pub(super) struct EndpointState {
    pub(super) services: ServiceSource,
    pub(super) config: Arc<Config>,
    pub(super) sessions: Arc<SessionTable>,
    /// Connections of the transport HTTP+SSE.
    pub(super) sse_connections: Arc<SseConnections>,
    modern_profiles: Arc<ModernProfiles>,
}

impl EndpointState {
    pub(super) fn new(services: ServiceSource) -> Self {
        Self {
            services,
            config: Arc::default(),
            sessions: Arc::default(),
            sse_connections: Arc::default(),
            modern_profiles: Arc::default(),
        }
    }

    /// Returns the profile of `service`, without the legacy versions when they are not served.
    // spec: GAP-07
    pub(super) fn profile(&self, service: &dyn Service) -> Arc<ServerProfile> {
        let profile = service.profile();
        if self.config.sessions.mode == SessionMode::Off && has_legacy_versions(&profile) {
            return self.modern_profiles.get(&profile);
        }
        profile
    }

    /// Returns true when the endpoint serves legacy clients of a service with this profile.
    // spec: COMPAT-01
    pub(super) fn serves_legacy(&self, profile: &ServerProfile) -> bool {
        self.config.sessions.mode != SessionMode::Off && has_legacy_versions(profile)
    }

    pub(super) fn session_context<'a>(
        &'a self,
        service: &'a Arc<dyn Service>,
    ) -> SessionContext<'a> {
        SessionContext {
            table: &self.sessions,
            config: &self.config,
            service,
        }
    }

    /// Ends all sessions.
    pub(super) fn close_all(&self) {
        self.sessions.end_all();
        self.sse_connections.end_all();
    }
}

fn has_legacy_versions(profile: &ServerProfile) -> bool {
    profile.versions.iter().any(|version| !version.is_modern())
}

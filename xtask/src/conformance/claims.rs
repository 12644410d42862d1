//! The scenarios that this project claims to pass, with the checks in them that are still open. The
//! command reports an open check that succeeds, so that it can be removed from its claim.

use std::fmt;

/// The side of the protocol that is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leg {
    Server,
    Client,
}

impl fmt::Display for Leg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Server => "server",
            Self::Client => "client",
        })
    }
}

/// A scenario that has to pass.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) leg: Leg,
    pub(crate) revision: &'static str,
    pub(crate) scenario: &'static str,
    /// Minimum number of successful checks, so that a scenario without checks does not pass.
    pub(crate) successes: usize,
    /// The scenario of an extension, which the suite runs at no revision by itself.
    pub(crate) is_extension: bool,
    pub(crate) open: &'static [Open],
}

/// A check that need not succeed yet.
#[derive(Debug)]
pub(crate) struct Open {
    /// The id of the check, or its name if several checks have the same id.
    pub(crate) check: &'static str,
    pub(crate) reason: &'static str,
}

/// The claims of a leg.
pub(crate) fn of(leg: Leg) -> impl Iterator<Item = &'static Claim> {
    CLAIMS.iter().filter(move |claim| claim.leg == leg)
}

const MODERN: &str = "2026-07-28";

const fn server(scenario: &'static str, successes: usize) -> Claim {
    Claim {
        leg: Leg::Server,
        revision: MODERN,
        scenario,
        successes,
        is_extension: false,
        open: &[],
    }
}

const fn client(scenario: &'static str, successes: usize) -> Claim {
    Claim {
        leg: Leg::Client,
        revision: MODERN,
        scenario,
        successes,
        is_extension: false,
        open: &[],
    }
}

const fn older_server(revision: &'static str, scenario: &'static str, successes: usize) -> Claim {
    Claim {
        revision,
        ..server(scenario, successes)
    }
}

const fn older_client(revision: &'static str, scenario: &'static str, successes: usize) -> Claim {
    Claim {
        revision,
        ..client(scenario, successes)
    }
}

const fn server_extension(scenario: &'static str, successes: usize) -> Claim {
    Claim {
        is_extension: true,
        ..server(scenario, successes)
    }
}

const fn extension(revision: &'static str, scenario: &'static str, successes: usize) -> Claim {
    Claim {
        is_extension: true,
        ..older_client(revision, scenario, successes)
    }
}

const CLAIMS: &[Claim] = &[
    server("tools-list", 4),
    server("tools-call-simple-text", 2),
    server("tools-call-image", 2),
    server("tools-call-audio", 2),
    server("tools-call-embedded-resource", 2),
    server("tools-call-mixed-content", 2),
    server("tools-call-error", 2),
    server("tools-call-with-progress", 2),
    server("json-schema-2020-12", 8),
    // A server that responds with streams has one more success. Ours responds with JSON, which the
    // suite reports as information.
    server("server-sse-multiple-streams", 1),
    server("resources-list", 2),
    server("resources-read-text", 2),
    server("resources-read-binary", 2),
    server("resources-templates-read", 2),
    server("sep-2164-resource-not-found", 4),
    server("prompts-list", 2),
    server("prompts-get-simple", 2),
    server("prompts-get-with-args", 2),
    server("prompts-get-embedded-resource", 2),
    server("prompts-get-with-image", 2),
    server("completion-complete", 2),
    server("input-required-result-basic-elicitation", 3),
    server("input-required-result-basic-sampling", 3),
    server("input-required-result-basic-list-roots", 3),
    server("input-required-result-request-state", 3),
    server("input-required-result-multiple-input-requests", 3),
    server("input-required-result-multi-round", 4),
    server("input-required-result-missing-input-response", 2),
    server("input-required-result-non-tool-request", 3),
    server("input-required-result-result-type", 2),
    server("input-required-result-unsupported-methods", 2),
    server("input-required-result-tampered-state", 2),
    server("input-required-result-capability-check", 2),
    server("input-required-result-ignore-extra-params", 2),
    server("input-required-result-validate-input", 3),
    server("caching", 8),
    server("dns-rebinding-protection", 2),
    server("http-header-validation", 14),
    server("http-custom-header-server-validation", 10),
    server("server-stateless", 30),
    // `tasks-status-notifications` has no checks yet; the suite always skips it.
    server_extension("tasks-lifecycle", 9),
    server_extension("tasks-capability-negotiation", 5),
    server_extension("tasks-wire-fields", 4),
    server_extension("tasks-request-state-removal", 3),
    server_extension("tasks-mrtr-input", 4),
    server_extension("tasks-request-headers", 5),
    server_extension("tasks-dispatch-and-envelope", 9),
    server_extension("tasks-required-task-error", 3),
    server_extension("tasks-mrtr-composition", 2),
    older_server("2025-11-25", "server-initialize", 3),
    older_server("2025-11-25", "server-session-lifecycle", 3),
    older_server("2025-11-25", "logging-set-level", 2),
    older_server("2025-11-25", "ping", 2),
    older_server("2025-11-25", "completion-complete", 2),
    older_server("2025-11-25", "tools-list", 3),
    older_server("2025-11-25", "tools-call-simple-text", 2),
    older_server("2025-11-25", "tools-call-image", 2),
    older_server("2025-11-25", "tools-call-audio", 2),
    older_server("2025-11-25", "tools-call-embedded-resource", 2),
    older_server("2025-11-25", "tools-call-mixed-content", 2),
    older_server("2025-11-25", "tools-call-with-logging", 2),
    older_server("2025-11-25", "tools-call-error", 2),
    older_server("2025-11-25", "tools-call-with-progress", 2),
    older_server("2025-11-25", "tools-call-sampling", 2),
    older_server("2025-11-25", "tools-call-elicitation", 2),
    older_server("2025-11-25", "json-schema-2020-12", 8),
    older_server("2025-11-25", "elicitation-sep1034-defaults", 6),
    older_server("2025-11-25", "server-sse-polling", 3),
    older_server("2025-11-25", "server-sse-multiple-streams", 1),
    older_server("2025-11-25", "elicitation-sep1330-enums", 6),
    older_server("2025-11-25", "resources-list", 2),
    older_server("2025-11-25", "resources-read-text", 2),
    older_server("2025-11-25", "resources-read-binary", 2),
    older_server("2025-11-25", "resources-templates-read", 2),
    older_server("2025-11-25", "resources-subscribe", 2),
    older_server("2025-11-25", "resources-unsubscribe", 2),
    older_server("2025-11-25", "prompts-list", 2),
    older_server("2025-11-25", "prompts-get-simple", 2),
    older_server("2025-11-25", "prompts-get-with-args", 2),
    older_server("2025-11-25", "prompts-get-embedded-resource", 2),
    older_server("2025-11-25", "prompts-get-with-image", 2),
    older_server("2025-11-25", "dns-rebinding-protection", 2),
    older_server("2025-06-18", "server-initialize", 3),
    older_server("2025-06-18", "server-session-lifecycle", 3),
    older_server("2025-06-18", "logging-set-level", 2),
    older_server("2025-06-18", "ping", 2),
    older_server("2025-06-18", "completion-complete", 2),
    older_server("2025-06-18", "tools-list", 2),
    older_server("2025-06-18", "tools-call-simple-text", 2),
    older_server("2025-06-18", "tools-call-image", 2),
    older_server("2025-06-18", "tools-call-audio", 2),
    older_server("2025-06-18", "tools-call-embedded-resource", 2),
    older_server("2025-06-18", "tools-call-mixed-content", 2),
    older_server("2025-06-18", "tools-call-with-logging", 2),
    older_server("2025-06-18", "tools-call-error", 2),
    older_server("2025-06-18", "tools-call-with-progress", 2),
    older_server("2025-06-18", "tools-call-sampling", 2),
    older_server("2025-06-18", "tools-call-elicitation", 2),
    older_server("2025-06-18", "resources-list", 2),
    older_server("2025-06-18", "resources-read-text", 2),
    older_server("2025-06-18", "resources-read-binary", 2),
    older_server("2025-06-18", "resources-templates-read", 2),
    older_server("2025-06-18", "resources-subscribe", 2),
    older_server("2025-06-18", "resources-unsubscribe", 2),
    older_server("2025-06-18", "prompts-list", 2),
    older_server("2025-06-18", "prompts-get-simple", 2),
    older_server("2025-06-18", "prompts-get-with-args", 2),
    older_server("2025-06-18", "prompts-get-embedded-resource", 2),
    older_server("2025-06-18", "prompts-get-with-image", 2),
    older_server("2025-03-26", "server-session-lifecycle", 3),
    client("tools_call", 2),
    client("request-metadata", 8),
    client("sep-2322-client-request-state", 5),
    Claim {
        open: HEADERS_OPEN,
        ..client("http-standard-headers", 9)
    },
    client("http-custom-headers", 18),
    client("http-invalid-tool-headers", 12),
    client("json-schema-ref-no-deref", 1),
    client("json-schema-2020-12-preservation", 9),
    older_client("2025-06-18", "initialize", 1),
    older_client("2025-06-18", "tools_call", 2),
    older_client("2025-11-25", "initialize", 1),
    older_client("2025-11-25", "tools_call", 2),
    older_client("2025-11-25", "elicitation-sep1034-client-defaults", 5),
    older_client("2025-11-25", "sse-retry", 3),
    older_client("2025-11-25", "json-schema-2020-12-preservation", 9),
    client("auth/metadata-default", 20),
    client("auth/metadata-var1", 20),
    client("auth/metadata-var2", 20),
    client("auth/metadata-var3", 20),
    client("auth/basic-cimd", 14),
    client("auth/scope-from-www-authenticate", 16),
    client("auth/scope-from-scopes-supported", 16),
    client("auth/scope-omitted-when-undefined", 16),
    client("auth/scope-step-up", 25),
    client("auth/scope-retry-limit", 11),
    client("auth/token-endpoint-auth-basic", 21),
    client("auth/token-endpoint-auth-post", 21),
    client("auth/token-endpoint-auth-none", 21),
    client("auth/pre-registration", 14),
    client("auth/resource-mismatch", 2),
    client("auth/offline-access-scope", 14),
    client("auth/offline-access-not-supported", 16),
    client("auth/authorization-server-migration", 29),
    client("auth/iss-supported", 16),
    client("auth/iss-not-advertised", 16),
    client("auth/iss-supported-missing", 8),
    client("auth/iss-wrong-issuer", 8),
    client("auth/iss-unexpected", 8),
    client("auth/iss-normalized", 8),
    client("auth/metadata-issuer-mismatch", 3),
    older_client("2025-11-25", "auth/metadata-default", 20),
    older_client("2025-11-25", "auth/metadata-var1", 20),
    older_client("2025-11-25", "auth/metadata-var2", 20),
    older_client("2025-11-25", "auth/metadata-var3", 20),
    older_client("2025-11-25", "auth/basic-cimd", 15),
    older_client("2025-11-25", "auth/scope-from-www-authenticate", 16),
    older_client("2025-11-25", "auth/scope-from-scopes-supported", 16),
    older_client("2025-11-25", "auth/scope-omitted-when-undefined", 16),
    older_client("2025-11-25", "auth/scope-step-up", 22),
    older_client("2025-11-25", "auth/scope-retry-limit", 10),
    older_client("2025-11-25", "auth/token-endpoint-auth-basic", 21),
    older_client("2025-11-25", "auth/token-endpoint-auth-post", 21),
    older_client("2025-11-25", "auth/token-endpoint-auth-none", 21),
    older_client("2025-11-25", "auth/pre-registration", 15),
    older_client(
        "2025-03-26",
        "auth/2025-03-26-oauth-metadata-backcompat",
        14,
    ),
    older_client("2025-03-26", "auth/2025-03-26-oauth-endpoint-fallback", 9),
    extension(MODERN, "auth/client-credentials-jwt", 9),
    extension(MODERN, "auth/client-credentials-basic", 9),
    extension(MODERN, "auth/enterprise-managed-authorization", 10),
    extension(MODERN, "auth/dpop", 13),
    extension(MODERN, "auth/dpop-nonce", 15),
    extension(MODERN, "auth/wif-jwt-bearer", 9),
    extension("2025-11-25", "auth/client-credentials-jwt", 10),
    extension("2025-11-25", "auth/client-credentials-basic", 10),
    extension("2025-11-25", "auth/enterprise-managed-authorization", 11),
    extension("2025-11-25", "auth/dpop", 12),
    extension("2025-11-25", "auth/dpop-nonce", 14),
    extension("2025-11-25", "auth/wif-jwt-bearer", 10),
    // Together 42 checks.
    server_extension("sep-2640-skills-enumeration", 31),
    server_extension("sep-2640-skills-directory", 6),
    server_extension("sep-2640-skills-manifest", 5),
    extension(MODERN, "sep-2640-client-no-prefetch", 1),
    extension(MODERN, "sep-2640-client-verify-digest", 1),
    extension(MODERN, "sep-2640-client-verify-size", 1),
    extension(MODERN, "sep-2640-client-verify-frontmatter", 1),
    extension("2025-11-25", "sep-2640-client-no-prefetch", 1),
    extension("2025-11-25", "sep-2640-client-verify-digest", 1),
    extension("2025-11-25", "sep-2640-client-verify-size", 1),
    extension("2025-11-25", "sep-2640-client-verify-frontmatter", 1),
];

const NOT_MODERN: &str = "2026-07-28 has no such message";

const HEADERS_OPEN: &[Open] = &[
    Open {
        check: "ClientMcpMethodHeader_initialize",
        reason: NOT_MODERN,
    },
    Open {
        check: "ClientMcpMethodHeader_notifications_initialized",
        reason: NOT_MODERN,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::CLAIMS;

    #[test]
    fn claims_are_unique_and_require_successes() {
        let mut seen = HashSet::new();
        for claim in CLAIMS {
            assert!(seen.insert((claim.leg.to_string(), claim.revision, claim.scenario)));
            assert!(claim.successes > 0, "{}", claim.scenario);
        }
    }
}

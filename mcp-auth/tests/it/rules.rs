//! The rules of thumb for clients, each with its tests or the reason why it has none.
//!
//! Ids: `D` are attacks of the threat model, `A.16` the rules for URLs that servers name, `A.17` the
//! limits. Attacks on servers (D.1 to D.11, D.13, D.14, D.22 to D.25, D.37, D.39, D.41 to D.43) are not
//! listed: clients have no part in their defence.

use std::fs;
use std::path::Path;

/// One rule.
struct Rule {
    id: &'static str,
    rule: &'static str,
    tests: &'static [&'static str],
    /// The reason for a part of the rule without a test.
    reason: &'static str,
}

const fn rule(id: &'static str, rule: &'static str, tests: &'static [&'static str]) -> Rule {
    Rule {
        id,
        rule,
        tests,
        reason: "",
    }
}

const fn untested(
    id: &'static str,
    rule: &'static str,
    tests: &'static [&'static str],
    reason: &'static str,
) -> Rule {
    Rule {
        id,
        rule,
        tests,
        reason,
    }
}

#[rustfmt::skip]
const RULES: &[Rule] = &[
    rule("D.12", "deeply nested JSON is refused", &["depth_ignores_strings", "metadata_that_is_no_metadata_ends_in_a_typed_error"]),
    rule("D.15", "compressed responses are neither requested nor inflated", &["compressed_response_is_not_inflated"]),
    rule("D.16", "URLs of servers cannot reach a more private network", &["public_server_reaches_public_addresses_only", "public_name_is_refused_if_it_resolves_to_private_address", "endpoints_with_other_schemes_and_networks_are_refused"]),
    rule("D.17", "authorization servers cannot be mixed up", &["callback_from_another_issuer_requests_no_token", "callback_from_another_login_requests_no_token", "metadata_from_another_issuer_is_not_used", "new_authorization_server_gets_no_old_credentials", "foreign_issuer_gets_no_request_in_any_grant", "ghsa_6x8h_code_stays_at_the_site_with_the_login_page"]),
    rule("D.18", "codes cannot be injected: PKCE, state, single use", &["finish_checks_state_issuer_and_error_in_this_order", "server_without_pkce_is_refused_unless_allowed", "callback_from_another_login_requests_no_token", "pkce_challenge_matches_rfc_7636"]),
    rule("D.19", "metadata of another resource is fatal", &["metadata_for_another_resource_is_fatal", "identifies_same_origin_and_whole_segments"]),
    rule("D.20", "secrets are not sent to a changed token endpoint", &["refresh_token_is_not_sent_to_a_new_token_endpoint", "redirected_token_request_is_not_followed", "ghsa_9g45_redirects_get_no_secret"]),
    rule("D.21", "tokens are not sent to a redirect target or another origin", &["token_is_sent_to_the_server_only", "redirects_stop_at_the_first_server", "redirect_fails_and_names_target_without_secrets"]),
    rule("D.26", "secrets are in no log, error, event or Debug; foreign text is one line", &["whole_flow_at_trace_level_shows_no_secret", "hostile_descriptions_stay_on_one_line", "foreign_text_is_one_short_line", "shown_url_has_no_secrets", "json_errors_quote_nothing", "records_are_encrypted_and_read_by_another_process"]),
    rule("D.27", "a login page is http or https, and one word", &["endpoints_with_other_schemes_and_networks_are_refused", "page_from_a_hostile_server_is_one_word_without_quotes"]),
    rule("D.28", "event streams and their lines are bounded", &["decode_event_over_the_limit_is_an_error", "decode_too_long_without_event_is_an_error", "stream_over_limits_fails_without_resumption"]),
    rule("D.29", "responses and lines of pipes are bounded", &["response_over_limit_fails", "line_beyond_the_limit_is_skipped"]),
    rule("D.30", "retries are bounded and delayed", &["delay_with_retry_time_is_at_least_that_time", "temporary_failure_keeps_the_refresh_token"]),
    rule("D.31", "refusals lead to few logins", &["token_that_is_always_refused_leads_to_one_login", "scope_that_was_requested_already_is_not_requested_again"]),
    rule("D.32", "rounds of input are bounded, and their state is sent back unchanged", &["input_rounds_over_limit_fail_call", "responses_have_their_keys_and_the_unchanged_state"]),
    rule("D.33", "schemas with references to other documents are refused", &["external_reference_is_refused", "circular_reference_without_a_step_is_refused"]),
    rule("D.34", "patterns of schemas take linear time", &["pattern_that_needs_backtracking_is_refused", "patterns_are_limited_in_total"]),
    rule("D.35", "lists end", &["repeated_page_ends_list_and_keeps_each_item_once", "list_over_default_page_limit_fails", "list_over_item_or_byte_limit_fails"]),
    rule("D.36", "a tool with invalid header annotations is dropped", &["tool_with_invalid_annotation_is_dropped"]),
    rule("D.38", "a cancelled call loses no refresh", &["callers_share_one_task_that_survives_them", "rotated_token_is_stored_before_it_is_used", "process_that_ends_between_rotation_and_use_loses_nothing", "panic_ends_the_task_only"]),
    untested("D.40", "secrets are compared in constant time", &[], "`Secret::matches` uses `subtle`; a measurement on a shared machine tells nothing"),
    rule("D.44", "requests of others to the redirect do not end the login", &["stray_requests_do_not_end_the_wait"]),
    rule("D.45", "files of tokens are private, whole, and encrypted with a keychain", &["records_are_private_and_replaced_as_a_whole", "damaged_record_counts_as_none", "changed_record_and_another_key_count_as_no_record", "machine_without_keychain_is_a_typed_error_and_stores_nothing"]),
    untested("D.46", "dependencies are checked", &[], "`cargo deny` in `cargo xtask ci`"),

    rule("A.16 notations", "every notation of an address is the address", &["public_server_reaches_public_addresses_only"]),
    rule("A.16 zones", "a server reaches its own zone and more public ones; addresses of cloud metadata never", &["servers_reach_their_own_zone_and_more_public_ones", "tokens_need_https_or_loopback"]),
    untested("A.16 names", "every address of a name is checked, and the checked ones are used", &["public_name_is_refused_if_it_resolves_to_private_address"], "a name with a changing address needs a name server; the connector gets the checked list, so there is no second lookup"),
    rule("A.16 redirects", "metadata: three redirects to the same origin; token requests: none", &["metadata_redirects_stay_at_the_origin_and_end", "redirected_token_request_is_not_followed"]),
    rule("A.16 list", "a listed origin is allowed", &["servers_reach_their_own_zone_and_more_public_ones"]),
    untested("A.16 proxy", "with a proxy, addresses in URLs are checked", &["public_server_reaches_public_addresses_only"], "the proxy resolves the names; documented in the guide"),
    rule("A.16 messages", "messages contain no response body", &["json_errors_quote_nothing", "read_refuses_unusable_tokens_without_quoting_them"]),

    untested("A.17 connect", "5 s to connect", &[], "an address that swallows packets is not on the loopback device; the limit of 15 s contains it"),
    rule("A.17 exchange", "15 s for a request with its response", &["silent_authorization_server_ends_in_a_typed_error", "trickling_authorization_server_ends_in_a_typed_error_within_the_limit", "hanging_endpoint_ends_in_a_typed_error_within_the_limit", "hanging_revocation_does_not_keep_the_tokens"]),
    rule("A.17 discovery", "30 s for all metadata", &["trickling_authorization_server_ends_in_a_typed_error_within_the_limit"]),
    rule("A.17 user", "300 s for a login", &["user_who_never_answers_ends_the_login"]),
    rule("A.17 body", "256 KiB for a response", &["endless_response_is_cut"]),
    rule("A.17 depth", "32 levels of JSON", &["depth_ignores_strings", "metadata_that_is_no_metadata_ends_in_a_typed_error"]),
    rule("A.17 servers", "8 authorization servers", &["ninth_authorization_server_is_not_considered"]),
    rule("A.17 redirects", "3 redirects", &["metadata_redirects_stay_at_the_origin_and_end"]),
    rule("A.17 token", "16 KiB for a token", &["read_refuses_tokens_over_16_kib"]),
    untested("A.17 logins", "at most 32 logins wait", &["parallel_requests_share_one_login"], "an authorizer has one login at a time"),
    untested("A.17 state", "a state is valid for 600 s", &["user_who_never_answers_ends_the_login"], "a state lives in the future of its login, which ends after 300 s"),
    rule("A.17 step-up", "2 logins for scopes per request", &["demanded_scope_is_added_to_those_so_far_with_one_login", "scope_that_was_requested_already_is_not_requested_again"]),
    rule("A.17 refresh", "3 attempts of a refresh", &["temporary_failure_keeps_the_refresh_token"]),
];

/// The crates whose tests are named.
const CRATES: [&str; 5] = [
    "mcp-auth",
    "mcp-client",
    "mcp-core",
    "mcp-transport-http",
    "mcp-transport-stdio",
];

#[test]
fn every_rule_has_a_test_or_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut sources = String::new();
    for name in CRATES {
        read(&root.join(name), &mut sources);
    }
    for one in RULES {
        let Rule { id, rule, .. } = one;
        let is_covered = !one.tests.is_empty() || !one.reason.is_empty();
        assert!(is_covered, "{id} ({rule}) has neither a test nor a reason");
        for test in one.tests {
            let function = format!("fn {test}(");
            assert!(
                sources.contains(&function),
                "the test {test} of {id} ({rule}) is missing"
            );
        }
    }
}

/// Appends the content of every Rust file below a folder.
fn read(folder: &Path, sources: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, sources);
        } else if path.extension().is_some_and(|end| end == "rs") {
            sources.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

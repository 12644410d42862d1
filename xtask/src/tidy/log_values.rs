//! Rule: log events of the library crates escape what they display. Text of a peer in an error, a name or an id could
//! otherwise begin a line that looks like one of the log.
//!
//! A finding is: a field with `%` whose value is not `escaped(…)`, `field::display`, and a message with a value in
//! braces. Plain fields of text and fields with `?` are quoted by subscribers, or escaped by `Debug`.

use proc_macro2::{TokenStream, TokenTree};

use crate::finding::Finding;
use crate::sources::{Sources, package};

/// Macros of `tracing` with fields and a message.
const MACROS: [&str; 12] = [
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "event",
    "span",
    "trace_span",
    "debug_span",
    "info_span",
    "warn_span",
    "error_span",
];

/// The log writer of the command escapes whole events.
const ESCAPING_WRITER: &str = "mcp-cli";

const FIELD: &str = "the log event displays a value; write `name = %escaped(&value)`";
const DISPLAY: &str =
    "`field::display` shows a value unescaped; write `field::display(escaped(&value))`";
const MESSAGE: &str =
    "the message of the log event has a value; write `\"… {}\", escaped(&value)`, or a field";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources.library() {
        if package(&file.path) != ESCAPING_WRITER {
            let mut report = |token: &TokenTree, message| {
                let line = token.span().start().line;
                findings.push(Finding::new(&file.path, line, message));
            };
            check_tokens(file.tokens(), &mut report);
        }
    }
    findings
}

fn check_tokens(tokens: TokenStream, report: &mut impl FnMut(&TokenTree, &'static str)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        if is_log_macro(&tokens[..at]) {
            check_event(group.stream(), report);
        }
        check_tokens(group.stream(), report);
    }
    for (at, token) in tokens.iter().enumerate() {
        let is_display = at > 1 && is_ident(token, "display") && is_punct(&tokens[at - 1], ':');
        let is_field = is_display && at > 2 && is_ident(&tokens[at - 3], "field");
        if is_field && !starts_escaped(tokens.get(at + 1)) {
            report(token, DISPLAY);
        }
    }
}

/// Returns true if the tokens end with the name of a macro and `!`.
fn is_log_macro(before: &[TokenTree]) -> bool {
    let [.., name, mark] = before else {
        return false;
    };
    is_punct(mark, '!') && MACROS.iter().any(|macro_name| is_ident(name, macro_name))
}

fn check_event(tokens: TokenStream, report: &mut impl FnMut(&TokenTree, &'static str)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for argument in tokens.split(|token| is_punct(token, ',')) {
        let sign = argument.iter().position(|token| is_punct(token, '%'));
        // In `a = b % c`, the sign is not the first of a value.
        let begins_value = |at: usize| at == 0 || is_punct(&argument[at - 1], '=');
        if let Some(at) = sign.filter(|at| begins_value(*at))
            && !is_escaped(&argument[at + 1..])
        {
            report(&argument[at], FIELD);
        }
    }
    let is_message = |argument: &&[TokenTree]| matches!(argument, [TokenTree::Literal(_)]);
    let mut arguments = tokens.split(|token| is_punct(token, ','));
    let Some([token]) = arguments.find(is_message) else {
        return;
    };
    // A span has its name there, and fields after it.
    let mut arguments = arguments.filter(|value| !value.iter().any(|token| is_punct(token, '=')));
    // The values of `{}` follow; those of `{name}` cannot be escaped.
    let text = token.to_string().replace("{{", "").replace("{}", "");
    if text.contains('{') || arguments.any(|value| !value.is_empty() && !is_escaped(value)) {
        report(token, MESSAGE);
    }
}

/// Returns true for `escaped(…)`, also with a path before it.
fn is_escaped(value: &[TokenTree]) -> bool {
    matches!(value, [.., name, TokenTree::Group(_)] if is_ident(name, "escaped"))
}

/// Returns true for the arguments `(escaped(…))`.
fn starts_escaped(arguments: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = arguments else {
        return false;
    };
    is_escaped(&group.stream().into_iter().collect::<Vec<_>>())
}

fn is_ident(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == name)
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tests::{lines_of, marked};

    const SAMPLE: &str = r#"//! Sample.
use tracing::{debug, field};
fn f(error: &Error, id: Option<Id>, a: u32) {
    tracing::warn!(%error, "not stored"); // BAD
    debug!(tool = "a", error = %error.kind(), "not stored"); // BAD
    tracing::event!(Level::INFO, %error); // BAD
    tracing::info_span!("call", id = %a); // BAD
    let _ = || match a { _ => tracing::error!(count = a % 2, source = %mcp_types::text(&error), "x") }; // BAD
    tracing::info!("serving at {a}"); // BAD
    tracing::info!("serving {{a}} at {}", a); // BAD
    tracing::info!(target: "a", "serving {{a}} at {}: {}", escaped(a), a,); // BAD
    tracing::info!(target: "a", "serving {{a}} at {}: {}", escaped(a), mcp_types::escaped(&a),);
    let id = id.as_ref().map(tracing::field::display); // BAD
    let id = field::display(&id); // BAD
    let id = field::display(escaped(&id));
    tracing::warn!(error = %escaped(error), other = %mcp_types::escaped(&error.kind()), "not {{stored}}");
    tracing::debug!(a, ?error, rest = a % 2, text = error.text(), "{{}}");
    panic!("{a}");
    format!("{}", a);
}
#[cfg(test)]
mod tests {
    fn t() { tracing::warn!(%error, "not stored"); }
}
"#;

    #[test]
    fn displayed_value_that_is_not_escaped_is_a_finding() {
        for (path, expected) in [
            ("mcp-server/src/a.rs", marked(SAMPLE)),
            ("products/mcp-cli/src/a.rs", Vec::new()),
            ("examples/src/a.rs", Vec::new()),
        ] {
            assert_eq!(lines_of(check, path, SAMPLE), expected, "{path}");
        }
    }
}

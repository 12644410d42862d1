//! Rule: method names, header names, error codes and `_meta` keys are literals in one file per kind. Other code
//! uses the constants, so that a search for a constant finds every use.
//!
//! References of JSON Schema are resolved in `mcp-schema` alone, within its limits. Elsewhere `$ref` and `#/$defs/` are literals
//! only in the files that write schemas, or that read the references of something else.

use proc_macro2::{TokenStream, TokenTree};
use syn::Lit;

use crate::finding::Finding;
use crate::sources::{RustFile, Sources};

const METHODS: &str = "mcp-types/src/method/table.rs";
const HEADERS: &str = "mcp-transport-http/src/headers/names.rs";
const CODES: &str = "mcp-types/src/codes.rs";
const META_KEYS: &str = "mcp-types/src/meta/keys.rs";

/// Header names of the protocol and of its HTTP transport, in lower case.
const HEADER_NAMES: [&str; 6] = [
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "last-event-id",
    "x-accel-buffering",
];
const HEADER_PREFIX: &str = "mcp-param-";
const META_PREFIX: &str = "io.modelcontextprotocol/";

/// The parts of references in JSON Schema.
const REFERENCE: &str = "$ref";
const DEFINITIONS: &str = "#/$defs/";
const RESOLVER: &str = "integrations/mcp-schema/src/";
/// Other files with such literals, and what they do with them.
const REFERENCES: [(&str, &str); 12] = [
    (
        "integrations/mcp-gen/src/schema/combined.rs",
        "merges schemas",
    ),
    (
        "integrations/mcp-gen/src/schema/reference.rs",
        "names types after references",
    ),
    (
        "integrations/mcp-gen/src/schema/union.rs",
        "names types after references",
    ),
    (
        "integrations/mcp-toolset/src/schema/rewrite.rs",
        "writes schemas without it",
    ),
    ("mcp-core/src/schema/lint.rs", "has a rule about it"),
    ("mcp-core/src/wire/narrow/structure.rs", "moves references"),
    ("mcp-server/src/result/combine.rs", "moves references"),
    (
        "mcp-server/src/schema/generate.rs",
        "writes schemas of types",
    ),
    (
        "products/mcp-cli/src/inspect/schemas.rs",
        "reads the schemas of the specification",
    ),
    (
        "products/mcp-gateway/src/openapi/document.rs",
        "reads OpenAPI's own references",
    ),
    (
        "products/mcp-gateway/src/openapi/schema.rs",
        "moves components into schemas",
    ),
    (
        "products/mcp-gateway/src/openapi/usable.rs",
        "knows the type of its value",
    ),
];

/// The error codes that JSON-RPC reserves, except for −32,768, which is also `i16::MIN`.
const RESERVED_CODES: std::ops::RangeInclusive<i64> = -32_767..=-32_000;

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let methods = match method_names(sources) {
        Ok(methods) => methods,
        Err(finding) => return vec![finding],
    };
    sources
        .library()
        .flat_map(|file| check_file(file, &methods))
        .collect()
}

fn check_file(file: &RustFile, methods: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, value) in literals(file.tokens()) {
        let (kind, file_of_constants) = match &value {
            Value::Text(text) if methods.contains(text) => ("method name", METHODS),
            Value::Text(text) if is_header(text) => ("header name", HEADERS),
            Value::Text(text) if text.contains(META_PREFIX) => ("`_meta` key", META_KEYS),
            Value::Number(number) if RESERVED_CODES.contains(number) => ("error code", CODES),
            Value::Text(text) if is_reference(text) => {
                if !may_have_references(&file.path) {
                    let message = format!(
                        "the reference {value} is a literal; use `mcp_schema::Node::target`, or add a file that writes schemas to \
                         the table in xtask/src/tidy/literals.rs"
                    );
                    findings.push(Finding::new(&file.path, line, message));
                }
                continue;
            }
            _ => continue,
        };
        if file.path != file_of_constants {
            let message =
                format!("the {kind} {value} is a literal; use the constant in {file_of_constants}");
            findings.push(Finding::new(&file.path, line, message));
        }
    }
    findings
}

fn is_header(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    HEADER_NAMES.contains(&lower.as_str()) || lower.starts_with(HEADER_PREFIX)
}

fn is_reference(text: &str) -> bool {
    text == REFERENCE || text.starts_with(DEFINITIONS)
}

fn may_have_references(path: &str) -> bool {
    path.starts_with(RESOLVER) || REFERENCES.iter().any(|(file, _)| *file == path)
}

/// Returns the method names in the method table.
fn method_names(sources: &Sources) -> Result<Vec<String>, Finding> {
    let table = sources.rust().iter().find(|file| file.path == METHODS);
    let values = table.into_iter().flat_map(|file| literals(file.tokens()));
    let names = values.filter_map(|(_, value)| match value {
        Value::Text(text) if is_method_name(&text) => Some(text),
        _ => None,
    });
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        let message = "no method names found; the rule needs the method table in this file";
        return Err(Finding::new(METHODS, 1, message));
    }
    Ok(names)
}

fn is_method_name(text: &str) -> bool {
    let simple =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    let slashed = text.contains('/') && text.split('/').all(simple);
    slashed || matches!(text, "initialize" | "ping")
}

/// A literal of a kind that the rule checks.
#[derive(Debug, PartialEq)]
enum Value {
    Text(String),
    Number(i64),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// Collects strings, byte strings and negative integers, each with its line.
fn literals(tokens: TokenStream) -> Vec<(usize, Value)> {
    let mut found = Vec::new();
    let mut after_minus = false;
    for token in tokens {
        let minus = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '-');
        match token {
            TokenTree::Group(group) => found.extend(literals(group.stream())),
            TokenTree::Literal(literal) => {
                let line = literal.span().start().line;
                found.extend(value(Lit::new(literal), after_minus).map(|value| (line, value)));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
        after_minus = minus;
    }
    found
}

fn value(literal: Lit, after_minus: bool) -> Option<Value> {
    match literal {
        Lit::Str(text) => Some(Value::Text(text.value())),
        Lit::ByteStr(bytes) => String::from_utf8(bytes.value()).ok().map(Value::Text),
        Lit::Int(number) if after_minus => number
            .base10_parse::<i64>()
            .ok()
            .map(|number| Value::Number(-number)),
        _ => None,
    }
}

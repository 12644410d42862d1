//! Support for generated code: the clients of `mcp gen rust`, and the servers of `mcp gen rust-server`. See
//! the guide: [`typed_clients`](crate::guide::typed_clients).

#[cfg(feature = "client")]
mod call;
#[cfg(feature = "server")]
mod server;

pub use serde;
/// Any JSON.
pub use serde_json::Value;

#[cfg(feature = "client")]
pub use call::TypedCall;
#[cfg(feature = "server")]
pub use server::CatalogServer;

/// The arguments of tools and prompts without arguments. All members are ignored.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize)]
#[non_exhaustive]
pub struct NoArguments {}

/// Expands a URI template (RFC 6570) with strings. A variable without a value is left out.
///
/// # Examples
///
/// ```
/// let values = [("id", Some("7 b")), ("page", None), ("lang", Some("de"))];
/// assert_eq!(mcp::typed::expand("users://{id}{?page,lang}", &values), "users://7%20b?lang=de");
/// ```
pub fn expand(template: &str, values: &[(&str, Option<&str>)]) -> String {
    let mut uri = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        let Some((expression, after)) = after.split_once('}') else {
            break;
        };
        uri.push_str(literal);
        expand_expression(expression, values, &mut uri);
        rest = after;
    }
    uri.push_str(rest);
    uri
}

/// The rule of an operator: first character, separator, `name=`, and reserved characters stay.
fn operator(first: Option<char>) -> (&'static str, &'static str, bool, bool) {
    match first {
        Some('+') => ("", ",", false, true),
        Some('#') => ("#", ",", false, true),
        Some('.') => (".", ".", false, false),
        Some('/') => ("/", "/", false, false),
        Some(';') => (";", ";", true, false),
        Some('?') => ("?", "&", true, false),
        Some('&') => ("&", "&", true, false),
        _ => ("", ",", false, false),
    }
}

fn expand_expression(expression: &str, values: &[(&str, Option<&str>)], uri: &mut String) {
    let (prefix, separator, named, reserved) = operator(expression.chars().next());
    let names = expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
    let mut before = prefix;
    for variable in names.split(',') {
        let (name, limit) = match variable.split_once(':') {
            Some((name, limit)) => (name, limit.parse().unwrap_or(usize::MAX)),
            None => (variable.trim_end_matches('*'), usize::MAX),
        };
        let value = values.iter().find(|(it, _)| *it == name);
        let Some(value) = value.and_then(|(_, value)| *value) else {
            continue;
        };
        uri.push_str(before);
        before = separator;
        if named {
            uri.push_str(name);
            if !value.is_empty() || prefix != ";" {
                uri.push('=');
            }
        }
        for c in value.chars().take(limit) {
            encode(c, reserved, uri);
        }
    }
}

fn encode(c: char, reserved: bool, uri: &mut String) {
    let is_reserved = ":/?#[]@!$&'()*+,;=%".contains(c);
    if c.is_ascii_alphanumeric() || "-._~".contains(c) || (reserved && is_reserved) {
        uri.push(c);
        return;
    }
    let mut buffer = [0; 4];
    for byte in c.encode_utf8(&mut buffer).bytes() {
        uri.push_str(&format!("%{byte:02X}"));
    }
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn templates_expand_by_the_examples_of_the_rfc() {
        let values = [
            ("var", Some("value")),
            ("hello", Some("Hello World!")),
            ("path", Some("/foo/bar")),
            ("empty", Some("")),
            ("x", Some("1024")),
            ("undef", None),
        ];
        let cases = [
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{+path}/here", "/foo/bar/here"),
            ("X{#hello}", "X#Hello%20World!"),
            ("map?{x,empty}", "map?1024,"),
            ("X{.var,x}", "X.value.1024"),
            ("{/var,x}/here", "/value/1024/here"),
            ("{;x,empty}", ";x=1024;empty"),
            ("{?x,empty,undef}", "?x=1024&empty="),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
            ("{var:3}", "val"),
            ("{undef}{", "{"),
        ];
        for (template, expected) in cases {
            assert_eq!(expand(template, &values), expected, "{template}");
        }
    }
}

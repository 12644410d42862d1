//! URI templates (RFC 6570): their parts, and their expansion.

/// A part of a URI template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a template has no other parts")]
pub enum Part<'t> {
    /// Text that stands in the URI as it is. A brace in it has no counterpart.
    Literal(&'t str),
    /// An expression, such as `{?page,lang}`.
    Expression {
        /// The text between the braces.
        text: &'t str,
        /// The operator, one of `+#./;?&`.
        operator: Option<char>,
        /// The list of variables.
        list: &'t str,
    },
}

/// Returns the parts of a template in their order. Text that is not a template is a literal.
pub fn parts(template: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        let inner = rest.strip_prefix('{');
        if let Some((text, after)) = inner.and_then(|inner| inner.split_once('}')) {
            rest = after;
            let (operator, list) = split_operator(text);
            return Some(Part::Expression {
                text,
                operator,
                list,
            });
        }
        let open = rest.find('{').filter(|open| rest[*open..].contains('}'));
        let (literal, after) = rest.split_at(open.unwrap_or(rest.len()));
        rest = after;
        (!literal.is_empty()).then_some(Part::Literal(literal))
    })
}

/// Splits an expression into its operator and its list of variables.
fn split_operator(expression: &str) -> (Option<char>, &str) {
    match expression.chars().next() {
        Some(operator) if "+#./;?&".contains(operator) => (Some(operator), &expression[1..]),
        _ => (None, expression),
    }
}

/// Returns the variables of a template in their order, without modifiers such as `*` and `:3`, each
/// with the operator of its expression.
pub fn variables(template: &str) -> impl Iterator<Item = (&str, Option<char>)> {
    let expressions = parts(template).filter_map(|part| match part {
        Part::Literal(_) => None,
        Part::Expression { operator, list, .. } => Some((operator, list)),
    });
    expressions.flat_map(|(operator, list)| {
        let names = list.split(',').map(|variable| split_modifier(variable).0);
        names.map(move |name| (name, operator))
    })
}

/// Splits a variable into its name and its largest number of characters.
fn split_modifier(variable: &str) -> (&str, usize) {
    match variable.split_once(':') {
        Some((name, limit)) => (name, limit.parse().unwrap_or(usize::MAX)),
        None => (variable.trim_end_matches('*'), usize::MAX),
    }
}

/// Expands a URI template (RFC 6570) with strings. A variable without a value is left out.
///
/// # Examples
///
/// ```
/// let values = [("id", Some("7 b")), ("page", None), ("lang", Some("de"))];
/// assert_eq!(mcp::types::uri_template::expand("users://{id}{?page,lang}", &values), "users://7%20b?lang=de");
/// ```
pub fn expand(template: &str, values: &[(&str, Option<&str>)]) -> String {
    let mut uri = String::with_capacity(template.len());
    for part in parts(template) {
        match part {
            Part::Literal(literal) => uri.push_str(literal),
            Part::Expression { operator, list, .. } => {
                expand_expression(operator, list, values, &mut uri);
            }
        }
    }
    uri
}

fn expand_expression(
    operator: Option<char>,
    list: &str,
    values: &[(&str, Option<&str>)],
    uri: &mut String,
) {
    let (prefix, separator, is_named) = match operator {
        None | Some('+') => ("", ",", false),
        Some('#') => ("#", ",", false),
        Some('.') => (".", ".", false),
        Some('/') => ("/", "/", false),
        Some(';') => (";", ";", true),
        Some('?') => ("?", "&", true),
        Some(_) => ("&", "&", true),
    };
    let mut before = prefix;
    for variable in list.split(',') {
        let (name, limit) = split_modifier(variable);
        let value = values.iter().find(|(known, _)| *known == name);
        let Some(value) = value.and_then(|(_, value)| *value) else {
            continue;
        };
        uri.push_str(before);
        before = separator;
        if is_named {
            uri.push_str(name);
            if !value.is_empty() || operator != Some(';') {
                uri.push('=');
            }
        }
        let end = value.char_indices().nth(limit);
        let value = &value[..end.map_or(value.len(), |(end, _)| end)];
        encode(value, matches!(operator, Some('+' | '#')), uri);
    }
}

/// Encodes a value. `keeps_reserved`: reserved characters and percent-encoded bytes stay.
fn encode(value: &str, keeps_reserved: bool, uri: &mut String) {
    for (at, byte) in value.bytes().enumerate() {
        let is_encoded = || {
            let digits = value.as_bytes().get(at + 1..at + 3);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_kept = b":/?#[]@!$&'()*+,;=".contains(&byte) || byte == b'%' && is_encoded();
        if is_plain || keeps_reserved && is_kept {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, expand, parts, variables};

    #[test]
    fn text_outside_expressions_is_literal() {
        use Part::{Expression, Literal};
        let expression = |operator, text: &'static str, list: &'static str| Expression {
            text,
            operator,
            list,
        };
        let all = |template| parts(template).collect::<Vec<_>>();
        assert_eq!(
            all("a{b}{+c}d{e"),
            [
                Literal("a"),
                expression(None, "b", "b"),
                expression(Some('+'), "+c", "c"),
                Literal("d{e")
            ]
        );
        assert_eq!(all("a}{"), [Literal("a}{")]);
        assert_eq!(all("{}"), [expression(None, "", "")]);
        assert!(all("").is_empty());
    }

    #[test]
    fn variables_with_any_operator_are_found() {
        let all = |template| variables(template).collect::<Vec<_>>();
        assert_eq!(all("file:///{+path}"), [("path", Some('+'))]);
        assert_eq!(
            all("db://{a}/{b*}{?c,d:3}{x"),
            [("a", None), ("b", None), ("c", Some('?')), ("d", Some('?'))]
        );
        assert!(all("db://a").is_empty());
    }

    #[test]
    fn templates_expand_as_in_the_rfc_examples() {
        let values = [
            ("var", Some("value")),
            ("hello", Some("Hello World!")),
            ("half", Some("50%")),
            ("path", Some("/foo/bar")),
            ("empty", Some("")),
            ("x", Some("1024")),
            ("undef", None),
        ];
        let cases = [
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{half}{+half}", "50%2550%25"),
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
        assert_eq!(
            expand("{x}{+x}", &[("x", Some("é%20"))]),
            "%C3%A9%2520%C3%A9%20"
        );
        assert_eq!(expand("{x:1}", &[("x", Some("éa"))]), "%C3%A9");
    }
}

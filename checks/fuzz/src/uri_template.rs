//! URI templates: a match gives every variable a value that cannot leave a directory, and the URI of
//! these values gives the same values again.

use mcp_core::{Call, InputState, Reply, ResultBody};
use mcp_server::{RawArgs, ResourceExt as _, Server};
use mcp_types::{JsonObject, ReadResourceParams, ResourceContents, ResourceTemplate, uri_template};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::input::two_texts;
use crate::server::send;
use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "uri_template",
    run,
    examples: &[
        b"file:///docs/{name}.md\nfile:///docs/a%20b.md",
        b"file:///{+path}\nfile:///a/b/../c",
        b"a://x/{+path}/y-{b}\na://x/1/2/y-3",
        b"a://x{/b}{/c}{?d,e}\na://x/1?e=2&d=3",
        b"a://{a}-{b}-{c}/x\na://1-2-3/x",
    ],
    fragments: &[
        "a://", "file:///", "{a}", "{b}", "{+c}", "{/d}", "{/e}", "{?f,g}", "{?f}", "{", "}", "/",
        "-", ".", "..", "%2e", "%2F", "%5c", "%00", "%", "%ff", "%C3%A9", "\\", "\n", "?", "f=",
        "g=1", "&", "#", ":", "C:", "x", "1", "é", " ",
    ],
};

/// Longer URIs match no template.
const MAX_URI_LENGTH: usize = 8 * 1024;

/// Characters that a value of `{+name}` has in a URI as they are.
const PLAIN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'/');

/// The input: a template, then a URI.
fn run(input: &[u8]) {
    let Some((template, uri)) = two_texts(input) else {
        return;
    };
    let read = async |arguments: RawArgs| arguments.as_str().to_owned();
    let server = Server::new("s", "1").template(ResourceTemplate::new(template).read(read));
    let values = values(&server, uri);
    if server.check().is_err() {
        assert!(values.is_none(), "a refused template matches {uri}");
        return;
    }
    let Some(values) = values else {
        return;
    };
    for (name, value) in &values {
        let value = value.as_str().expect("a value is a string");
        assert!(!value.contains(['\0', '\\']), "{name}: {value:?}");
        assert!(!value.starts_with('/'), "{name}: {value:?}");
        assert!(
            !value.split('/').any(|segment| segment == ".."),
            "{name}: {value:?}"
        );
        let is_path = template.contains(&format!("{{+{name}}}"));
        let is_query = template
            .rfind('?')
            .is_some_and(|at| template[at..].contains(&**name));
        assert!(
            is_path || is_query || !value.contains('/'),
            "{name}: {value:?}"
        );
    }
    let again = expand(template, &values);
    // The expansion encodes more characters than the input.
    if again.len() > MAX_URI_LENGTH {
        return;
    }
    assert_eq!(
        self::values(&server, &again).as_ref(),
        Some(&values),
        "{again}"
    );
}

/// Returns the values of the variables, if the server reads the URI.
fn values(server: &Server, uri: &str) -> Option<JsonObject> {
    let call = Call::ReadResource(ReadResourceParams::from(uri));
    let Reply::Complete {
        body: ResultBody::ReadResource(read),
        ..
    } = send(server, call, InputState::default())
    else {
        return None;
    };
    let Some(ResourceContents::Text(contents)) = read.contents.first() else {
        panic!("a template with a text handler reads no text");
    };
    Some(serde_json::from_str(&contents.text).expect("the arguments are JSON"))
}

/// Expands a valid template. Values of `{+name}` are encoded before, because it keeps reserved
/// characters.
fn expand(template: &str, values: &JsonObject) -> String {
    let texts = values.iter().map(|(name, value)| {
        let value = value.as_str().unwrap_or_default();
        if template.contains(&format!("{{+{name}}}")) {
            (name, utf8_percent_encode(value, PLAIN_PATH).to_string())
        } else {
            (name, value.to_owned())
        }
    });
    let texts: Vec<_> = texts.collect();
    let values = texts.iter().map(|(name, text)| (&***name, Some(&**text)));
    uri_template::expand(template, &values.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::{expand, run, values};
    use mcp_server::{RawArgs, ResourceExt as _, Server};
    use mcp_types::ResourceTemplate;

    #[test]
    fn matched_values_expand_to_the_same_uri() {
        let template = "a://x/{b}{/c}{?d,e}";
        let read = async |arguments: RawArgs| arguments.as_str().to_owned();
        let server = Server::new("s", "1").template(ResourceTemplate::new(template).read(read));
        let uri = "a://x/1%202/3?d=%26&e=4";
        let values = values(&server, uri).expect("the template matches");
        assert_eq!(values.len(), 4, "{values:?}");
        assert_eq!(expand(template, &values), uri);
    }

    /// Found by a long run: the `2` of `%28` was taken for the literal.
    #[test]
    fn digits_in_an_escape_are_not_a_literal() {
        run(b"a://{b}2{c}\na://(2z");
    }

    #[test]
    fn expansion_beyond_the_uri_limit_is_not_a_finding() {
        run(format!("a://{{+b}}\na://{}", "@".repeat(4000)).as_bytes());
    }
}

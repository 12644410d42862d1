//! Parsing of URI templates.

use mcp_types::uri_template;

use super::value::normalize;
use crate::uri::{is_uri, is_variable};

/// A URI template that can be matched with URIs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UriTemplate {
    /// Literals and variables; never two adjacent variables.
    pub(super) parts: Vec<Part>,
    /// Variables of `{/a}{/b}` at the end of the path.
    pub(super) segments: Vec<Box<str>>,
    /// Variables of `{?a,b}`.
    pub(super) query: Vec<Box<str>>,
    /// Variables that take an encoded `/`.
    pub(super) with_slashes: Vec<Box<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// In the normal form.
    Literal(Box<str>),
    /// `{name}`
    Simple(Box<str>),
    /// `{+name}`
    Reserved(Box<str>),
}

impl UriTemplate {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// Returns a message that says why URIs cannot be matched with the template, and what to write
    /// instead.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut template = Self {
            parts: Vec::new(),
            segments: Vec::new(),
            query: Vec::new(),
            with_slashes: Vec::new(),
        };
        for part in uri_template::parts(text) {
            match part {
                uri_template::Part::Literal(literal) => template.add_literal(literal)?,
                uri_template::Part::Expression {
                    text,
                    operator,
                    list,
                } => template.add_expression(text, operator, list)?,
            }
        }
        let values: Vec<_> = template.variables().map(|name| (name, Some("x"))).collect();
        check_uri(&uri_template::expand(text, &values))?;
        template.check_variables()?;
        Ok(template)
    }

    /// Returns the variable names, in their order.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        let parts = self.parts.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Simple(name) | Part::Reserved(name) => Some(&**name),
        });
        let optional = self.segments.iter().chain(&self.query);
        parts.chain(optional.map(|name| &**name))
    }

    /// Lets a variable take an encoded `/`.
    pub(crate) fn permit_slashes(&mut self, name: String) {
        self.with_slashes.push(name.into());
    }

    /// Returns the names of variables with slashes that are not single segments of the template.
    pub(crate) fn misplaced_slashes(&self) -> impl Iterator<Item = &str> {
        let is_segment = |name: &str| {
            let mut parts = self.parts.iter();
            let is_simple = parts.any(|part| matches!(part, Part::Simple(own) if **own == *name));
            is_simple || self.segments.iter().any(|own| **own == *name)
        };
        let names = self.with_slashes.iter().map(|name| &**name);
        names.filter(move |name| !is_segment(name))
    }

    fn add_literal(&mut self, text: &str) -> Result<(), String> {
        let is_forbidden = |c: char| c.is_ascii_control() || " \"<>\\^`|{}".contains(c);
        if let Some((at, found)) = text.char_indices().find(|(_, c)| is_forbidden(*c)) {
            return Err(match found {
                '{' => format!("the `{{` before `{}` has no `}}`", &text[at + 1..]),
                '}' => format!("the `}}` in `{text}` has no `{{`"),
                _ => format!("{found:?} in `{text}` is not allowed: percent-encode it"),
            });
        }
        if !self.segments.is_empty() || !self.query.is_empty() {
            return Err(format!(
                "`{text}` stands after a part that may be left out; only `{{/name}}` and \
                 `{{?name}}` may follow one"
            ));
        }
        self.parts.push(Part::Literal(normalize(text).into()));
        Ok(())
    }

    fn add_expression(
        &mut self,
        text: &str,
        operator: Option<char>,
        list: &str,
    ) -> Result<(), String> {
        if let Some(operator @ ('#' | '.' | ';' | '&')) = operator {
            return Err(format!(
                "`{{{operator}…}}` cannot be matched; use `{{name}}`, `{{+name}}`, `{{/name}}` \
                 or `{{?name}}`"
            ));
        }
        if list.contains(['*', ':']) {
            return Err(format!("`{{{text}}}`: `*` and `:` cannot be matched"));
        }
        let names: Vec<&str> = list.split(',').collect();
        if let Some(name) = names.iter().find(|name| !is_variable(name)) {
            return Err(format!(
                "`{name}` in `{{{text}}}` is not a variable: a name has letters, digits, `_` and `.`"
            ));
        }
        match (operator, names.as_slice()) {
            (Some('?'), names) => {
                if !self.query.is_empty() {
                    return Err("write all of the query as one `{?a,b}`".to_owned());
                }
                self.query = names.iter().map(|name| (*name).into()).collect();
                Ok(())
            }
            (operator, [name]) => self.add_variable(operator, name),
            (_, [..]) => Err(format!(
                "`{{{text}}}` has several variables; give each its own braces"
            )),
        }
    }

    fn add_variable(&mut self, operator: Option<char>, name: &str) -> Result<(), String> {
        if !self.query.is_empty() {
            return Err(format!("`{name}` stands after the query"));
        }
        if operator == Some('/') {
            self.segments.push(name.into());
            return Ok(());
        }
        if !self.segments.is_empty() {
            return Err(format!("`{name}` stands after a part that may be left out"));
        }
        if !matches!(self.parts.last(), None | Some(Part::Literal(_))) {
            return Err(format!(
                "the start of `{name}` is ambiguous: put a literal before it"
            ));
        }
        self.parts.push(match operator {
            None => Part::Simple(name.into()),
            Some(_) => Part::Reserved(name.into()),
        });
        Ok(())
    }

    /// Rejects templates that match ambiguously.
    fn check_variables(&self) -> Result<(), String> {
        let reserved = |part: &&Part| matches!(part, Part::Reserved(_));
        match self.parts.iter().filter(reserved).count() {
            0 => {}
            1 if self.segments.is_empty() => {}
            1 => return Err("`{+…}` takes all segments, so `{/…}` cannot follow".to_owned()),
            _ => return Err("only one `{+…}` can be matched".to_owned()),
        }
        let mut names: Vec<&str> = self.variables().collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("the variable `{}` occurs twice", pair[0])),
            None => Ok(()),
        }
    }
}

/// Checks that a string is a URI with a scheme.
///
/// # Errors
///
/// Returns a message that says what is wrong.
pub(crate) fn check_uri(text: &str) -> Result<(), String> {
    if is_uri(text) {
        return Ok(());
    }
    let problem = if text.contains(':') {
        "it is not a URI of RFC 3986: percent-encode what a URI cannot have"
    } else {
        "it needs a scheme, such as `notes:` or `https:`"
    };
    Err(problem.to_owned())
}

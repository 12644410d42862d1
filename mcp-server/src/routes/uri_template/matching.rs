//! URI matching in one pass, without backtracking.
//!
//! A simple variable contains no `/`, so the first match of the next literal is as good as any other.
//! Parts after `{+path}` are matched from the end, and `{+path}` gets the rest in between. The number
//! of steps per byte is bounded for every URI.

use super::parse::{Part, UriTemplate};
use super::value::{UriComponent, decode};

/// Limit on the length of a URI, in bytes. Longer URIs match no template.
pub(super) const MAX_URI_LENGTH: usize = 8 * 1024;

/// Names and values of variables.
pub(crate) type Variables = Vec<(Box<str>, String)>;

impl UriTemplate {
    /// Returns the percent-decoded variable values. Returns `None` if the template does not
    /// match, and for values that could escape from a directory; see [`decode`].
    // spec: RSRC-07
    pub(crate) fn matches(&self, uri: &str) -> Option<Variables> {
        if uri.len() > MAX_URI_LENGTH {
            return None;
        }
        let mut variables = Variables::new();
        let (path, query) = match uri.split_once('?') {
            Some((path, query)) if !self.query.is_empty() => (path, Some(query)),
            _ => (uri, None),
        };
        let (path, segments) = self.split_segments(path)?;
        self.match_parts(path, &mut variables)?;
        self.match_segments(segments, &mut variables)?;
        if let Some(query) = query {
            self.match_query(query, &mut variables)?;
        }
        Some(variables)
    }

    /// Splits the path from the optional segments at its end. Variables of the path contain no `/`, so
    /// the path has as many as its literals.
    fn split_segments<'u>(&self, path: &'u str) -> Option<(&'u str, &'u str)> {
        if self.segments.is_empty() {
            return Some((path, ""));
        }
        let slashes = self.parts.iter().map(|part| match part {
            Part::Literal(text) => text.matches('/').count(),
            Part::Simple(_) | Part::Reserved(_) => 0,
        });
        let slash = path.match_indices('/').nth(slashes.sum());
        path.split_at_checked(slash.map_or(path.len(), |(at, _)| at))
    }

    fn match_parts(&self, path: &str, variables: &mut Variables) -> Option<()> {
        let is_reserved = |part: &Part| matches!(part, Part::Reserved(_));
        match self.parts.iter().position(is_reserved) {
            None => match_forward(&self.parts, path, variables),
            Some(at) => {
                let (before, after) = self.parts.split_at(at);
                let (reserved, after) = after.split_first()?;
                let rest = match_prefix(before, path, variables)?;
                let mut trailing_values = Variables::new();
                let middle = match_suffix(after, rest, &mut trailing_values)?;
                add_value(reserved, middle, variables)?;
                variables.extend(trailing_values.into_iter().rev());
                Some(())
            }
        }
    }

    fn match_segments(&self, segments: &str, variables: &mut Variables) -> Option<()> {
        let Some(segments) = segments.strip_prefix('/') else {
            return segments.is_empty().then_some(());
        };
        let mut names = self.segments.iter();
        for segment in segments.split('/') {
            let value = decode(segment, UriComponent::Segment).filter(|value| !value.is_empty())?;
            variables.push((names.next()?.clone(), value));
        }
        Some(())
    }

    /// Matches parameters in any order, each at most once.
    fn match_query(&self, query: &str, variables: &mut Variables) -> Option<()> {
        let mut missing: Vec<_> = self.query.iter().collect();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=')?;
            let at = missing.iter().position(|missing| ***missing == *name)?;
            let name = missing.swap_remove(at);
            variables.push((name.clone(), decode(value, UriComponent::Query)?));
        }
        Some(())
    }
}

/// Matches parts with a whole string.
fn match_forward(parts: &[Part], text: &str, variables: &mut Variables) -> Option<()> {
    match parts.split_last() {
        None => text.is_empty().then_some(()),
        Some((Part::Literal(last), [before @ .., variable])) => {
            let text = text.strip_suffix(&**last)?;
            let value = match_prefix(before, text, variables)?;
            add_value(variable, value, variables)
        }
        Some((Part::Literal(only), [])) => (text == &**only).then_some(()),
        Some((variable, before)) => {
            let value = match_prefix(before, text, variables)?;
            add_value(variable, value, variables)
        }
    }
}

/// Matches parts with the start of a string and returns the rest. The last part is a literal.
fn match_prefix<'t>(
    parts: &[Part],
    mut text: &'t str,
    variables: &mut Variables,
) -> Option<&'t str> {
    let mut open = None;
    for part in parts {
        match (part, open.take()) {
            (Part::Literal(literal), None) => text = text.strip_prefix(&**literal)?,
            (Part::Literal(literal), Some(variable)) => {
                // A value has at least one character.
                let first = text.chars().next()?.len_utf8();
                let at = find(text, literal, first)?;
                add_value(variable, text.get(..at)?, variables)?;
                text = text.get(at + literal.len()..)?;
            }
            (variable, _) => open = Some(variable),
        }
    }
    Some(text)
}

/// Matches parts with the end of a string, backwards, and returns the rest before it. The first part
/// is a literal.
fn match_suffix<'t>(
    parts: &[Part],
    mut text: &'t str,
    variables: &mut Variables,
) -> Option<&'t str> {
    let mut open = None;
    for part in parts.iter().rev() {
        match (part, open.take()) {
            (Part::Literal(literal), None) => text = text.strip_suffix(&**literal)?,
            (Part::Literal(literal), Some(variable)) => {
                let last = text.char_indices().next_back()?.0;
                let at = find_last(text, literal, last)?;
                add_value(variable, text.get(at + literal.len()..)?, variables)?;
                text = text.get(..at)?;
            }
            (variable, _) => open = Some(variable),
        }
    }
    Some(text)
}

/// Finds a literal from `start` on.
fn find(text: &str, literal: &str, mut start: usize) -> Option<usize> {
    loop {
        let at = start + text.get(start..)?.find(literal)?;
        if !is_inside_escape(text, at) {
            return Some(at);
        }
        start = at + 1;
    }
}

/// Finds the last place of a literal before `end`.
fn find_last(text: &str, literal: &str, mut end: usize) -> Option<usize> {
    loop {
        let before = text.get(..end)?;
        let at = before.rfind(literal)?;
        if !is_inside_escape(text, at) {
            return Some(at);
        }
        end = before
            .get(..at + literal.len())?
            .char_indices()
            .next_back()?
            .0;
    }
}

/// Returns whether a place is between the characters of an escape such as `%28`, in which no literal begins.
fn is_inside_escape(text: &str, at: usize) -> bool {
    text.as_bytes()[at.saturating_sub(2)..at].contains(&b'%')
}

/// Decodes the value of a variable and adds it.
fn add_value(variable: &Part, raw: &str, variables: &mut Variables) -> Option<()> {
    let (name, component) = match variable {
        Part::Simple(name) => (name, UriComponent::Segment),
        Part::Reserved(name) => (name, UriComponent::Path),
        Part::Literal(_) => return None,
    };
    let value = decode(raw, component).filter(|value| !value.is_empty())?;
    variables.push((name.clone(), value));
    Some(())
}

//! URI matching in one pass, without backtracking.
//!
//! A simple variable contains no `/`, so the first match of the next literal is as good as any other.
//! Parts after `{+path}` are matched from the end, and `{+path}` gets the rest in between. The number
//! of steps per byte is bounded for every URI.

use super::parse::{Part, UriTemplate};
use super::value::{UriComponent, decode, normalize};

/// Limit on the length of a URI, in bytes. Longer URIs match no template.
pub(super) const MAX_URI_LENGTH: usize = 8 * 1024;

/// Names and values of variables.
pub(crate) type Variables = Vec<(Box<str>, String)>;

/// The values that were read, and the first one that was refused: the variable, and the reason.
#[derive(Default)]
struct Values {
    read: Variables,
    refused: Option<(Box<str>, &'static str)>,
}

impl UriTemplate {
    /// Returns the percent-decoded variable values. Returns `None` if the template does not
    /// match, and for values that could escape from a directory; see [`decode`].
    pub(crate) fn matches(&self, uri: &str) -> Option<Variables> {
        let mut values = Values::default();
        self.match_uri(uri, &mut values)?;
        Some(values.read)
    }

    /// Returns the first value of the URI that is refused, although the parts match: the variable, and the reason.
    pub(crate) fn refused(&self, uri: &str) -> Option<(Box<str>, &'static str)> {
        let mut values = Values::default();
        match self.match_uri(uri, &mut values) {
            None => values.refused,
            Some(()) => None,
        }
    }

    fn match_uri(&self, uri: &str, values: &mut Values) -> Option<()> {
        if uri.len() > MAX_URI_LENGTH {
            return None;
        }
        let uri = normalize(uri);
        let (path, query) = match uri.split_once('?') {
            Some((path, query)) if !self.query.is_empty() => (path, Some(query)),
            _ => (&*uri, None),
        };
        let (path, segments) = self.split_segments(path)?;
        self.match_parts(path, values)?;
        self.match_segments(segments, values)?;
        query.map_or(Some(()), |query| self.match_query(query, values))
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

    fn match_parts(&self, path: &str, values: &mut Values) -> Option<()> {
        let is_reserved = |part: &Part| matches!(part, Part::Reserved(_));
        match self.parts.iter().position(is_reserved) {
            None => self.match_forward(&self.parts, path, values),
            Some(at) => {
                let (before, after) = self.parts.split_at(at);
                let (reserved, after) = after.split_first()?;
                let rest = self.match_prefix(before, path, values)?;
                let mut trailing = Values::default();
                let middle = self.match_suffix(after, rest, &mut trailing);
                values.refused = values.refused.take().or(trailing.refused);
                self.add_value(reserved, middle?, values)?;
                values.read.extend(trailing.read.into_iter().rev());
                Some(())
            }
        }
    }

    fn match_segments(&self, segments: &str, values: &mut Values) -> Option<()> {
        let Some(segments) = segments.strip_prefix('/') else {
            return segments.is_empty().then_some(());
        };
        let mut names = self.segments.iter();
        for segment in segments.split('/') {
            let name = names.next()?;
            values.add(name, segment, self.segment(name))?;
        }
        Some(())
    }

    /// Matches parameters in any order, each at most once.
    fn match_query(&self, query: &str, values: &mut Values) -> Option<()> {
        let mut missing: Vec<_> = self.query.iter().collect();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=')?;
            let at = missing.iter().position(|missing| ***missing == *name)?;
            let name = missing.swap_remove(at);
            values.add(name, value, UriComponent::Query)?;
        }
        Some(())
    }

    /// Returns the component of a variable that is one path segment.
    fn segment(&self, name: &str) -> UriComponent {
        if self.with_slashes.iter().any(|known| **known == *name) {
            UriComponent::SegmentWithSlashes
        } else {
            UriComponent::Segment
        }
    }

    /// Matches parts with a whole string.
    fn match_forward(&self, parts: &[Part], text: &str, values: &mut Values) -> Option<()> {
        match parts.split_last() {
            None => text.is_empty().then_some(()),
            Some((Part::Literal(last), [before @ .., variable])) => {
                let text = text.strip_suffix(&**last)?;
                let value = self.match_prefix(before, text, values)?;
                self.add_value(variable, value, values)
            }
            Some((Part::Literal(only), [])) => (text == &**only).then_some(()),
            Some((variable, before)) => {
                let value = self.match_prefix(before, text, values)?;
                self.add_value(variable, value, values)
            }
        }
    }

    /// Matches parts with the start of a string and returns the rest. The last part is a literal.
    fn match_prefix<'t>(
        &self,
        parts: &[Part],
        mut text: &'t str,
        values: &mut Values,
    ) -> Option<&'t str> {
        let mut open = None;
        for part in parts {
            match (part, open.take()) {
                (Part::Literal(literal), None) => text = text.strip_prefix(&**literal)?,
                (Part::Literal(literal), Some(variable)) => {
                    // A value has at least one character.
                    let first = text.chars().next()?.len_utf8();
                    let at = find(text, literal, first)?;
                    self.add_value(variable, text.get(..at)?, values)?;
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
        &self,
        parts: &[Part],
        mut text: &'t str,
        values: &mut Values,
    ) -> Option<&'t str> {
        let mut open = None;
        for part in parts.iter().rev() {
            match (part, open.take()) {
                (Part::Literal(literal), None) => text = text.strip_suffix(&**literal)?,
                (Part::Literal(literal), Some(variable)) => {
                    let last = text.char_indices().next_back()?.0;
                    let at = find_last(text, literal, last)?;
                    self.add_value(variable, text.get(at + literal.len()..)?, values)?;
                    text = text.get(..at)?;
                }
                (variable, _) => open = Some(variable),
            }
        }
        Some(text)
    }

    /// Decodes the value of a variable and adds it.
    fn add_value(&self, variable: &Part, raw: &str, values: &mut Values) -> Option<()> {
        match variable {
            Part::Simple(name) => values.add(name, raw, self.segment(name)),
            Part::Reserved(name) => values.add(name, raw, UriComponent::Path),
            Part::Literal(_) => None,
        }
    }
}

impl Values {
    /// Decodes a value and adds it. Only those of a query may be empty.
    fn add(&mut self, name: &str, raw: &str, component: UriComponent) -> Option<()> {
        match decode(raw, component) {
            Ok(value) if value.is_empty() && component != UriComponent::Query => None,
            Ok(value) => {
                self.read.push((name.into(), value));
                Some(())
            }
            Err(reason) => {
                self.refused = reason.map(|reason| (name.into(), reason));
                None
            }
        }
    }
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

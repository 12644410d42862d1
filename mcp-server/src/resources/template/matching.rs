//! One pass over a URI, without going back.
//!
//! A simple variable has no `/`, so the first place where the next literal fits is as good as any
//! other; what follows `{+path}` is looked for from the end, and `{+path}` takes what is between.
//! Each byte is looked at a bounded number of times, whatever the URI is.

use super::value::{Kind, decode};
use super::{Part, Template};

/// URIs beyond this match no template.
pub(super) const MAX_URI: usize = 8 * 1024;

/// Variables with their values.
pub(crate) type Variables = Vec<(Box<str>, String)>;

impl Template {
    /// The values of the variables, percent-decoded, when the URI is one that the template makes
    /// and no value could lead out of where the handler looks.
    // spec: RSRC-07
    #[inline]
    pub(crate) fn matches(&self, uri: &str) -> Option<Variables> {
        if uri.len() > MAX_URI {
            return None;
        }
        let mut found = Variables::new();
        let (path, query) = match uri.split_once('?') {
            Some((path, query)) if !self.query.is_empty() => (path, Some(query)),
            _ => (uri, None),
        };
        let (path, segments) = self.split_segments(path)?;
        self.match_parts(path, &mut found)?;
        self.match_segments(segments, &mut found)?;
        if let Some(query) = query {
            self.match_query(query, &mut found)?;
        }
        Some(found)
    }

    /// Parts the path from the segments at its end: no part of it takes a `/`, so it has as many as
    /// its literals.
    #[inline]
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

    #[inline]
    fn match_parts(&self, path: &str, found: &mut Variables) -> Option<()> {
        let is_reserved = |part: &Part| matches!(part, Part::Reserved(_));
        match self.parts.iter().position(is_reserved) {
            None => forward(&self.parts, path, found),
            Some(at) => {
                let (before, after) = self.parts.split_at(at);
                let (reserved, after) = after.split_first()?;
                let rest = leading(before, path, found)?;
                let mut trailing_values = Variables::new();
                let middle = trailing(after, rest, &mut trailing_values)?;
                take(reserved, middle, found)?;
                found.extend(trailing_values.into_iter().rev());
                Some(())
            }
        }
    }

    #[inline]
    fn match_segments(&self, segments: &str, found: &mut Variables) -> Option<()> {
        let Some(segments) = segments.strip_prefix('/') else {
            return segments.is_empty().then_some(());
        };
        let mut names = self.segments.iter();
        for segment in segments.split('/') {
            let value = decode(segment, Kind::Segment).filter(|value| !value.is_empty())?;
            found.push((names.next()?.clone(), value));
        }
        Some(())
    }

    /// In any order, each at most once, and no others.
    #[inline]
    fn match_query(&self, query: &str, found: &mut Variables) -> Option<()> {
        let mut missing: Vec<_> = self.query.iter().collect();
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=')?;
            let at = missing.iter().position(|missing| ***missing == *name)?;
            let name = missing.swap_remove(at);
            found.push((name.clone(), decode(value, Kind::Query)?));
        }
        Some(())
    }
}

/// Matches parts with all of a text.
#[inline]
fn forward(parts: &[Part], text: &str, found: &mut Variables) -> Option<()> {
    match parts.split_last() {
        None => text.is_empty().then_some(()),
        Some((Part::Literal(last), [before @ .., variable])) => {
            let text = text.strip_suffix(&**last)?;
            let value = leading(before, text, found)?;
            take(variable, value, found)
        }
        Some((Part::Literal(only), [])) => (text == &**only).then_some(()),
        Some((variable, before)) => {
            let value = leading(before, text, found)?;
            take(variable, value, found)
        }
    }
}

/// Matches parts with the beginning of a text; gives the rest. The last part is a literal.
#[inline]
fn leading<'t>(parts: &[Part], mut text: &'t str, found: &mut Variables) -> Option<&'t str> {
    let mut open = None;
    for part in parts {
        match (part, open.take()) {
            (Part::Literal(literal), None) => text = text.strip_prefix(&**literal)?,
            (Part::Literal(literal), Some(variable)) => {
                // A variable has one character at least.
                let first = text.chars().next()?.len_utf8();
                let at = first + text.get(first..)?.find(&**literal)?;
                take(variable, text.get(..at)?, found)?;
                text = text.get(at + literal.len()..)?;
            }
            (variable, _) => open = Some(variable),
        }
    }
    Some(text)
}

/// Matches parts with the end of a text, from behind; gives what is before. The first part is a
/// literal, when there is one.
#[inline]
fn trailing<'t>(parts: &[Part], mut text: &'t str, found: &mut Variables) -> Option<&'t str> {
    let mut open = None;
    for part in parts.iter().rev() {
        match (part, open.take()) {
            (Part::Literal(literal), None) => text = text.strip_suffix(&**literal)?,
            (Part::Literal(literal), Some(variable)) => {
                let last = text.char_indices().next_back()?.0;
                let at = text.get(..last)?.rfind(&**literal)?;
                take(variable, text.get(at + literal.len()..)?, found)?;
                text = text.get(..at)?;
            }
            (variable, _) => open = Some(variable),
        }
    }
    Some(text)
}

#[inline]
fn take(variable: &Part, raw: &str, found: &mut Variables) -> Option<()> {
    let (name, kind) = match variable {
        Part::Simple(name) => (name, Kind::Segment),
        Part::Reserved(name) => (name, Kind::Path),
        Part::Literal(_) => return None,
    };
    let value = decode(raw, kind).filter(|value| !value.is_empty())?;
    found.push((name.clone(), value));
    Some(())
}

//! [`Pattern`]: texts that a regular expression matches.

use mcp_schema::Walk;
use regex_lite::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum size of a compiled expression in bytes.
const MAX_COMPILED: usize = 1 << 18;
/// Maximum size of an example in bytes, and that of an expression.
pub(super) const MAX_TEXT: usize = 1000;

/// A regular expression of a schema.
pub(super) struct Pattern {
    pub(super) regex: Regex,
    hir: Hir,
}

impl Pattern {
    /// Returns `None` for what is not a regular expression, is too large, or has look-around or back-references.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        let hir = regex_syntax::parse(pattern).ok()?;
        let compile = |text: &str| RegexBuilder::new(text).size_limit(MAX_COMPILED).build();
        // The matcher knows Unicode classes by their ranges only.
        let regex = compile(pattern).or_else(|_| compile(&hir.to_string()));
        let regex = regex.ok()?;
        Some(Self { regex, hir })
    }

    /// Returns the shortest text of the first alternatives, with `more` characters or a few beyond it where repetitions allow
    /// them. Whether it matches is to be checked: assertions such as `\b` are not considered.
    pub(super) fn example(&self, mut more: usize, walk: &Walk) -> Option<String> {
        let mut text = String::new();
        write(&self.hir, walk, &mut more, &mut text)?;
        Some(text)
    }
}

fn write(hir: &Hir, walk: &Walk, more: &mut usize, text: &mut String) -> Option<()> {
    if text.len() > MAX_TEXT || !walk.spend(1) {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(first(class)?),
        HirKind::Capture(capture) => write(&capture.sub, walk, more, text)?,
        HirKind::Concat(all) => {
            for hir in all {
                write(hir, walk, more, text)?;
            }
        }
        HirKind::Alternation(all) => write(all.first()?, walk, more, text)?,
        HirKind::Repetition(repetition) => {
            for count in 0..repetition.max.unwrap_or(u32::MAX) {
                let (start, is_required) = (text.len(), count < repetition.min);
                if is_required || *more > 0 {
                    write(&repetition.sub, walk, more, text)?;
                }
                match text[start..].chars().count() {
                    0 => break,
                    _ if is_required => {}
                    added => *more = more.saturating_sub(added),
                }
            }
        }
    }
    Some(())
}

/// Returns a letter, a digit, another visible character, a space, or what else there is.
fn first(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let ranges = || class.iter().map(|range| range.start()..=range.end());
    let mut plain = ['a', 'A', '1'].into_iter().chain('!'..='~').chain([' ']);
    let found = plain.find(|known| ranges().any(|range| range.contains(known)));
    found.or_else(|| ranges().next()?.next())
}

//! The members of `params` and `_meta` as raw JSON, with a bound on their number.

use std::borrow::Cow;

use crate::RawJson;

/// Members of a JSON object in their order. Each name occurs once.
#[derive(Debug, Clone, Default)]
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, RawJson<'a>)>);

/// Maximum number of members in one object.
pub(super) const MAX_MEMBERS: usize = 64;

/// Number of members that most `params` and most `_meta` do not exceed.
const USUAL: usize = 4;

impl<'a> Members<'a> {
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(USUAL))
    }

    pub(super) fn get(&self, key: &str) -> Option<RawJson<'a>> {
        let mut members = self.0.iter();
        members
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, RawJson<'a>)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// Adds a member. Returns `None` if its name occurs already, or if there are too many members.
    pub(super) fn add_new(&mut self, name: &'a str, value: RawJson<'a>) -> Option<()> {
        if self.0.len() == MAX_MEMBERS || self.get(name).is_some() {
            return None;
        }
        self.0.push((Cow::Borrowed(name), value));
        Some(())
    }

    /// Adds a member of the object at `path`. A repeated member or one too many is a problem.
    pub(super) fn add(
        &mut self,
        member: (Cow<'a, str>, RawJson<'a>),
        path: &str,
        problem: &mut Problem,
    ) {
        if self.0.len() == MAX_MEMBERS {
            problem.note(format!("`{path}` has too many members"));
        } else if self.get(&member.0).is_some() {
            problem.note(format!("`{path}.{}` comes twice", member.0));
        } else {
            self.0.push(member);
        }
    }
}

/// The first problem found in a message that is valid JSON.
///
/// Reading goes on after a problem, because the error response needs the id of the message.
#[derive(Debug, Default)]
pub(super) struct Problem(pub(super) Option<Cow<'static, str>>);

impl Problem {
    #[cold]
    pub(super) fn note(&mut self, problem: impl Into<Cow<'static, str>>) {
        self.0.get_or_insert_with(|| problem.into());
    }
}

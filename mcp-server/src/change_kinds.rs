//! Kinds of changes that a server announces.

/// The kinds of changes that handles can cause while a server runs. The server declares exactly
/// these as `listChanged` and `subscribe`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ChangeKinds {
    /// The list of tools, by a `Tools` handle.
    pub(crate) tools: bool,
    /// The lists of resources and templates, by a `Resources` or `Templates` handle.
    pub(crate) resources: bool,
    /// The list of prompts, by a `Prompts` handle.
    pub(crate) prompts: bool,
    /// Any list or resource that the server has, by a `Notify` handle.
    pub(crate) any: bool,
}

impl ChangeKinds {
    pub(crate) const NONE: Self = Self {
        tools: false,
        resources: false,
        prompts: false,
        any: false,
    };

    pub(crate) fn insert(&mut self, other: Self) {
        self.tools |= other.tools;
        self.resources |= other.resources;
        self.prompts |= other.prompts;
        self.any |= other.any;
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        let mut union = self;
        union.insert(other);
        union == self
    }
}

//! What of a server is going to change, as far as anybody has said so.

/// What may change. A server promises to tell of just that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    pub(crate) tools: bool,
    /// Resources or templates.
    pub(crate) resources: bool,
    pub(crate) prompts: bool,
    /// Whatever the server has.
    pub(crate) any: bool,
}

impl Edits {
    pub(crate) const NONE: Self = Self {
        tools: false,
        resources: false,
        prompts: false,
        any: false,
    };

    pub(crate) fn add(&mut self, other: Self) {
        self.tools |= other.tools;
        self.resources |= other.resources;
        self.prompts |= other.prompts;
        self.any |= other.any;
    }

    pub(crate) fn include(self, other: Self) -> bool {
        let mut both = self;
        both.add(other);
        both == self
    }
}

//! The setters that every definition has.

/// Writes the setters of what tools, resources, templates and prompts are all listed with.
macro_rules! definition_setters {
    () => {
        /// Sets the name for people.
        #[must_use]
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.title = Some(title.into());
            self
        }

        /// Says what it is, for a language model.
        #[must_use]
        pub fn describe(mut self, description: impl Into<String>) -> Self {
            self.description = Some(description.into());
            self
        }

        /// Adds a picture.
        #[must_use]
        pub fn icon(mut self, icon: $crate::Icon) -> Self {
            self.icons.push(icon);
            self
        }

        /// Adds a key to `_meta`.
        #[must_use]
        pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            self.meta = Some(self.meta.unwrap_or_default().with(key, value));
            self
        }
    };
}

pub(crate) use definition_setters;

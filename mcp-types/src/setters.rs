//! Setters that many types have.

/// Writes the setters that are named, for members that every type calls the same.
macro_rules! setters {
    ($($setter:ident),*) => {
        $($crate::setters::setter!($setter);)*
    };
}

macro_rules! setter {
    (name) => {
        /// Sets the name for programs.
        #[must_use]
        pub fn name(mut self, name: impl Into<String>) -> Self {
            self.name = name.into();
            self
        }
    };
    (title) => {
        /// Sets the name for people.
        #[must_use]
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.title = Some(title.into());
            self
        }
    };
    (describe) => {
        /// Says what it is, for a language model or for people.
        #[must_use]
        pub fn describe(mut self, description: impl Into<String>) -> Self {
            self.description = Some(description.into());
            self
        }
    };
    (mime_type) => {
        /// Sets the MIME type.
        #[must_use]
        pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
            self.mime_type = Some(mime_type.into());
            self
        }
    };
    (size) => {
        /// Sets the size in bytes.
        #[must_use]
        pub fn size(mut self, bytes: u64) -> Self {
            self.size = Some(bytes);
            self
        }
    };
    (icon) => {
        /// Adds a picture.
        #[must_use]
        pub fn icon(mut self, icon: $crate::Icon) -> Self {
            self.icons.push(icon);
            self
        }
    };
    (annotations) => {
        /// Says who it is for.
        #[must_use]
        pub fn annotations(mut self, annotations: $crate::Annotations) -> Self {
            self.annotations = Some(annotations);
            self
        }
    };
    (meta) => {
        /// Adds a key to `_meta`.
        #[must_use]
        pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            self.meta = Some(self.meta.unwrap_or_default().with(key, value));
            self
        }
    };
}

/// Writes what to show of a type that has a name for programs and one for people.
macro_rules! display_name {
    () => {
        /// The name to show to people.
        // spec: LIFE-16
        pub fn display_name(&self) -> &str {
            self.title.as_deref().unwrap_or(&self.name)
        }
    };
}

pub(crate) use {display_name, setter, setters};

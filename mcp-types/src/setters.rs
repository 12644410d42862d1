//! Setter methods that many types share.

/// Defines the named setters in an `impl` block. Each sets the field of the same name; `icon` appends to
/// `icons`, and `meta` adds a key to `_meta`. `setter(value: Type) => field;` defines another setter of
/// an optional field.
macro_rules! setters {
    ($($setter:ident),*) => {
        $($crate::setters::setter!($setter);)*
    };
    ($($(#[$doc:meta])* $setter:ident($value:ident: $type:ty) => $field:ident;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $setter(mut self, $value: $type) -> Self {
            self.$field = Some($value.into());
            self
        })*
    };
}

macro_rules! setter {
    (name) => {
        /// Sets the programmatic name.
        #[must_use]
        pub fn name(mut self, name: impl Into<String>) -> Self {
            self.name = name.into();
            self
        }
    };
    (title) => {
        /// Sets the display name.
        #[must_use]
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.title = Some(title.into());
            self
        }
    };
    (description) => {
        /// Sets the description, which a language model or a user reads.
        #[must_use]
        pub fn description(mut self, description: impl Into<String>) -> Self {
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
        /// Sets the size in bytes, before Base64 encoding.
        #[must_use]
        pub fn size(mut self, bytes: u64) -> Self {
            self.size = Some(bytes);
            self
        }
    };
    (icon) => {
        /// Adds an icon.
        #[must_use]
        pub fn icon(mut self, icon: $crate::icon::Icon) -> Self {
            self.icons.push(icon);
            self
        }
    };
    (annotations) => {
        /// Sets the annotations: audience, priority, time of the last change.
        #[must_use]
        pub fn annotations(mut self, annotations: $crate::content::Annotations) -> Self {
            self.annotations = Some(annotations);
            self
        }
    };
    (meta) => {
        /// Adds a key to `_meta`, or replaces its value.
        #[must_use]
        pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            self.meta = Some(self.meta.unwrap_or_default().with(key, value));
            self
        }
    };
}

/// Defines `display_name` for a type with the fields `name` and `title`.
macro_rules! display_name {
    () => {
        /// Returns the name to show to users: `title` if it is set, otherwise `name`.
        // spec: LIFE-16
        pub fn display_name(&self) -> &str {
            self.title.as_deref().unwrap_or(&self.name)
        }
    };
}

pub(crate) use {display_name, setter, setters};

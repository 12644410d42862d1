//! Objects that are read member by member, so that unknown members survive and nothing is buffered.

/// Writes `Deserialize` for a struct with a member `other` that takes what the list does not name.
///
/// A member that is `null` counts as absent; a known member that comes twice is refused.
macro_rules! read_members {
    ($name:ident as $what:literal { $($key:literal => $field:ident,)* }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$name, A::Error> {
                        let mut found = $name::default();
                        let mut other = $crate::JsonObject::new();
                        $(let mut $field = false;)*
                        while let Some($crate::text::Str(key)) = map.next_key()? {
                            match key.as_ref() {
                                $($key if $field => {
                                    return Err(serde::de::Error::duplicate_field($key));
                                })*
                                $($key => {
                                    $field = true;
                                    found.$field = map.next_value::<Option<_>>()?.unwrap_or_default();
                                })*
                                _ => {
                                    other.insert(key.into_owned(), map.next_value()?);
                                }
                            }
                        }
                        found.other = other.into();
                        Ok(found)
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }
    };
}

pub(crate) use read_members;

//! The registered extensions of a server or a client, and mistakes in them.

use std::any::type_name;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use mcp_types::{JsonObject, Method};
use serde::Serialize;
use serde_json::Value;

use super::{Extension, to_object};

/// A registered extension, with the data that [`find_problems`] checks before its first use. `C` is the
/// capabilities type of the side that registers it.
#[derive(Clone)]
pub struct Registration<C> {
    id: String,
    settings: JsonObject,
    /// The methods that this side answers.
    methods: Vec<&'static str>,
    /// The name of the Rust type or function that registers the extension, for errors.
    source: &'static str,
    requirements: Vec<Requirement<C>>,
    /// Mistakes in the identifier and the settings.
    problems: Vec<String>,
}

#[derive(Clone)]
struct Requirement<C> {
    name: String,
    is_met: Arc<dyn Fn(&C) -> bool + Send + Sync>,
}

impl<C> Registration<C> {
    /// Creates the extension `E`'s registration.
    pub fn of<E: Extension>(settings: &impl Serialize) -> Self {
        Self::new(E::ID, type_name::<E>(), settings)
    }

    /// Creates a registration of an extension without a Rust type. Errors name `source` as its origin.
    pub fn new(id: impl Into<String>, source: &'static str, settings: &impl Serialize) -> Self {
        let id = id.into();
        let mut problems = Vec::new();
        if !is_valid_id(&id) {
            problems.push(format!(
                "`{id}` is not a valid extension identifier; write it as `com.example/name`"
            ));
        }
        let settings = to_object(settings).map_err(|error| error.to_string());
        let settings = settings.and_then(|raw| raw.parse().map_err(|error| error.to_string()));
        let settings = settings.unwrap_or_else(|error| {
            problems.push(format!("the settings of the extension `{id}`: {error}"));
            JsonObject::new()
        });
        Self {
            id,
            settings,
            methods: Vec::new(),
            source,
            requirements: Vec::new(),
            problems,
        }
    }

    /// Adds a method that this side answers.
    pub fn add_method(&mut self, method: &'static str) {
        self.methods.push(method);
    }

    /// Requires that `is_met` returns true for this side's final capabilities. Errors call the requirement
    /// `name`.
    pub fn require(
        &mut self,
        name: impl Into<String>,
        is_met: impl Fn(&C) -> bool + Send + Sync + 'static,
    ) {
        self.requirements.push(Requirement {
            name: name.into(),
            is_met: Arc::new(is_met),
        });
    }

    /// Returns the identifier and the settings, as a member of `capabilities.extensions`.
    // spec: EXT-01
    pub fn published(&self) -> (String, Value) {
        (self.id.clone(), self.settings.clone().into())
    }

    /// Returns the identifier.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns messages about the requirements that `capabilities` do not meet.
    pub fn unmet_requirements(&self, capabilities: &C) -> impl Iterator<Item = String> {
        let id = &self.id;
        let unmet = self.requirements.iter();
        let unmet = unmet.filter(|requirement| !(requirement.is_met)(capabilities));
        unmet.map(move |requirement| {
            format!(
                "the extension `{id}` needs {}, which is missing; add it, or remove the extension",
                requirement.name
            )
        })
    }
}

/// Returns true for a prefix of labels, and a name after it. The names of official extensions may have several parts.
// spec: VER-17
fn is_valid_id(id: &str) -> bool {
    let Some((prefix, name)) = id.split_once('/') else {
        return false;
    };
    prefix.split('.').all(is_label) && name.split('/').all(is_name)
}

// spec: META-01
fn is_label(label: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    label.starts_with(|c: char| c.is_ascii_alphabetic())
        && label.ends_with(|c: char| c.is_ascii_alphanumeric())
        && label.chars().all(is_allowed)
}

// spec: META-04
fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(is_allowed)
}

/// Returns the mistakes in registrations: invalid or repeated identifiers, invalid settings, method names that
/// the protocol or another extension uses, and requirements that the final capabilities do not meet.
pub fn find_problems<C>(registrations: &[Registration<C>], capabilities: &C) -> Vec<String> {
    let mut problems = Vec::new();
    let mut sources = HashMap::new();
    let mut owners = HashMap::new();
    for registration in registrations {
        let (id, source) = (&*registration.id, registration.source);
        problems.extend(registration.problems.iter().cloned());
        if let Some(first) = sources.insert(id, source) {
            problems.push(format!(
                "the extension `{id}` is registered twice, by `{first}` and by `{source}`; remove one"
            ));
            continue;
        }
        for &name in &registration.methods {
            if is_core(name) {
                problems.push(format!(
                    "the extension `{id}` defines `{name}`, which is a method of the protocol; \
                     rename it"
                ));
            } else if let Some(owner) = owners.insert(name, id) {
                problems.push(if owner == id {
                    format!("the extension `{id}` defines `{name}` twice; remove one")
                } else {
                    format!("the extensions `{owner}` and `{id}` both define `{name}`; remove one")
                });
            }
        }
        problems.extend(registration.unmet_requirements(capabilities));
    }
    problems
}

/// Returns true if the protocol itself defines the method. Returns false for methods of official extensions.
fn is_core(name: &str) -> bool {
    Method::from_name(name).is_some_and(|method| !method.spec().of_extension)
}

impl<C> fmt::Debug for Registration<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("id", &self.id)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::is_valid_id;

    #[test]
    fn extension_id_needs_prefix_labels_and_a_name() {
        // spec: VER-17, META-01, META-04
        for (id, is_valid) in [
            ("com.example/clock", true),
            ("com.my-example2/clock-2_b.c", true),
            ("x/7", true),
            ("io.modelcontextprotocol/auth/dpop", true),
            ("clock", false),
            ("/clock", false),
            ("com.example/", false),
            ("com..example/clock", false),
            (".com/clock", false),
            ("7com.example/clock", false),
            ("com.-example/clock", false),
            ("com.example-/clock", false),
            ("com.exa_mple/clock", false),
            ("com.exämple/clock", false),
            ("com.example/-clock", false),
            ("com.example/clock.", false),
            ("com.example/_clock", false),
            ("com.example/clo ck", false),
            ("com.example/a//b", false),
        ] {
            assert_eq!(is_valid_id(id), is_valid, "{id}");
        }
    }
}

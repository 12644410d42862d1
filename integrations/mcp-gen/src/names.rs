//! Rust identifiers from arbitrary text.
//!
//! They consist of ASCII letters, digits and `_`. The compiler normalizes other letters, so that two different
//! strings could be the same identifier.

use std::collections::HashMap;

use heck::{ToSnakeCase as _, ToUpperCamelCase as _};
use proc_macro2::{Ident, Span};

/// Largest length of a name without an appended number.
const MAX_NAME: usize = 80;

/// Keywords that cannot be identifiers, not even with `r#`.
const PATH_KEYWORDS: [&str; 4] = ["crate", "self", "super", "Self"];

/// Names that the generated code imports, and names of the standard prelude that it and its derives use.
pub(crate) const RESERVED_TYPES: [&str; 33] = [
    "Arc",
    "BTreeMap",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Drop",
    "Eq",
    "Err",
    "Error",
    "Fn",
    "From",
    "Future",
    "Hash",
    "Into",
    "None",
    "Ok",
    "Option",
    "PartialEq",
    "Result",
    "Self",
    "Send",
    "Serialize",
    "Some",
    "String",
    "Sync",
    "T",
    "ToString",
    "TypedCall",
    "Value",
    "Vec",
];

/// The names of one scope.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Used names, each with the last number that was appended to it.
    used: HashMap<String, usize>,
}

impl Names {
    pub(crate) fn with_reserved(reserved: &[&str]) -> Self {
        let used = reserved.iter().map(|name| ((*name).to_owned(), 1));
        Self {
            used: used.collect(),
        }
    }

    /// Reserves `wanted`, or, if it is used, `wanted` with a number. Returns the reserved name.
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let Some(mut number) = self.used.get(wanted).copied() else {
            self.used.insert(wanted.to_owned(), 1);
            return wanted.to_owned();
        };
        let separator = if wanted.starts_with(char::is_uppercase) {
            ""
        } else {
            "_"
        };
        loop {
            number += 1;
            let name = format!("{wanted}{separator}{number}");
            if !self.used.contains_key(&name) {
                self.used.insert(wanted.to_owned(), number);
                self.used.insert(name.clone(), 1);
                return name;
            }
        }
    }

    /// Makes a name available again.
    pub(crate) fn release(&mut self, name: &str) {
        self.used.remove(name);
    }
}

/// Converts text to a name for a type or variant. Text without ASCII letters and digits becomes `fallback`.
pub(crate) fn type_name(text: &str, fallback: &str) -> String {
    complete(words(text).to_upper_camel_case(), "N", fallback)
}

/// Converts text to a name for a variant, which `Self` cannot be.
pub(crate) fn variant_name(text: &str, fallback: &str) -> String {
    match type_name(text, fallback) {
        name if name == "Self" => format!("Self{fallback}"),
        name => name,
    }
}

/// Converts text to a name for a field or function. Text without ASCII letters and digits becomes `fallback`.
pub(crate) fn value_name(text: &str, fallback: &str) -> String {
    let name = complete(words(text).to_snake_case(), "n", fallback);
    if PATH_KEYWORDS.contains(&&*name) {
        format!("{name}_")
    } else {
        name
    }
}

/// Converts a name to an identifier, with `r#` if it is a keyword.
pub(crate) fn ident(name: &str) -> Ident {
    match syn::parse_str(name) {
        // A keyword since edition 2024.
        Ok(ident) if name != "gen" => ident,
        _ => Ident::new_raw(name, Span::call_site()),
    }
}

fn words(text: &str) -> String {
    let text = text.chars().take(4 * MAX_NAME);
    text.map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' })
        .collect()
}

/// Replaces an empty name, adds `prefix` to a leading digit, and shortens the result.
fn complete(mut name: String, prefix: &str, fallback: &str) -> String {
    if name.is_empty() {
        name = fallback.to_owned();
    } else if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert_str(0, prefix);
    }
    name.truncate(MAX_NAME);
    name.truncate(name.trim_end_matches('_').len());
    name
}

#[cfg(test)]
mod tests {
    use super::{Names, ident, type_name, value_name};

    #[test]
    fn names_are_identifiers() {
        assert_eq!(value_name("maxItems", "field"), "max_items");
        assert_eq!(value_name("@type", "field"), "type");
        assert_eq!(ident(&value_name("@type", "field")).to_string(), "r#type");
        assert_eq!(value_name("self", "field"), "self_");
        assert_eq!(value_name("", "field"), "field");
        assert_eq!(value_name("2fa", "field"), "n2fa");
        assert_eq!(value_name("größe", "field"), "gr_e");
        assert_eq!(type_name("self", "Type"), "Self");
        assert_eq!(type_name("search-files", "Type"), "SearchFiles");
        assert_eq!(type_name("日本", "Type"), "Type");
        assert_eq!(value_name(&"a".repeat(500), "field").len(), 80);
    }

    #[test]
    fn used_names_get_numbers() {
        let mut names = Names::with_reserved(&["String"]);
        assert_eq!(names.take("String"), "String2");
        assert_eq!(names.take("a"), "a");
        assert_eq!(names.take("a"), "a_2");
        assert_eq!(names.take("a_2"), "a_2_2");
        assert_eq!(names.take("a"), "a_3");
    }
}

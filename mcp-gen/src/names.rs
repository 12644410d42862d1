//! Identifiers of Rust from arbitrary text.
//!
//! Only ASCII letters, digits and `_` are used, so two identifiers are equal for the compiler only if
//! they are equal here.

use std::collections::HashMap;

use heck::{ToSnakeCase as _, ToUpperCamelCase as _};
use proc_macro2::{Ident, Span};

/// Longest name before a number is appended.
const MAX_NAME: usize = 80;

/// Keywords of all editions, which need `r#`.
const KEYWORDS: [&str; 49] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield", "union",
];

/// Keywords that cannot have `r#`.
const PATH_KEYWORDS: [&str; 4] = ["crate", "self", "super", "Self"];

/// Names that the generated code imports, and names of the standard prelude that it and its derives use.
pub(crate) const RESERVED_TYPES: [&str; 32] = [
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
    "ToString",
    "TypedCall",
    "Value",
    "Vec",
];

/// The names of one scope.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Used names, with the last number that was appended to each.
    used: HashMap<String, usize>,
}

impl Names {
    pub(crate) fn with_reserved(reserved: &[&str]) -> Self {
        let used = reserved.iter().map(|name| ((*name).to_owned(), 1));
        Self {
            used: used.collect(),
        }
    }

    /// Returns `wanted`, with a number if it is used.
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        if !self.used.contains_key(wanted) {
            self.used.insert(wanted.to_owned(), 1);
            return wanted.to_owned();
        }
        let separator = if wanted.starts_with(char::is_uppercase) {
            ""
        } else {
            "_"
        };
        let mut number = self.used.get(wanted).copied().unwrap_or(1);
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

/// Returns the text as a name of a type or variant.
pub(crate) fn type_name(text: &str, fallback: &str) -> String {
    let name = words(text).to_upper_camel_case();
    let name = match name.chars().next() {
        None => fallback.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("N{name}"),
        Some(_) => name,
    };
    shorten(name)
}

/// Returns the text as a name of a field or function.
pub(crate) fn value_name(text: &str, fallback: &str) -> String {
    let name = words(text).to_snake_case();
    let name = match name.chars().next() {
        None => fallback.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{name}"),
        Some(_) => name,
    };
    let name = shorten(name);
    if PATH_KEYWORDS.contains(&&*name) {
        format!("{name}_")
    } else {
        name
    }
}

/// Returns the identifier of a name.
pub(crate) fn ident(name: &str) -> Ident {
    if KEYWORDS.contains(&name) {
        Ident::new_raw(name, Span::call_site())
    } else {
        Ident::new(name, Span::call_site())
    }
}

fn words(text: &str) -> String {
    let text = text.chars().take(4 * MAX_NAME);
    text.map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' })
        .collect()
}

fn shorten(mut name: String) -> String {
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

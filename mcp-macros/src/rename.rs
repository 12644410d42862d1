//! `rename_all = "…"` of serde and schemars.

use syn::LitStr;

/// A rule that changes the field names and enum values.
#[derive(Clone, Copy)]
pub(crate) enum RenameRule {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl RenameRule {
    /// Parses the value of `rename_all`.
    ///
    /// # Errors
    ///
    /// Returns an error for a rule that serde does not know.
    pub(crate) fn parse(rule: &LitStr) -> syn::Result<Self> {
        Ok(match rule.value().as_str() {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => {
                return Err(syn::Error::new_spanned(
                    rule,
                    "unknown rule of `rename_all`",
                ));
            }
        })
    }

    /// Renames a field, whose name is in snake case.
    pub(crate) fn field(self, name: &str) -> String {
        match self {
            Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Pascal => name.split('_').map(capitalize).collect(),
            Self::Camel => uncapitalize(&Self::Pascal.field(name)),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }

    /// Renames an enum value, whose name is in Pascal case.
    pub(crate) fn value(self, name: &str) -> String {
        match self {
            Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => uncapitalize(name),
            words => words.field(&snake(name)),
        }
    }
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (index, letter) in name.char_indices() {
        if index > 0 && letter.is_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

fn capitalize(word: &str) -> String {
    change_first(word, char::to_ascii_uppercase)
}

fn uncapitalize(word: &str) -> String {
    change_first(word, char::to_ascii_lowercase)
}

fn change_first(word: &str, change: fn(&char) -> char) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| change(&letter));
    first.into_iter().chain(letters).collect()
}

//! Validation of answers against their form, and default values. Clients and servers use both.

use std::fmt::Display;

use serde_json::Value;

use super::{
    Choices, FormSchema, MultiSelectSchema, NumberSchema, PrimitiveSchema, StringFormat,
    StringSchema,
};
use crate::{extra::JsonObject, time};

/// Error for an answer that is not valid for its form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {problem}")]
#[expect(clippy::exhaustive_structs, reason = "programs build it")]
pub struct FormError {
    /// The field's name.
    pub field: String,
    /// The problem's description, to be read after the field's name.
    pub problem: String,
}

impl FormSchema {
    /// Adds the default values of fields without an answer.
    // spec: ELIC-07
    pub fn fill_defaults(&self, answers: &mut JsonObject) {
        for (name, field) in self.fields() {
            if !answers.contains_key(name)
                && let Some(value) = field.default_value()
            {
                answers.insert(name.to_owned(), value);
            }
        }
    }

    /// Removes blank texts from optional fields that do not accept them: fields for numbers, choices and
    /// formats that the user left empty. In a plain text field a blank text stays.
    // spec: ELIC-13
    pub fn remove_blanks(&self, answers: &mut JsonObject) {
        for (name, field) in self.fields() {
            let is_blank =
                |answer: &Value| answer.as_str().is_some_and(|text| text.trim().is_empty());
            let is_unusable =
                |answer: &Value| is_blank(answer) && check_field(field, answer).is_err();
            let is_optional = self.required.iter().all(|required| required != name);
            if is_optional && answers.get(name).is_some_and(is_unusable) {
                answers.shift_remove(name);
            }
        }
    }

    /// Validates answers. Fields of an unknown kind and answers without a field are not checked.
    ///
    /// # Errors
    ///
    /// Returns [`FormError`] for the first invalid field.
    // spec: ELIC-13
    pub fn check(&self, answers: &JsonObject) -> Result<(), FormError> {
        let missing = |name: &&String| !answers.contains_key(*name);
        if let Some(name) = self.required.iter().find(missing) {
            return Err(FormError {
                field: name.clone(),
                problem: "is missing".to_owned(),
            });
        }
        for (name, field) in self.fields() {
            let Some(answer) = answers.get(name) else {
                continue;
            };
            check_field(field, answer).map_err(|problem| FormError {
                field: name.to_owned(),
                problem,
            })?;
        }
        Ok(())
    }
}

/// The result of a check. The error describes the problem.
type Checked = Result<(), String>;

fn check_field(field: &PrimitiveSchema, answer: &Value) -> Checked {
    match field {
        PrimitiveSchema::String(field) => check_text(field, answer),
        PrimitiveSchema::Number(field) => check_number(field, answer),
        PrimitiveSchema::Boolean(_) => {
            answer
                .as_bool()
                .ok_or_else(|| expected("true or false", answer))?;
            Ok(())
        }
        PrimitiveSchema::Enum(field) => {
            let text = answer.as_str().ok_or_else(|| expected("a text", answer))?;
            check_choice(&field.choices, text)
        }
        PrimitiveSchema::MultiSelect(field) => check_choices(field, answer),
        PrimitiveSchema::Other(_) => Ok(()),
    }
}

fn expected(what: &str, got: &Value) -> String {
    let kind = match got {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("must be {what}, not {kind}")
}

fn check_text(field: &StringSchema, answer: &Value) -> Checked {
    let text = answer.as_str().ok_or_else(|| expected("a text", answer))?;
    let length = text.chars().count() as u64;
    let limits = (field.min_length, field.max_length);
    check_limits(length, limits, || format!("has {length} characters"), "are")?;
    let (fits, what) = match &field.format {
        Some(StringFormat::Email) => (is_email(text), "an address for mail"),
        Some(StringFormat::Uri) => (is_uri(text), "a URI"),
        Some(StringFormat::Date) => (time::is_date(text), "a day such as 2026-07-28"),
        Some(StringFormat::DateTime) => (
            time::is_date_time(text),
            "a time such as 2026-07-28T12:00:00Z",
        ),
        Some(StringFormat::Other(_)) | None => (true, ""),
    };
    if fits {
        Ok(())
    } else {
        Err(format!("must be {what}"))
    }
}

/// Compares a value with its limits. `actual` describes it after the field's name.
fn check_limits<T: PartialOrd + Display>(
    value: T,
    limits: (Option<T>, Option<T>),
    actual: impl Fn() -> String,
    verb: &str,
) -> Checked {
    match limits {
        (Some(least), _) if value < least => {
            Err(format!("{}; at least {least} {verb} wanted", actual()))
        }
        (_, Some(most)) if value > most => {
            Err(format!("{}; at most {most} {verb} allowed", actual()))
        }
        _ => Ok(()),
    }
}

/// Returns `true` for non-empty text before and after an `@`, without whitespace.
fn is_email(text: &str) -> bool {
    let spaced = text.contains(char::is_whitespace);
    let parts = text.rsplit_once('@');
    !spaced && parts.is_some_and(|(user, host)| !user.is_empty() && !host.is_empty())
}

/// Returns `true` for a scheme of RFC 3986, a colon and more text without whitespace.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let letter = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    let scheme = scheme
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    letter && scheme && !rest.is_empty() && !rest.contains(char::is_whitespace)
}

fn check_number(field: &NumberSchema, answer: &Value) -> Checked {
    let what = if field.is_integer() {
        "a whole number"
    } else {
        "a number"
    };
    let number = answer.as_f64().ok_or_else(|| expected(what, answer))?;
    if field.is_integer() && number.fract() != 0.0 {
        return Err(format!("must be a whole number, not {number}"));
    }
    let limits = (field.minimum, field.maximum);
    check_limits(number, limits, || format!("is {number}"), "is")
}

fn check_choice(choices: &Choices, text: &str) -> Checked {
    if choices.contains(text) {
        return Ok(());
    }
    let known: Vec<_> = choices.iter().map(|(value, _)| value).collect();
    Err(format!(
        "is {text:?}; it must be one of {}",
        known.join(", ")
    ))
}

fn check_choices(field: &MultiSelectSchema, answer: &Value) -> Checked {
    let picked = answer
        .as_array()
        .ok_or_else(|| expected("a list of texts", answer))?;
    for item in picked {
        let text = item
            .as_str()
            .ok_or_else(|| expected("a list of texts", item))?;
        check_choice(&field.choices, text)?;
    }
    let count = picked.len() as u64;
    let limits = (field.min_items, field.max_items);
    check_limits(count, limits, || format!("has {count} picked"), "are")
}

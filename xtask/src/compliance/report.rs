//! The page and the JSON file with the places of each requirement.

use std::fmt::Write as _;

use serde::Serialize;

use super::marks::{Mark, Place};
use super::requirements::Requirement;
use super::table::{Compliance, Places};
use crate::result::Result;

/// The page's path, from the repository's root.
pub(super) const PAGE: &str = "docs/spec/compliance.md";

/// Returns a sentence with the totals, in Markdown.
pub(super) fn totals(compliance: &Compliance<'_>) -> String {
    let places = compliance.places();
    let musts: Vec<_> = compliance
        .checklist
        .iter()
        .filter(|row| row.is_must())
        .collect();
    let has_reason = |row: &&&Requirement<'_>| compliance.reasons.get(row.id).is_some();
    let excepted = musts.iter().filter(has_reason).count();
    let is_proved = |row: &&&Requirement<'_>| {
        let places = places.get(row.id);
        places.is_some_and(|places| !places.code.is_empty() && !places.tests.is_empty())
    };
    let proved = musts.iter().filter(is_proved).count();
    format!(
        "{} requirements, {} of them a MUST or MUST NOT: **{proved} with code and test, {excepted} with the \
         reason why they do not apply, {} open**.",
        compliance.checklist.iter().count(),
        musts.len(),
        musts.len() - proved - excepted
    )
}

/// Returns the page.
pub(super) fn page(compliance: &Compliance<'_>) -> String {
    let mut page = format!(
        "# Compliance: each requirement with its code and its tests\n\n{}\n\n\
         Written by `cargo xtask compliance --update` from [requirements.md](requirements.md), \
         [exceptions.md](exceptions.md) and the `// spec:` comments; `cargo xtask ci` compares it.\n\n\
         | id | level | side | code | tests, or why it does not apply |\n|---|---|---|---|---|\n",
        totals(compliance)
    );
    let places = compliance.places();
    let none = Places::default();
    for requirement in compliance
        .checklist
        .iter()
        .filter(|row| !row.level.is_empty())
    {
        let places = places.get(requirement.id).unwrap_or(&none);
        let mut code: Vec<_> = places.code.iter().map(|mark| link(mark.path)).collect();
        code.dedup();
        let mut tests: Vec<_> = places.tests.iter().filter_map(|mark| test(mark)).collect();
        tests.sort();
        tests.dedup();
        let reason = compliance.reasons.get(requirement.id);
        let last = reason.map_or_else(|| tests.join("<br>"), |reason| reason.text.to_owned());
        let Requirement {
            id, level, side, ..
        } = requirement;
        let _ = writeln!(
            page,
            "| {id} | {level} | {side} | {} | {last} |",
            code.join("<br>")
        );
    }
    page
}

/// Returns a link from the page to a file.
fn link(path: &str) -> String {
    let up = "../".repeat(PAGE.matches('/').count());
    format!("[{path}]({up}{path})")
}

/// Returns the test's file and name.
fn test(mark: &Mark<'_>) -> Option<String> {
    match mark.place {
        Place::Test(name) => Some(format!("{} `{name}`", link(mark.path))),
        Place::Code | Place::Helper => None,
    }
}

/// A requirement in the JSON file.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    level: &'a str,
    side: &'a str,
    code: Vec<String>,
    tests: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// Returns the table as JSON, with the line of each place.
pub(super) fn json(compliance: &Compliance<'_>) -> Result<String> {
    let places = compliance.places();
    let none = Places::default();
    let place = |mark: &&Mark<'_>| match mark.place {
        Place::Test(name) => format!("{}:{} {name}", mark.path, mark.line),
        Place::Code | Place::Helper => format!("{}:{}", mark.path, mark.line),
    };
    let rows = compliance.checklist.iter().map(|requirement| {
        let places = places.get(requirement.id).unwrap_or(&none);
        Row {
            id: requirement.id,
            level: requirement.level,
            side: requirement.side,
            code: places.code.iter().map(place).collect(),
            tests: places.tests.iter().map(place).collect(),
            reason: compliance
                .reasons
                .get(requirement.id)
                .map(|reason| reason.text),
        }
    });
    let rows: Vec<Row<'_>> = rows.collect();
    Ok(serde_json::to_string_pretty(&rows)?)
}

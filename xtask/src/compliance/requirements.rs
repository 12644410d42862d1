//! The checklist of requirements, and the reasons why some of them do not apply.

use std::collections::HashSet;

/// The checklist: table rows with id, level, revisions, side, text and source.
pub(super) const CHECKLIST: &str = "docs/spec/requirements.md";
/// The reasons: table rows with id and reason.
pub(super) const REASONS: &str = "docs/spec/exceptions.md";

/// A row of the checklist.
pub(super) struct Requirement<'a> {
    pub(super) id: &'a str,
    pub(super) level: &'a str,
    pub(super) side: &'a str,
    pub(super) line: usize,
}

impl Requirement<'_> {
    /// Returns true if some part of the row is a MUST or MUST NOT.
    pub(super) fn is_must(&self) -> bool {
        self.level.contains("MUST")
    }

    /// Returns true if the strongest part of the row is a SHOULD or SHOULD NOT.
    pub(super) fn is_should(&self) -> bool {
        self.level.contains("SHOULD") && !self.is_must()
    }
}

/// The requirements in the order of their page.
pub(super) struct Checklist<'a> {
    rows: Vec<Requirement<'a>>,
    ids: HashSet<&'a str>,
}

impl<'a> Checklist<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let rows = (1..).zip(text.lines()).filter_map(|(line, text)| {
            let mut cells = cells(text);
            let id = cells.next().filter(|cell| is_id(cell))?;
            let (level, _revisions, side) = (cells.next()?, cells.next()?, cells.next());
            // The table of gaps in the specification has no levels.
            let level = if side.is_some() { level } else { "" };
            let side = side.unwrap_or("");
            Some(Requirement {
                id,
                level,
                side,
                line,
            })
        });
        let rows: Vec<_> = rows.collect();
        let ids = rows.iter().map(|row| row.id).collect();
        Self { rows, ids }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Requirement<'a>> {
        self.rows.iter()
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// A reason why a requirement does not apply, or is not followed.
pub(super) struct Reason<'a> {
    pub(super) id: &'a str,
    pub(super) text: &'a str,
    pub(super) line: usize,
}

/// The reasons by id.
pub(super) struct Reasons<'a> {
    rows: Vec<Reason<'a>>,
}

impl<'a> Reasons<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let rows = (1..).zip(text.lines()).filter_map(|(line, text)| {
            let mut cells = cells(text);
            let id = cells.next().filter(|cell| is_id(cell))?;
            let text = cells.next().filter(|cell| !cell.is_empty())?;
            Some(Reason { id, text, line })
        });
        let rows = rows.collect();
        Self { rows }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Reason<'a>> {
        self.rows.iter()
    }

    pub(super) fn get(&self, id: &str) -> Option<&Reason<'a>> {
        self.rows.iter().find(|reason| reason.id == id)
    }
}

/// Returns the cells of a table row. A row of another kind has none.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    let row = line.strip_prefix("| ").unwrap_or("");
    let row = row.strip_suffix(" |").unwrap_or(row);
    row.split(" | ").map(str::trim)
}

/// Returns true for words and a number, joined by hyphens: `HTTP-SM-15`.
pub(super) fn is_id(text: &str) -> bool {
    let number = text.rsplit_once('-').map_or("", |(_, number)| number);
    number.parse::<u32>().is_ok()
}

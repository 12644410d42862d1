//! The places of each requirement, and the findings about them.

use std::collections::HashMap;

use super::marks::{self, Mark, Place};
use super::requirements::{self, Checklist, Reasons};
use crate::finding::Finding;
use crate::sources::{Sources, package};
use crate::tidy::layers;
use crate::workspace::{FACADE, folder_of};

/// The checklist with the places of each id.
pub(super) struct Compliance<'a> {
    pub(super) checklist: Checklist<'a>,
    pub(super) reasons: Reasons<'a>,
    marks: Vec<Mark<'a>>,
}

/// The places of a requirement.
#[derive(Default)]
pub(super) struct Places<'m, 'a> {
    pub(super) code: Vec<&'m Mark<'a>>,
    pub(super) tests: Vec<&'m Mark<'a>>,
}

impl Places<'_, '_> {
    /// Returns true if the package of a test is that of some code, or uses it. Integration tests use the facade.
    fn may_be_proved(&self) -> bool {
        let mut pairs = self
            .tests
            .iter()
            .flat_map(|test| self.code.iter().map(move |code| (test, code)));
        pairs.any(|(test, code)| {
            let is_integration_test = !test.path.contains("/src/");
            let code = package(code.path);
            layers::may_use(package(test.path), code)
                || (is_integration_test && layers::may_use(folder_of(FACADE), code))
        })
    }
}

impl<'a> Compliance<'a> {
    pub(super) fn read(sources: &'a Sources) -> Self {
        let text = |path| sources.text(path).map_or("", |text| text.content.as_str());
        Self {
            checklist: Checklist::parse(text(requirements::CHECKLIST)),
            reasons: Reasons::parse(text(requirements::REASONS)),
            marks: marks::read(sources),
        }
    }

    /// Returns the places of each id.
    pub(super) fn places(&self) -> HashMap<&str, Places<'_, 'a>> {
        let mut places: HashMap<&str, Places<'_, 'a>> = HashMap::new();
        for mark in &self.marks {
            let entry = places.entry(mark.id).or_default();
            match mark.place {
                Place::Code => entry.code.push(mark),
                Place::Test(_) => entry.tests.push(mark),
                Place::Helper => {}
            }
        }
        places
    }

    /// Returns the marks and reasons that are wrong, and the requirements that nobody accounts for.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.checklist.is_empty() {
            let message = "no requirement ids found; expected table rows `| ID | …`";
            findings.push(Finding::new(requirements::CHECKLIST, 1, message));
        }
        for mark in &self.marks {
            if let Some(problem) = self.mark_problem(mark) {
                findings.push(Finding::new(mark.path, mark.line, problem));
            }
        }
        let places = self.places();
        for reason in self.reasons.iter() {
            let has_code = places
                .get(reason.id)
                .is_some_and(|places| !places.code.is_empty());
            let message = if !self.checklist.contains(reason.id) {
                format!("`{}` is not an id of the checklist", reason.id)
            } else if has_code {
                format!("`{}` has code; remove the reason or the mark", reason.id)
            } else {
                continue;
            };
            findings.push(Finding::new(requirements::REASONS, reason.line, message));
        }
        for requirement in self.checklist.iter() {
            let places = places.get(requirement.id);
            let has_code = places.is_some_and(|places| !places.code.is_empty());
            let has_test = places.is_some_and(|places| !places.tests.is_empty());
            let missing = match (has_code, has_test) {
                _ if self.reasons.get(requirement.id).is_some() => continue,
                (true, true) if places.is_some_and(Places::may_be_proved) => continue,
                (true, true) => "test that can run its code,",
                (true, false) if requirement.is_must() => "test",
                (false, _) if requirement.is_must() || requirement.is_should() => "code",
                _ => continue,
            };
            let message = format!(
                "`{}` ({}) has no {missing} with `// spec: {}`; add it, or a reason in {}",
                requirement.id,
                requirement.level,
                requirement.id,
                requirements::REASONS
            );
            findings.push(Finding::new(
                requirements::CHECKLIST,
                requirement.line,
                message,
            ));
        }
        findings.sort();
        findings
    }

    fn mark_problem(&self, mark: &Mark<'_>) -> Option<String> {
        if !self.checklist.contains(mark.id) {
            return Some(format!(
                "{} has no requirement `{}`; write `// spec: ID` or `// spec: ID, ID` with ids that it has",
                requirements::CHECKLIST,
                mark.id
            ));
        }
        let is_outside = matches!(mark.place, Place::Helper);
        is_outside.then(|| {
            format!(
                "`{}` stands in test code, but not in a test; move it into the test that proves it",
                mark.id
            )
        })
    }
}

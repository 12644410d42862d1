//! The steps of a report and their outcomes.

use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::{Failure, FailureKind};
use crate::output::Output;

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warning,
    Failed,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}

/// One step of the connection.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    #[serde(rename = "step")]
    name: &'static str,
    state: State,
    detail: String,
    cure: Option<String>,
    #[serde(skip)]
    kind: FailureKind,
    #[serde(skip_serializing_if = "Value::is_null")]
    data: Value,
}

impl Step {
    pub(super) fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Ok,
            detail: detail.into(),
            cure: None,
            kind: FailureKind::Server,
            data: Value::Null,
        }
    }

    /// A step that works, with a property that causes problems.
    pub(super) fn warning(
        name: &'static str,
        detail: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Warning,
            cure: Some(cure.into()),
            ..Self::ok(name, detail)
        }
    }

    /// A step that failed. `kind` decides the exit code.
    pub(super) fn failed(
        name: &'static str,
        kind: FailureKind,
        detail: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Failed,
            kind,
            ..Self::warning(name, detail, cure)
        }
    }

    /// Adds a value to the JSON document.
    pub(super) fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }
}

/// The steps of one connection, in their order.
#[derive(Debug)]
pub(in super::super) struct Report {
    target: String,
    steps: Vec<Step>,
}

impl Report {
    pub(super) fn new(target: String) -> Self {
        Self {
            target,
            steps: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Returns whether a step has failed.
    pub(in super::super) fn has_failed(&self) -> bool {
        self.first_failure().is_some()
    }

    /// Returns the warnings and failures: the step's name, whether it failed, the detail and the cure.
    pub(in super::super) fn problems(
        &self,
    ) -> impl Iterator<Item = (&'static str, bool, &str, &str)> {
        let problems = self.steps.iter().filter(|step| step.state != State::Ok);
        problems.map(|step| {
            let cure = step.cure.as_deref().unwrap_or_default();
            (step.name, step.state == State::Failed, &*step.detail, cure)
        })
    }

    fn first_failure(&self) -> Option<&Step> {
        self.steps.iter().find(|step| step.state == State::Failed)
    }

    pub(in super::super) fn print(&self, output: &Output) {
        if output.json {
            output.document(&json!({
                "target": self.target,
                "healthy": !self.has_failed(),
                "steps": self.steps,
            }));
            return;
        }
        output.heading(&self.target);
        for step in &self.steps {
            let mut lines = step.detail.lines();
            let first = lines.next().unwrap_or_default();
            output.line(&format!(
                "{:<8} {:<12} {first}",
                step.state.name(),
                step.name
            ));
            for line in lines {
                output.line(&format!("{:22}{line}", ""));
            }
            if let Some(cure) = &step.cure {
                output.line(&format!("{:22}cure: {cure}", ""));
            }
        }
    }

    /// The outcome of the command: the first failed step decides the exit code.
    pub(in super::super) fn into_result(self) -> Result<(), Failure> {
        match self.first_failure() {
            None => Ok(()),
            Some(step) => {
                let detail = step.detail.lines().next().unwrap_or_default();
                let message = format!("the step {} failed: {detail}", step.name);
                Err(Failure::new(step.kind, message))
            }
        }
    }
}

//! The outcome of a step.

/// The outcome of a step that did not fail.
#[derive(Debug)]
pub(super) enum StepOutcome {
    Passed,
    /// A part was checked. The text says which part was not, and why.
    Partial(String),
    /// The step cannot run here, for this reason.
    Skipped(String),
}

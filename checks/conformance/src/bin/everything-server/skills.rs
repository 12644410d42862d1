//! Skills: one from a folder, and one from code.

use std::path::Path;

use mcp::skills::{InlineSkill, Skills, SkillsError};

/// Returns the skills of the folder `checks/conformance/skills` and one from code.
pub(crate) fn skills() -> Result<Skills, SkillsError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
    let refunds = InlineSkill::new(
        "refunds",
        "How to refund an order",
        "# Refunds\n\nRead references/limits.md first.\n",
    );
    let refunds = refunds.file(
        "references/limits.md",
        "Refunds above 500 EUR need an approval.\n",
    );
    Skills::dir(folder)?.add(refunds)
}

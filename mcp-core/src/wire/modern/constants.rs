//! Constants of revision 2026-07-28.

use mcp_types::ProtocolVersion;

/// The revision.
pub(super) const VERSION: ProtocolVersion = ProtocolVersion::V2026_07_28;

/// The `resultType` of a complete result.
pub(super) const COMPLETE: &str = "complete";
/// The `resultType` of a result that asks for input.
pub(super) const INPUT_REQUIRED: &str = "input_required";

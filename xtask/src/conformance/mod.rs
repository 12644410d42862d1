//! stub
use crate::*;
pub(crate) fn run(_: &Workspace, _: Flags) -> Result<bool> {
    Ok(true)
}

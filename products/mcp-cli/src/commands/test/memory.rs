//! Memory of child processes.

use std::path::Path;

use crate::local_users::started_by;

/// Largest description of a process in bytes.
const MAX_STATUS: u64 = 64 << 10;

/// Returns the resident memory of this process's descendants in KiB. `None` if the operating system does not report it, as
/// only Linux does, or if there are no descendants.
pub(super) fn of_children() -> Option<u64> {
    let own = std::process::id();
    let children = started_by(own).into_iter().filter(|id| *id != own);
    let sizes = children.filter_map(|id| {
        // The process can have ended.
        let status = mcp_files::read(Path::new(&format!("/proc/{id}/status")), MAX_STATUS).ok()?;
        let resident = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        resident.split_whitespace().next()?.parse::<u64>().ok()
    });
    Some(sizes.sum()).filter(|total| *total > 0)
}

//! Memory of child processes.

#[cfg(target_os = "linux")]
use mcp::group::files;

/// Largest description of a process in bytes.
#[cfg(target_os = "linux")]
const MAX_STATUS: u64 = 64 << 10;

/// Returns the resident memory of this process's descendants in KiB. `None` if the operating system
/// does not report it, or if there are no descendants.
#[cfg(target_os = "linux")]
pub(super) fn of_children() -> Option<u64> {
    let mut processes = Vec::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let id = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(id) = id else { continue };
        // The process can have ended.
        let Ok(status) = files::read(&entry.path().join("status"), MAX_STATUS) else {
            continue;
        };
        let parent: u32 = field(&status, "PPid:").and_then(|text| text.parse().ok())?;
        let resident = field(&status, "VmRSS:").and_then(|text| text.parse().ok());
        processes.push((id, parent, resident.unwrap_or(0)));
    }
    let mut family = vec![std::process::id()];
    let mut total: u64 = 0;
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        next += 1;
        let children = processes.iter().filter(|(_, of, _)| *of == parent);
        for (id, _, resident) in children {
            family.push(*id);
            total += resident;
        }
    }
    (total > 0).then_some(total)
}

#[cfg(target_os = "linux")]
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()
}

/// Returns `None`: the memory is only read on Linux.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_children() -> Option<u64> {
    None
}

//! Counters of this node's tasks, for metrics.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_core::TaskMetrics;
use mcp_types::ext::tasks::TaskStatus;
use parking_lot::Mutex;

/// Counters of this node's tasks.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    state: Mutex<CounterState>,
}

#[derive(Debug, Default)]
struct CounterState {
    open: BTreeMap<&'static str, u64>,
    ended: BTreeMap<&'static str, u64>,
}

impl Counters {
    /// Counts a task that was stored.
    pub(crate) fn open(self: &Arc<Self>) -> OpenTask {
        change(&mut self.state.lock().open, &TaskStatus::Working, 1);
        OpenTask {
            counters: self.clone(),
            status: TaskStatus::Working,
        }
    }

    /// Returns a snapshot.
    pub(crate) fn read(&self) -> TaskMetrics {
        let state = self.state.lock();
        let mut metrics = TaskMetrics::default();
        // A gauge without a value is a gap in a dashboard.
        metrics.open = [("working", 0), ("input_required", 0)].into();
        metrics.open.extend(state.open.clone());
        metrics.ended = state.ended.clone();
        metrics
    }
}

fn change(counts: &mut BTreeMap<&'static str, u64>, status: &TaskStatus, by: i64) {
    let name = match status {
        TaskStatus::InputRequired => "input_required",
        TaskStatus::Completed => "completed",
        TaskStatus::Failed => "failed",
        TaskStatus::Cancelled => "cancelled",
        _ => "working",
    };
    let count = counts.entry(name).or_default();
    *count = count.saturating_add_signed(by);
}

/// A task that this node runs. Dropping it without a final status counts as cancelled.
#[derive(Debug)]
pub(crate) struct OpenTask {
    counters: Arc<Counters>,
    status: TaskStatus,
}

impl OpenTask {
    /// Sets the task's status.
    pub(crate) fn set(&mut self, status: &TaskStatus) {
        if self.status != *status && !self.status.is_terminal() {
            let mut state = self.counters.state.lock();
            change(&mut state.open, &self.status, -1);
            if status.is_terminal() {
                change(&mut state.ended, status, 1)
            } else {
                change(&mut state.open, status, 1)
            }
            self.status = status.clone();
        }
    }
}

impl Drop for OpenTask {
    fn drop(&mut self) {
        self.set(&TaskStatus::Cancelled);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_types::ext::tasks::TaskStatus;

    use super::Counters;

    #[test]
    fn task_is_counted_by_its_status_until_it_ends() {
        let counters = Arc::new(Counters::default());
        let (mut first, second) = (counters.open(), counters.open());
        first.set(&TaskStatus::InputRequired);
        let open = [("working", 1), ("input_required", 1)];
        assert_eq!(counters.read().open, open.into());
        first.set(&TaskStatus::Completed);
        drop((first, second));
        assert!(counters.read().open.values().all(|count| *count == 0));
        let ended = [("completed", 1), ("cancelled", 1)];
        assert_eq!(counters.read().ended, ended.into());
    }
}

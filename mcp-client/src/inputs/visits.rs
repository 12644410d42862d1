//! URLs that the user is about to visit: what the server of a session tells of them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use mcp_types::ElicitUrlParams;
use parking_lot::Mutex;
use tokio::sync::watch;

/// A visit: over or not.
#[derive(Debug)]
pub(crate) struct Visit(watch::Sender<bool>);

impl Visit {
    fn new() -> Arc<Self> {
        Arc::new(Self(watch::Sender::new(false)))
    }

    pub(crate) fn complete(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn completed(&self) {
        // The sender is `self`, so somebody can always tell.
        let _ = self.0.subscribe().wait_for(|over| *over).await;
    }
}

/// The visits of a client that somebody waits for, by the id of their elicitation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visits(Arc<Mutex<HashMap<String, Weak<Visit>>>>);

impl Visits {
    /// The visit that `asked` is about; the same one for everybody who waits for it.
    pub(crate) fn of(&self, asked: &ElicitUrlParams) -> Arc<Visit> {
        let Some(id) = &asked.elicitation_id else {
            return Visit::new();
        };
        let mut known = self.0.lock();
        known.retain(|_, visit| visit.strong_count() > 0);
        if let Some(visit) = known.get(id).and_then(Weak::upgrade) {
            return visit;
        }
        let visit = Visit::new();
        known.insert(id.clone(), Arc::downgrade(&visit));
        visit
    }

    /// The server tells that a visit is over. Ids that nobody knows are ignored.
    // spec: ELIC-10
    pub(crate) fn complete(&self, id: &str) {
        let known = self.0.lock();
        if let Some(visit) = known.get(id).and_then(Weak::upgrade) {
            visit.complete();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use mcp_types::ElicitUrlParams;

    use super::Visits;

    #[test]
    fn visits_end_once_and_are_forgotten() {
        let visits = Visits::default();
        let asked = ElicitUrlParams::new("Pay", "https://example.com").elicitation_id("e");
        let (one, two) = (visits.of(&asked), visits.of(&asked));
        visits.complete("other");
        assert!(one.completed().now_or_never().is_none());
        visits.complete("e");
        for visit in [&one, &two] {
            assert!(visit.completed().now_or_never().is_some());
        }
        drop((one, two));
        let anew = visits.of(&asked);
        assert!(anew.completed().now_or_never().is_none());
        drop(anew);
        let nameless = ElicitUrlParams::new("Pay", "https://example.com");
        let _visits = [visits.of(&nameless), visits.of(&asked)];
        assert_eq!(visits.0.lock().len(), 1);
    }
}

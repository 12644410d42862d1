//! URLs that the user visits, and their completion.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::watch;

/// A URL elicitation, completed or not.
#[derive(Debug)]
pub(crate) struct UrlElicitation(watch::Sender<bool>);

impl UrlElicitation {
    fn new() -> Arc<Self> {
        Arc::new(Self(watch::Sender::new(false)))
    }

    pub(crate) fn complete(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn completed(&self) {
        // The sender exists as long as `self`, so the result is never an error.
        let _ = self.0.subscribe().wait_for(|completed| *completed).await;
    }
}

/// The open URL elicitations of a client by their id.
#[derive(Debug, Clone, Default)]
pub(crate) struct UrlElicitations(Arc<Mutex<HashMap<String, Weak<UrlElicitation>>>>);

impl UrlElicitations {
    /// Returns the open elicitation with this id, or a new one.
    pub(crate) fn get_or_insert(&self, id: Option<&str>) -> Arc<UrlElicitation> {
        let Some(id) = id else {
            return UrlElicitation::new();
        };
        let mut open = self.0.lock();
        open.retain(|_, elicitation| elicitation.strong_count() > 0);
        if let Some(elicitation) = open.get(id).and_then(Weak::upgrade) {
            return elicitation;
        }
        let elicitation = UrlElicitation::new();
        open.insert(id.to_owned(), Arc::downgrade(&elicitation));
        elicitation
    }

    /// Completes an elicitation that the server reports as completed. An unknown id is ignored.
    // spec: ELIC-10
    pub(crate) fn complete(&self, id: &str) {
        let open = self.0.lock();
        if let Some(elicitation) = open.get(id).and_then(Weak::upgrade) {
            elicitation.complete();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::UrlElicitations;

    #[test]
    fn complete_with_id_completes_all_waiters_and_frees_id() {
        let elicitations = UrlElicitations::default();
        let get = || elicitations.get_or_insert(Some("e"));
        let (one, two) = (get(), get());
        elicitations.complete("other");
        assert!(one.completed().now_or_never().is_none());
        elicitations.complete("e");
        for elicitation in [&one, &two] {
            assert!(elicitation.completed().now_or_never().is_some());
        }
        drop((one, two));
        let second = get();
        assert!(second.completed().now_or_never().is_none());
        drop(second);
        let _kept = [elicitations.get_or_insert(None), get()];
        assert_eq!(elicitations.0.lock().len(), 1);
    }
}

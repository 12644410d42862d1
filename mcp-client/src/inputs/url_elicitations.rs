//! URLs that the user visits, and their completion.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use mcp_core::close_signal::CloseSignal;
use parking_lot::Mutex;

/// A URL elicitation. The signal is closed when it is completed.
pub(crate) type UrlElicitation = CloseSignal;

/// The open URL elicitations of a client by their id.
#[derive(Debug, Clone, Default)]
pub(crate) struct UrlElicitations(Arc<Mutex<HashMap<String, Weak<UrlElicitation>>>>);

impl UrlElicitations {
    /// Returns the open elicitation with this id, or a new one.
    pub(crate) fn get_or_insert(&self, id: Option<&str>) -> Arc<UrlElicitation> {
        let Some(id) = id else {
            return Arc::default();
        };
        let mut open = self.0.lock();
        open.retain(|_, elicitation| elicitation.strong_count() > 0);
        if let Some(elicitation) = open.get(id).and_then(Weak::upgrade) {
            return elicitation;
        }
        let elicitation = Arc::default();
        open.insert(id.to_owned(), Arc::downgrade(&elicitation));
        elicitation
    }

    /// Completes an elicitation that the server reports as completed. An unknown id is ignored.
    // spec: ELIC-10
    pub(crate) fn complete(&self, id: &str) {
        let open = self.0.lock();
        if let Some(elicitation) = open.get(id).and_then(Weak::upgrade) {
            elicitation.close(());
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
        assert!(one.closed().now_or_never().is_none());
        elicitations.complete("e");
        for elicitation in [&one, &two] {
            assert!(elicitation.closed().now_or_never().is_some());
        }
        drop((one, two));
        let second = get();
        assert!(second.closed().now_or_never().is_none());
        drop(second);
        let _kept = [elicitations.get_or_insert(None), get()];
        assert_eq!(elicitations.0.lock().len(), 1);
    }
}

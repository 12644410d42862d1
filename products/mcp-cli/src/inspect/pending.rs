//! Requests that wait for their response.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

/// Largest number of requests that wait for their response. The oldest are forgotten.
pub(super) const MAX_PENDING: usize = 1024;

/// The requests of one side that have no response yet, by id as JSON.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    requests: HashMap<String, Pending>,
    order: VecDeque<String>,
    /// True after requests were forgotten, or not read: then a response may be one of theirs.
    has_forgotten: bool,
}

/// The facts of a request that decide which responses are valid.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) method: String,
    /// The called tool.
    pub(super) tool: Option<String>,
    /// The request may be answered with a task (revision 2025-11-25).
    pub(super) allows_task: bool,
}

impl PendingRequests {
    /// Adds a message if it is a request.
    pub(super) fn add(&mut self, message: &Value) {
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else {
            return;
        };
        let params = &message["params"];
        let pending = Pending {
            method: method.to_owned(),
            tool: params["name"].as_str().map(str::to_owned),
            allows_task: params["task"].is_object(),
        };
        let id = id.to_string();
        if self.requests.insert(id.clone(), pending).is_none() {
            self.order.push_back(id);
        }
        // Ids of answered requests are in the order, too.
        while self.order.len() > MAX_PENDING {
            if let Some(oldest) = self.order.pop_front() {
                self.has_forgotten |= self.requests.remove(&oldest).is_some();
            }
        }
    }

    /// Removes the request with this id.
    pub(super) fn remove(&mut self, id: &Value) -> Option<Pending> {
        self.requests.remove(&id.to_string())
    }

    /// Notes a request that cannot be read.
    pub(super) fn add_unread(&mut self) {
        self.has_forgotten = true;
    }

    /// Returns true if a response without a request here may have one that was forgotten.
    pub(super) fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }
}

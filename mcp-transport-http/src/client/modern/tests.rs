//! Requests and answers, without a network.

//! Subscriptions to changes of lists and resources.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `subscription` | [`Subscription`], the stream of changes |
//! | `modern` | subscriptions by `subscriptions/listen` |
//! | `legacy` | subscriptions by `resources/subscribe` in a session |
//! | `subscribe` | [`Subscribe`], the builder |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

mod legacy;
mod modern;
mod subscribe;
mod subscription;

pub use subscribe::Subscribe;
pub use subscription::Subscription;

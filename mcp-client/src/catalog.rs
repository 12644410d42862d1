//! Snapshots of what a server offers, and the changes between two of them.
//!
//! A [`Snapshot`] contains a server's tools, prompts, resources, templates and capabilities as
//! stable JSON. [`Snapshot::diff`] tells breaking changes from compatible and cosmetic ones. The
//! direction of a schema decides: a tool must continue to accept all arguments that it accepted, and its
//! results must continue to match the schema that clients know.
//!
//! | change | arguments | results |
//! |---|---|---|
//! | a property becomes required | breaking | compatible |
//! | a property is no longer required | compatible | breaking |
//! | an enum has another value | compatible | breaking |
//! | a limit becomes tighter | breaking | compatible |
//! | a description changes | cosmetic | cosmetic |
//!
//! A resource that a listed template matches is data: one of the template's rows. Nobody sees who made it, so
//! `config://app` beside `config://{name}` is data, too. Changes of data are cosmetic, and
//! [`Snapshot::without_template_data`] removes it. A template without a fixed scheme, such as `{+uri}`, would
//! match every resource, and has no data.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `snapshot` | [`Snapshot`] |
//! | `difference` | [`Diff`], [`Difference`], [`Impact`] |
//! | `template_data` | the resources that listed templates match |
//! | `diff` | [`Snapshot::diff`] |

mod diff;
mod difference;
mod snapshot;
mod template_data;

pub use difference::{Diff, Difference, Impact};
pub use snapshot::{Snapshot, SnapshotError};

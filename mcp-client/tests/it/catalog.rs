//! Differences between snapshots, by tables.

mod hostile;
mod items;
mod schemas;
mod snapshots;

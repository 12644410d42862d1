//! Differences between snapshots, by tables.

mod items;
mod schemas;
mod snapshots;

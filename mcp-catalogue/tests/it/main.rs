//! Differences between snapshots, by tables.

#[cfg(test)]
mod items;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod snapshots;

//! Advisories of other implementations, and the revisions of each release.

#[cfg(test)]
mod advisories;
#[cfg(test)]
mod releases;

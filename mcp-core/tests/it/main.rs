//! Advisories of other implementations, the revisions of each release, and the suite of JSON Schema.

#[cfg(test)]
mod advisories;
#[cfg(test)]
mod releases;
#[cfg(test)]
mod schema_suite;

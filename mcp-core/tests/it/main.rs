//! Advisories of other implementations, the revisions of each release, the JSON-Schema-Test-Suite.

#[cfg(test)]
mod advisories;
#[cfg(test)]
mod releases;
#[cfg(test)]
mod schema_suite;

//! Generated code of whole catalogs.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod files;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod suite;

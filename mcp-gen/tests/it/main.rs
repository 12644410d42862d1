//! Generated code of whole catalogues.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod files;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod suite;

//! Tests of the public API.

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod keywords;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod suite;

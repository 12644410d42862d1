//! The facade against the world outside.

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod raw;
#[cfg(test)]
mod sessions;

//! Tests of pipes in paused time and of child processes in real time.

#[cfg(test)]
#[cfg(unix)]
mod children;
#[cfg(test)]
mod kit;
#[cfg(test)]
mod listening;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod serving;
#[cfg(test)]
mod sessions;
#[cfg(test)]
#[cfg(windows)]
mod windows;

//! The command against a small server, over HTTP and standard streams, in both eras.

#[cfg(test)]
mod calls;
#[cfg(unix)]
#[cfg(test)]
mod completions;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod dev;
#[cfg(test)]
mod diffs;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod extensions;
#[allow(dead_code, reason = "the page of providers uses the rest")]
#[cfg(test)]
#[path = "../../../../mcp-auth/tests/it/facts.rs"]
mod facts;
#[cfg(test)]
mod gateway;
#[cfg(test)]
mod generation;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod inspect;
#[cfg(test)]
mod kit;
mod lifecycle;
#[cfg(test)]
mod login;
#[cfg(test)]
mod login_settings;
#[cfg(test)]
mod offline;
#[allow(dead_code, reason = "the tests of the library use the rest")]
#[cfg(test)]
#[path = "../../../../mcp-auth/tests/it/world.rs"]
mod provider_world;
#[cfg(test)]
mod providers;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod recordings;
#[cfg(test)]
mod release_tests;
#[cfg(test)]
mod returned;
#[cfg(test)]
mod sampling;
#[cfg(test)]
mod shop;
#[cfg(unix)]
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod world;
#[cfg(unix)]
#[cfg(test)]
mod written;

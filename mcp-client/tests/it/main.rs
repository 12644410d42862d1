//! Tests of the client over a scripted channel and over HTTP.

#[cfg(test)]
mod advisories;
#[cfg(test)]
mod caching;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod catalog;
#[cfg(test)]
mod connecting;
#[cfg(test)]
mod eras;
#[cfg(test)]
mod group;
#[cfg(test)]
mod http;
#[cfg(test)]
mod inputs;
#[cfg(test)]
mod listening;
#[cfg(test)]
mod notifications;
#[cfg(test)]
mod outcomes;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod script;
#[cfg(test)]
mod session;
#[cfg(test)]
mod time;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod visiting;
#[cfg(test)]
mod world;

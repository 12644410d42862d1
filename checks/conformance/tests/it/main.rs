//! Tests of the programs for the conformance suite.

#[cfg(test)]
mod apps;
#[cfg(test)]
mod client;
#[cfg(test)]
mod cluster;
#[cfg(test)]
mod declarations;
#[cfg(test)]
mod events;
#[cfg(test)]
mod gateways;
#[cfg(test)]
mod unchanged;

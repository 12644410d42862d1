//! Tests of the facade over real transports, with well-behaved and hostile peers.

#[cfg(test)]
#[cfg(feature = "auth")]
mod authorization;
#[cfg(test)]
#[cfg(feature = "macros")]
mod blocking;
#[cfg(test)]
mod cards;
#[cfg(test)]
#[cfg(all(unix, feature = "stdio"))]
mod children;
#[cfg(test)]
mod dropped;
#[cfg(test)]
mod headers;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod live;
#[cfg(test)]
mod panics;
#[cfg(test)]
#[cfg(all(unix, feature = "macros", feature = "stdio"))]
mod processes;
#[cfg(test)]
mod raw;
#[cfg(test)]
#[cfg(test)]
mod serve;
#[cfg(test)]
mod sessions;

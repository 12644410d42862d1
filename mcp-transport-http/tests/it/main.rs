//! The transport over real sockets.

#[cfg(all(feature = "client", feature = "serve"))]
#[cfg(test)]
mod advisories;
#[cfg(feature = "serve")]
#[cfg(test)]
mod axum;
#[cfg(feature = "client")]
#[cfg(test)]
mod client;
#[cfg(feature = "serve")]
#[cfg(test)]
mod health;
mod hostile;
#[cfg(feature = "serve")]
#[cfg(test)]
mod lifecycle;
#[cfg(feature = "serve")]
#[cfg(test)]
mod listening;
#[cfg(feature = "serve")]
#[cfg(test)]
mod serving;
#[cfg(all(feature = "client", feature = "serve"))]
#[cfg(test)]
mod sessions;
#[cfg(feature = "serve")]
#[cfg(test)]
mod settings;
#[cfg(feature = "serve")]
#[cfg(test)]
mod support;
#[cfg(feature = "serve")]
#[cfg(test)]
mod wire;

//! The transport over real sockets.

#[cfg(test)]
mod axum;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod support;
#[cfg(test)]
mod wire;

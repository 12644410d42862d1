//! The address of a request's client.

use std::net::IpAddr;

use http::request::Parts;

use crate::connection_scope;

/// Address of a request's client, for limits per address
/// ([`Sessions::max_per_address`](crate::server::Sessions::max_per_address)) and for endpoints that serve
/// only their own machine.
///
/// [`Serve`](crate::Serve) knows each connection's address. With another web server, or behind a
/// reverse proxy, insert this value into the extensions of each request with a layer. A value in the
/// extensions takes precedence. Take an address from a header such as `X-Forwarded-For` only when a proxy
/// of yours sets the header: clients can send it, too.
///
/// # Examples
///
/// ```
/// use std::net::{IpAddr, Ipv4Addr};
/// use mcp::http::PeerAddr;
///
/// let address = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7));
/// let request = http::Request::post("/mcp").extension(PeerAddr(address)).body(())?;
/// assert_eq!(request.extensions().get(), Some(&PeerAddr(address)));
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a layer creates the value, like `Extension(value)`"
)]
pub struct PeerAddr(pub IpAddr);

/// Returns the address of a request's client, if it is known.
pub(crate) fn peer_of(head: &Parts) -> Option<IpAddr> {
    peer_with_port(head).map(|(address, _)| address)
}

/// Returns the address of a request's client, with its port if that is known as well.
pub(crate) fn peer_with_port(head: &Parts) -> Option<(IpAddr, Option<u16>)> {
    let (address, port) = match head.extensions.get::<PeerAddr>() {
        Some(PeerAddr(address)) => (*address, None),
        None => {
            let peer = connection_scope::peer()?;
            (peer.ip(), Some(peer.port()))
        }
    };
    Some((address.to_canonical(), port))
}

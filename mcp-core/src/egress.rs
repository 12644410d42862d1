//! Zones of addresses: protection against requests into private networks, when others name the URL.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The network in which an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Zone {
    /// This machine.
    Loopback,
    /// A private network.
    Private,
    /// The internet.
    Public,
}

impl Zone {
    /// Returns the zone of an address. `None` for addresses that are never contacted: reserved ones,
    /// and those of cloud metadata services. IPv4 addresses inside IPv6 addresses count as what
    /// they are.
    pub fn of_ip(ip: IpAddr) -> Option<Self> {
        match ip {
            IpAddr::V4(ip) => of_v4(ip),
            IpAddr::V6(ip) => match embedded_v4(ip) {
                Some(ip) => of_v4(ip),
                None => of_v6(ip),
            },
        }
    }

    /// Returns the zone of a name as far as the name tells: `localhost` is this machine, every other
    /// name counts as public until it is resolved. `None` for the names of cloud metadata services.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.trim_end_matches('.');
        if name == "localhost" || name.ends_with(".localhost") {
            return Some(Self::Loopback);
        }
        let metadata = ["metadata.google.internal", "metadata", "instance-data"];
        (!metadata.contains(&name)).then_some(Self::Public)
    }
}

fn of_v4(ip: Ipv4Addr) -> Option<Zone> {
    let [a, b, c, _] = ip.octets();
    match (a, b, c) {
        (127, ..) => Some(Zone::Loopback),
        // The metadata service of Alibaba Cloud.
        (100, 100, 100) if ip.octets()[3] == 200 => None,
        (10, ..) | (192, 168, _) => Some(Zone::Private),
        (172, 16..=31, _) | (100, 64..=127, _) => Some(Zone::Private),
        // This network, link-local with cloud metadata, IETF and documentation blocks, benchmarks,
        // multicast, future use, broadcast.
        (0 | 224..=255, ..) | (169, 254, _) | (192, 0, 0 | 2) | (192, 88, 99) => None,
        (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113) => None,
        // Azure's metadata and DNS service.
        (168, 63, 129) => None,
        _ => Some(Zone::Public),
    }
}

fn of_v6(ip: Ipv6Addr) -> Option<Zone> {
    if ip == Ipv6Addr::LOCALHOST {
        return Some(Zone::Loopback);
    }
    // The metadata services of AWS and Google Cloud.
    let is_metadata = ip.segments()[..3] == [0xfd00, 0xec2, 0]
        || ip.segments() == [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254];
    if is_metadata {
        return None;
    }
    match ip.segments()[0] {
        // Unique local and link-local addresses.
        0xfc00..=0xfdff | 0xfe80..=0xfebf => Some(Zone::Private),
        // Documentation, and the special blocks at the start of the global range.
        0x2001 if ip.segments()[1] == 0xdb8 || ip.segments()[1] < 0x200 => None,
        0x2000..=0x3fff => Some(Zone::Public),
        _ => None,
    }
}

/// The IPv4 address in a mapped, NAT64 or 6to4 address.
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => Some(from(g, h)),
        (0x2002, ..) => Some(from(b, c)),
        _ => None,
    }
}

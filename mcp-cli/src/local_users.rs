//! The users of the sockets of this machine. Only Linux tells; elsewhere none is known to be another user's.

use std::net::{IpAddr, SocketAddr};

/// Largest table of sockets that is read, in bytes.
const MAX_TABLE: u64 = 16 << 20;

/// The state of a socket that listens.
const LISTENS: &str = "0A";

/// Returns true if the other end of a connection to a port of this machine belongs to another user, but for the system's own.
pub(crate) fn is_of_another(peer: SocketAddr, port: u16) -> bool {
    is_another(user_of(&table("tcp"), peer, port))
}

/// Returns true if a program of another user listens at an address of this machine, but for the system's own.
pub(crate) fn another_listens(address: SocketAddr) -> bool {
    let tables = [table("tcp"), table("tcp6")].concat();
    listeners(&tables, address)
        .into_iter()
        .any(|user| is_another(Some(user)))
}

fn table(name: &str) -> String {
    if cfg!(target_os = "linux") {
        let path = format!("/proc/net/{name}");
        return mcp::group::files::read(path.as_ref(), MAX_TABLE).unwrap_or_default();
    }
    String::new()
}

fn is_another(user: Option<u32>) -> bool {
    user.is_some_and(|user| user != 0 && own_user().is_some_and(|own| own != user))
}

fn own_user() -> Option<u32> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;

        Some(std::fs::metadata("/proc/self").ok()?.uid())
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// A line of a table.
struct Socket<'a> {
    local: &'a str,
    remote: &'a str,
    state: &'a str,
    user: u32,
}

fn sockets(table: &str) -> impl Iterator<Item = Socket<'_>> {
    table.lines().filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (local, remote, state) = (fields.next()?, fields.next()?, fields.next()?);
        // Queues, timer, retransmissions, user.
        let user = fields.nth(3)?.parse().ok()?;
        Some(Socket {
            local,
            remote,
            state,
            user,
        })
    })
}

/// Finds the user of a connection in a table, whose line is that of the other end.
fn user_of(table: &str, peer: SocketAddr, port: u16) -> Option<u32> {
    let local = format!("{}:{:04X}", hexadecimal(peer.ip()), peer.port());
    let remote = format!(":{port:04X}");
    let mut found = sockets(table);
    let found = found.find(|socket| socket.local == local && socket.remote.ends_with(&remote));
    found.map(|socket| socket.user)
}

/// Returns the users of the programs that listen at an address. Those at all addresses count if none has it alone.
fn listeners(table: &str, address: SocketAddr) -> Vec<u32> {
    let suffix = format!(":{:04X}", address.port());
    let mut exact = vec![hexadecimal(address.ip())];
    if let IpAddr::V4(address) = address.ip() {
        exact.push(hexadecimal(address.to_ipv6_mapped().into()));
    }
    let users = |is_host: &dyn Fn(&str) -> bool| -> Vec<u32> {
        let listening = sockets(table).filter(|socket| {
            let host = socket.local.strip_suffix(&suffix);
            socket.state == LISTENS && host.is_some_and(is_host)
        });
        listening.map(|socket| socket.user).collect()
    };
    let found = users(&|host| exact.iter().any(|exact| exact == host));
    if found.is_empty() {
        return users(&|host| host.bytes().all(|byte| byte == b'0'));
    }
    found
}

/// Writes an address as a table does: in words of four bytes.
fn hexadecimal(address: IpAddr) -> String {
    let bytes = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let (words, _) = bytes.as_chunks::<4>();
    let words = words.iter().map(|word| u32::from_ne_bytes(*word));
    words.map(|word| format!("{word:08X}")).collect()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::{listeners, user_of};

    const HEAD: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn user_of_a_connection_is_found() {
        let table = format!(
            "{HEAD}   \
            0: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000     1 0 1 1 0 20 4 30 10 -1\n   \
            1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000 0 2 1 0 20 4 30 10 -1\n"
        );
        let peer = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(user_of(&table, peer(0xC001), 0x1F90), Some(1000));
        assert_eq!(user_of(&table, peer(0xC002), 0x1F90), None);
        assert_eq!(user_of(&table, peer(0xC001), 0x1F91), None);
        assert_eq!(user_of("", peer(1), 1), None);
    }

    #[test]
    fn listeners_of_an_address_are_found() {
        let row = |local: &str, state: &str, user: u32| {
            format!(
                "   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  {user} 0 1 1\n"
            )
        };
        let (any6, one6) = ("0".repeat(32), format!("{}01000000", "0".repeat(24)));
        let table = [
            HEAD.to_owned(),
            row("0100007F:1F90", "0A", 1),
            row("00000000:1F90", "0A", 2),
            row(&format!("{one6}:1F90"), "0A", 3),
            // At all addresses of both kinds.
            row(&format!("{any6}:1F91"), "0A", 4),
            row("0100007F:1F92", "01", 5),
            row("00000000000000000000FFFF0100007F:1F93", "0A", 6),
            row("0000000000000000FFFF00000100007F:1F94", "0A", 7),
        ]
        .concat();
        for (asked, expected) in [
            ("127.0.0.1:8080", vec![1]),
            ("127.0.0.2:8080", vec![2]),
            ("[::1]:8080", vec![3]),
            ("127.0.0.1:8081", vec![4]),
            ("[::1]:8081", vec![4]),
            ("127.0.0.1:8082", vec![]),
            ("127.0.0.1:8084", vec![7]),
        ] {
            assert_eq!(listeners(&table, address(asked)), expected, "{asked}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_sockets_are_not_those_of_another_user() {
        use std::net::{TcpListener, TcpStream};
        use std::os::unix::fs::MetadataExt as _;

        let own = std::fs::metadata("/proc/self").unwrap().uid();
        for (any, asked) in [
            ("127.0.0.1:0", "127.0.0.1:1"),
            ("[::1]:0", "[::1]:1"),
            ("0.0.0.0:0", "127.0.0.1:1"),
            ("[::]:0", "127.0.0.1:1"),
        ] {
            // This machine may have no addresses of the second kind.
            let Ok(listener) = TcpListener::bind(any) else {
                continue;
            };
            let mut asked = address(asked);
            asked.set_port(listener.local_addr().unwrap().port());
            let tables = [super::table("tcp"), super::table("tcp6")].concat();
            assert_eq!(listeners(&tables, asked), [own], "{any}");
            assert!(!super::another_listens(asked));
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        let peer = stream.local_addr().unwrap();
        assert_eq!(
            user_of(&super::table("tcp"), peer, address.port()),
            Some(own)
        );
        assert!(!super::is_of_another(peer, address.port()));
    }
}

//! The users and the programs of the sockets of this machine. Only Linux tells; elsewhere none is known to be another one's.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::net::{IpAddr, SocketAddr};

/// Largest table of sockets that is read, in bytes.
const MAX_TABLE: u64 = 16 << 20;

/// Largest number of processes that are read, and of the open files that each has.
const MAX_PROCESSES: usize = 1 << 15;
const MAX_FILES: usize = 1 << 12;
/// Bytes of a process's line that are read.
const MAX_STAT: u64 = 4096;

/// The state of a socket that listens.
const LISTENS: &str = "0A";

/// Returns true if the other end of a connection to a port of this machine belongs to another user, but for the system's own.
pub(crate) fn is_of_another(peer: SocketAddr, port: u16) -> bool {
    is_another(user_of(&table("tcp"), peer, port))
}

/// Returns true if a program of another user listens at an address of this machine, but for the system's own.
pub(crate) fn another_listens(address: SocketAddr) -> bool {
    let tables = tables();
    let mut found = listeners(&tables, address).into_iter();
    found.any(|socket| is_another(Some(socket.user)))
}

/// Returns true if a program that this process has not started listens at an address of this machine, but for the system's
/// own.
pub(crate) fn stranger_listens(address: SocketAddr) -> bool {
    listens_outside(address, std::process::id())
}

/// Returns true if a program listens at an address that is none of those that process `root` has started.
fn listens_outside(address: SocketAddr, root: u32) -> bool {
    let tables = tables();
    let is_system = |user| user == 0 && own_user() != Some(0);
    let mut found = listeners(&tables, address);
    found.retain(|socket| !is_system(socket.user));
    if found.is_empty() {
        return false;
    }
    let own: HashSet<String> = started_by(root).into_iter().flat_map(sockets_of).collect();
    let mut inodes = found.iter().map(|socket| socket.inode);
    inodes.any(|inode| !own.contains(inode))
}

/// Returns a process, those that it has started, and so on, with the other members of their process groups: a process whose
/// parent has ended has another one.
pub(crate) fn started_by(root: u32) -> HashSet<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let processes: Vec<(u32, u32, u32)> = numbers
        .take(MAX_PROCESSES)
        .filter_map(|number| {
            let mut stat = Vec::new();
            let file = File::open(format!("/proc/{number}/stat")).ok()?;
            file.take(MAX_STAT).read_to_end(&mut stat).ok()?;
            let (parent, group) = parent_and_group(&String::from_utf8_lossy(&stat))?;
            Some((number, parent, group))
        })
        .collect();
    let own_group = processes.iter().find(|(number, ..)| *number == root);
    let own_group = own_group.map(|(.., group)| *group);
    let mut found = HashSet::from([root]);
    loop {
        let before = found.len();
        for (number, parent, group) in &processes {
            let is_member = Some(*group) != own_group && found.contains(group);
            if is_member || found.contains(parent) {
                found.insert(*number);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Reads the parent and the process group in the line of a process. Its name can have any characters.
fn parent_and_group(stat: &str) -> Option<(u32, u32)> {
    let (_, fields) = stat.rsplit_once(')')?;
    // The first one is the state.
    let mut fields = fields.split_whitespace().skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Returns the inodes of a process's sockets.
fn sockets_of(process: u32) -> impl Iterator<Item = String> {
    let files = fs::read_dir(format!("/proc/{process}/fd"));
    let files = files.into_iter().flatten().flatten().take(MAX_FILES);
    files.filter_map(|file| {
        let target = fs::read_link(file.path()).ok()?;
        let inode = target
            .to_str()?
            .strip_prefix("socket:[")?
            .strip_suffix(']')?;
        Some(inode.to_owned())
    })
}

/// The sockets of both address families.
fn tables() -> String {
    [table("tcp"), table("tcp6")].concat()
}

fn table(name: &str) -> String {
    if cfg!(target_os = "linux") {
        let path = format!("/proc/net/{name}");
        return mcp_files::read(path.as_ref(), MAX_TABLE).unwrap_or_default();
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

        Some(fs::metadata("/proc/self").ok()?.uid())
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
    inode: &'a str,
}

fn sockets(table: &str) -> impl Iterator<Item = Socket<'_>> {
    table.lines().filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (local, remote, state) = (fields.next()?, fields.next()?, fields.next()?);
        // Queues, timer, retransmissions, user.
        let user = fields.nth(3)?.parse().ok()?;
        // After a timeout.
        let inode = fields.nth(1)?;
        Some(Socket {
            local,
            remote,
            state,
            user,
            inode,
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

/// Returns the sockets that listen at an address. Those at all addresses count if none has it alone.
fn listeners(table: &str, address: SocketAddr) -> Vec<Socket<'_>> {
    let suffix = format!(":{:04X}", address.port());
    let mut exact = vec![hexadecimal(address.ip())];
    if let IpAddr::V4(address) = address.ip() {
        exact.push(hexadecimal(address.to_ipv6_mapped().into()));
    }
    let listening = |is_host: &dyn Fn(&str) -> bool| -> Vec<Socket<'_>> {
        let listening = sockets(table).filter(|socket| {
            let host = socket.local.strip_suffix(&suffix);
            socket.state == LISTENS && host.is_some_and(is_host)
        });
        listening.collect()
    };
    let found = listening(&|host| exact.iter().any(|exact| exact == host));
    if found.is_empty() {
        return listening(&|host| host.bytes().all(|byte| byte == b'0'));
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

    use super::user_of;

    fn listeners(table: &str, address: SocketAddr) -> Vec<u32> {
        let found = super::listeners(table, address).into_iter();
        found.map(|socket| socket.user).collect()
    }

    const HEAD: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn user_behind_a_connection_is_found() {
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
            let tables = super::tables();
            assert_eq!(listeners(&tables, asked), [own], "{any}");
            assert!(!super::another_listens(asked));
            assert!(!super::stranger_listens(asked));
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

    #[test]
    fn parent_and_group_are_read_whatever_the_name_is() {
        for (stat, expected) in [
            ("7 (sh) S 5 6 1 0 -1", Some((5, 6))),
            ("7 (a) R 1 1 (b) c) S 5 6 1", Some((5, 6))),
            ("7 (sh) S 5", None),
            ("7 sh S 5 6", None),
            ("", None),
        ] {
            assert_eq!(super::parent_and_group(stat), expected, "{stat}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn sockets_of_started_programs_are_known_and_those_of_others_are_not() {
        use std::process::{Command, Stdio};

        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let own = std::process::id();
        // It ends with its input.
        let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        assert!(super::started_by(own).contains(&other.id()));
        assert!(!super::started_by(other.id()).contains(&own));
        assert!(!super::listens_outside(address, own));
        assert!(super::listens_outside(address, other.id()));
        drop(listener);
        assert!(!super::listens_outside(address, other.id()));
        drop(other.stdin.take());
        other.wait().unwrap();
    }
}

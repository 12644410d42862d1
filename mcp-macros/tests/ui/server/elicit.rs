//! Forms that no client can show.

use mcp_macros::Elicit;

struct Address;

#[derive(Elicit)]
#[elicit(crate = mcp_server)]
struct Fields {
    address: Address,
    names: Vec<String>,
    number: Option<Vec<u8>>,
}

#[derive(Elicit)]
#[elicit(crate = mcp_server)]
struct OptionsThatDoNotFit {
    #[elicit(range = 1..=3)]
    name: String,
    #[elicit(length = 1..)]
    guests: u8,
    #[elicit(format = "email")]
    news: bool,
    #[elicit(default = true)]
    times: u8,
}

#[derive(Elicit)]
#[elicit(crate = mcp_server)]
struct OptionsThatAreNone {
    #[elicit(range = 1..3)]
    open: u8,
    #[elicit(range = 3)]
    one: u8,
    #[elicit(format = "phone")]
    phone: String,
    #[elicit(titel = "Name")]
    name: String,
    #[elicit(name = "name")]
    second: String,
}

#[derive(Elicit)]
#[elicit(crate = mcp_server)]
struct Nameless(String);

#[derive(Elicit)]
#[elicit(crate = mcp_server)]
struct Generic<T> {
    value: T,
}

#[derive(Elicit)]
#[elicit(crate = mcp_server)]
enum Shape {
    Dot,
    Circle(f64),
    #[elicit(name = "Dot")]
    Point,
}

#[derive(Elicit)]
#[elicit(crate = mcp_server)]
enum Nothing {}

fn main() {
    let _ = <Address as mcp_server::Elicit>::form();
}

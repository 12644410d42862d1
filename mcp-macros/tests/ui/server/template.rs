//! Templates whose parameters do not fit: each mistake is reported once.

struct Desk;

#[mcp::server(routes = tools)]
impl Desk {
    #[resource("users://{id}")]
    fn one(&self, id: Vec<Desk>) -> String {
        id.len().to_string()
    }

    #[resource("users://{id}/{name}")]
    fn two(&self, id: u64) -> String {
        id.to_string()
    }

    #[resource("notes://{id}")]
    fn three(&self, other: u64) -> String {
        other.to_string()
    }
}

#[mcp::resource("files://{path}")]
fn file(name: String) -> String {
    name
}

fn main() {
    let _ = std::sync::Arc::new(Desk).tools();
    let _ = mcp::Server::new("s", "1").template(file).resource(file);
}

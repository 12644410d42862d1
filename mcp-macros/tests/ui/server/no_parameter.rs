use mcp_macros::server;
use mcp_server::State;

struct Db;

#[derive(serde::Deserialize)]
struct Point {
    x: f64,
}

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn count(&self, db: Db) -> usize {
        let _ = db;
        0
    }

    #[tool]
    fn place(&self, point: Point) -> f64 {
        point.x
    }

    #[tool]
    fn shared(&self, State(db): State<Db>) {
        drop(db);
    }

    #[tool]
    fn also_shared(&self, db: Option<State<Db>>) {
        drop(db);
    }
}

fn main() {
    let _ = std::sync::Arc::new(Desk).tools();
}

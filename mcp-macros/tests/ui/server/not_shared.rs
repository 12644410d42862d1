use std::cell::Cell;
use std::rc::Rc;

use mcp_macros::server;

struct Counter(Cell<u32>);

#[server(crate = mcp_server)]
impl Counter {
    #[tool]
    fn up(&self) -> u32 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    async fn wait() -> String {
        let text = Rc::new("text");
        std::future::ready(()).await;
        text.to_string()
    }
}

fn main() {
    let _ = mcp_server::Server::of(Counter(Cell::new(0))).merge(Desk::tools());
}

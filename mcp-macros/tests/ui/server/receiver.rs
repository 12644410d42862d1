use std::rc::Rc;

use mcp_macros::server;

struct Counter(u32);

#[server(crate = mcp_server, routes = tools)]
impl Counter {
    #[tool]
    fn up(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }

    #[tool]
    fn finish(self) -> u32 {
        self.0
    }

    #[tool]
    fn shared(self: Rc<Self>) -> u32 {
        self.0
    }
}

fn main() {
    let _ = std::sync::Arc::new(Counter(0)).tools();
}

use std::rc::Rc;

use mcp_macros::tools;

struct Counter(u32);

#[tools(crate = mcp_server)]
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

//! Functions that hold a lock or a value that is not `Send` across an `await`.

use std::rc::Rc;
use std::sync::Mutex;

struct Desk(Mutex<u32>);

#[mcp_macros::server(crate = mcp_server)]
impl Desk {
    #[tool]
    async fn locked(&self) -> u32 {
        let count = self.0.lock().unwrap();
        std::future::ready(()).await;
        *count
    }

    #[resource("desk://shared")]
    async fn shared(&self) -> String {
        let text = Rc::new("text");
        std::future::ready(()).await;
        text.to_string()
    }
}

fn main() {}

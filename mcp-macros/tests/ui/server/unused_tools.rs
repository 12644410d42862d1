#![deny(dead_code)]

use mcp_macros::server;

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn add(&self, a: f64, b: f64) -> f64 {
        a + b
    }
}

#[server(crate = mcp_server, routes = more)]
impl Desk {
    #[tool]
    fn one() -> u32 {
        1
    }
}

struct Library;

#[server(crate = mcp_server, routes = tools)]
impl Library {
    #[resource("library://door")]
    fn door(&self) -> String {
        String::new()
    }

    #[prompt]
    fn review(&self, title: String) -> String {
        title
    }

    #[completion(prompt = "review", argument = "title")]
    fn titles(&self, prefix: &str) -> Vec<String> {
        vec![prefix.to_owned()]
    }
}

fn main() {
    let _ = Desk.add(1.0, 2.0);
}

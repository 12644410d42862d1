use mcp_macros::server;
use serde::de::DeserializeOwned;

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn show<T: std::fmt::Display + DeserializeOwned>(&self, value: T) -> String {
        value.to_string()
    }

    #[tool]
    fn sum(&self, numbers: impl Iterator<Item = f64>) -> f64 {
        numbers.sum()
    }

    #[tool]
    fn list(&self) -> impl Iterator<Item = f64> {
        std::iter::empty()
    }
}

fn main() {
    let _ = std::sync::Arc::new(Desk).tools();
}

use mcp_macros::server;

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn text(text: &str, words: Option<&[String]>, number: &u32) -> usize {
        text.len() + words.map_or(0, <[String]>::len) + *number as usize
    }
}

fn main() {
    let _ = Desk::tools();
}

use mcp_macros::tools;

struct Desk;

#[tools(crate = mcp_server)]
impl Desk {
    #[tool]
    fn text(text: &str, words: Option<&[String]>, number: &u32) -> usize {
        text.len() + words.map_or(0, <[String]>::len) + *number as usize
    }
}

fn main() {
    let _ = Desk::tools();
}

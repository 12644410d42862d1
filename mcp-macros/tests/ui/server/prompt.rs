//! Prompts with results that are not messages, with invalid parameters, and with options of tools.

struct Reviews;

struct Review;

struct Language;

#[mcp_macros::server(crate = mcp_server)]
impl Reviews {
    #[prompt]
    fn no_conversation(&self) -> Review {
        Review
    }

    #[prompt]
    fn no_argument(&self, language: Language) -> String {
        let _ = language;
        String::new()
    }

    #[prompt(read_only)]
    fn no_tool(&self, #[arg(header = "Name")] name: String) -> String {
        name
    }

    #[prompt]
    #[tool]
    fn both(&self) -> &'static str {
        ""
    }

    #[prompt(name = "no_tool")]
    fn same_name(&self) -> &'static str {
        ""
    }
}

fn main() {}

//! Completions without an argument, with parameters that have no value, and with results that are no
//! suggestions.

struct Reviews;

#[mcp_macros::server(crate = mcp_server)]
impl Reviews {
    #[completion]
    fn of_what(&self, prefix: &str) -> Vec<String> {
        vec![prefix.to_owned()]
    }

    #[completion(prompt = "review", argument = "file")]
    fn no_prefix(&self, file: u32) -> Vec<String> {
        vec![file.to_string()]
    }

    #[completion(prompt = "review", argument = "language")]
    fn no_suggestions(&self, prefix: &str) -> usize {
        prefix.len()
    }
}

fn main() {}

//! Completions of arguments that the prompts and templates of the block do not have.

struct Reviews;

#[mcp_macros::server(crate = mcp_server)]
impl Reviews {
    #[prompt]
    fn review(&self, file: String, #[arg(name = "tone")] _tone: String) -> String {
        file
    }

    #[resource("users://{id}/{page}")]
    fn user(&self, id: u64, page: String) -> String {
        format!("{id} {page}")
    }

    #[completion(prompt = "review", argument = "fil")]
    fn files(&self, prefix: &str) -> Vec<String> {
        vec![prefix.to_owned()]
    }

    #[completion(template = "users://{id}/{page}", argument = "name")]
    fn names(&self, prefix: &str) -> Vec<String> {
        vec![prefix.to_owned()]
    }

    #[completion(prompt = "review", argument = "tone")]
    fn tones(&self, prefix: &str) -> Vec<String> {
        vec![prefix.to_owned()]
    }
}

fn main() {}

//! Variables without a parameter, parameters without a variable, results that are not contents.

struct Files;

struct Profile;

#[mcp_macros::server(crate = mcp_server)]
impl Files {
    #[resource("users://{id}/profile")]
    fn without_parameter(&self) -> String {
        String::new()
    }

    #[resource("notes://{name}")]
    fn without_variable(&self, name: String, lines: u32) -> String {
        format!("{name} {lines}")
    }

    #[resource("profiles://{name}")]
    fn no_contents(&self, name: String) -> Profile {
        let _ = name;
        Profile
    }

    #[resource]
    fn no_uri(&self) -> String {
        String::new()
    }

    #[resource("open://{name")]
    fn no_brace(&self, name: String) -> String {
        name
    }

    #[resource("cached://a", cache = "five minutes")]
    fn no_time(&self) -> String {
        String::new()
    }
}

fn main() {}

//! Modules that a feature adds, in a program without it.

use mcp::auth::OAuth;
use mcp::tasks::Tasks;

fn main() {
    let _ = mcp::Client::builder().oauth(OAuth::new("program"));
    let _ = mcp::Server::new("s", "1").tasks(Tasks::new());
}

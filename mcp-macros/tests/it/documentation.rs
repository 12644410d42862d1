//! The examples in the documentation of `mcp-macros`.

use std::sync::Arc;
use std::time::Instant;

use mcp::{Json, Progress, Server, State, ToolError};
use mcp_macros::{Output, server};
use schemars::JsonSchema;

struct Calculator;

/// Arithmetic.
#[server]
impl Calculator {
    /// Add two numbers.
    #[tool(read_only)]
    async fn add(
        &self,
        /** first addend */
        a: f64,
        b: f64,
    ) -> f64 {
        a + b
    }
}

#[derive(serde::Serialize, JsonSchema)]
struct Article {
    name: String,
}

#[derive(Clone)]
struct Db;

impl Db {
    async fn search(&self, words: &[String], limit: u32) -> Result<Vec<Article>, std::io::Error> {
        let name = format!("{words:?} {limit}");
        Ok(vec![Article { name }])
    }
}

struct Shop;

#[server(name = "shop", instructions = "Search before you order.")]
impl Shop {
    /// Find articles.
    #[tool(title = "Search", read_only)]
    async fn search(
        &self,
        /// words that all must occur
        words: Vec<String>,
        /// maximum number of results
        #[arg(default = 10, range = 1..=100)]
        limit: u32,
        State(db): State<Db>,
        progress: Progress,
    ) -> Result<Json<Vec<Article>>, ToolError> {
        progress.report(0.0, 1.0, "searching").await;
        Ok(Json(db.search(&words, limit).await?))
    }
}

struct Clock {
    started: Instant,
}

#[server(routes = tools)]
impl Clock {
    /// Seconds since the start.
    #[tool(read_only)]
    fn now(&self) -> u64 {
        self.started.elapsed().as_secs()
    }
}

#[derive(serde::Serialize, JsonSchema, Output)]
struct Sum {
    /// the sum
    total: f64,
}

struct Sums;

#[server(routes = tools)]
impl Sums {
    #[tool]
    fn sum(a: f64, b: f64) -> Sum {
        Sum { total: a + b }
    }
}

#[test]
fn documented_servers_have_no_mistake() {
    let clock = Clock {
        started: Instant::now(),
    };
    let server = Server::of(Calculator).merge(Arc::new(clock).tools());
    server.merge(Sums::tools()).check().unwrap();
    Server::of(Shop).state(Db).check().unwrap();
}

//! The tools of the measured server.

use mcp::prelude::*;

use crate::arguments::{Add, Echo, Steps};

/// Creates the server of the SDK with the three tools and `listed` additional ones.
#[must_use]
pub fn server(listed: usize) -> Server {
    let server = Server::new("bench-server", env!("CARGO_PKG_VERSION"))
        .tool(
            Tool::new("echo")
                .description("Say it again")
                .handler(async |Args(echo): Args<Echo>| echo.message),
        )
        .tool(
            Tool::new("add")
                .description("Add two numbers")
                .handler(async |Args(add): Args<Add>| add.a + add.b),
        )
        .tool(
            Tool::new("progress")
                .description("Report progress n times")
                .handler(async |Args(steps): Args<Steps>, progress: Progress| {
                    for step in 1..=steps.n {
                        progress
                            .send(mcp::types::ProgressUpdate::new(step.into()).of(steps.n.into()))
                            .await;
                    }
                    "done"
                }),
        );
    (0..listed).fold(server, |server, number| {
        let description = "One of many tools, listed to see what a long list costs.";
        server.tool(
            Tool::new(format!("tool_{number}"))
                .description(description)
                .handler(async |Args(echo): Args<Echo>| echo.message),
        )
    })
}

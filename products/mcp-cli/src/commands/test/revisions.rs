//! Tools and results as clients of the server's other revisions see them.

use mcp::Client;
use mcp::schema::{JsonSchema, Validator as _, check_result};
use mcp::types::{ProtocolVersion, Tool};

use super::callable::Callable;
use super::calls::OUTPUT_REPAIR;
use super::report::{Check, Confidence, Finding};
use super::samples::Samples;
use super::schemas;
use super::session::{TestSession, call};
use crate::failure::Failure;
use crate::{revisions, target};

/// Time limit of a call, whose tool has answered the same call before.
const CALL_LIMIT: std::time::Duration = std::time::Duration::from_secs(30);

/// Checks the schemas of each other revision, and calls each tool with an output schema once.
pub(super) async fn check(
    session: &TestSession<'_>,
    callable: &Callable,
    check: &mut Check,
) -> Result<(), Failure> {
    let mut examined = Vec::new();
    for version in revisions::others(session.protocol(), session.client.protocol_version()) {
        // `mcp doctor` says why a revision does not open.
        let Ok(client) = session.with_revision(version).await else {
            continue;
        };
        examined.push(version.as_str());
        let done = examine(&client, version, session.seed(), callable, check).await;
        target::close(&client).await;
        done?;
    }
    if examined.is_empty() {
        check.skip("the server has no other revision, or --protocol chooses one");
    } else {
        check.detail = format!("also as clients of {} see them", examined.join(", "));
    }
    Ok(())
}

async fn examine(
    client: &Client,
    version: ProtocolVersion,
    seed: u64,
    callable: &Callable,
    check: &mut Check,
) -> Result<(), Failure> {
    for tool in client.list_tools().await? {
        let place = format!("tool `{}`, revision {version}", tool.name);
        schemas::compile(&tool, version, &place, check);
        let is_callable = callable.tools.iter().any(|known| known.name == tool.name);
        if is_callable && let Some(problem) = result_problem(client, &tool, seed).await {
            let what = format!("the result breaks the output schema: {problem}");
            let found = Finding::new(
                Confidence::Certain,
                "output-schema",
                place,
                what,
                OUTPUT_REPAIR,
            );
            check.add(found);
        }
    }
    Ok(())
}

/// Calls a tool with an output schema. Returns how its result breaks the schema.
async fn result_problem(client: &Client, tool: &Tool, seed: u64) -> Option<String> {
    let compiled = JsonSchema.compile(tool.output_schema.as_ref()?).ok()?;
    let args = Samples::new(tool, seed).valid.into_iter().next()?;
    // The other checks judge calls without a result.
    let result = call(client, &tool.name, &args, CALL_LIMIT).await.ok()?;
    check_result(&*compiled, &result)
        .err()
        .map(|problem| problem.to_string())
}

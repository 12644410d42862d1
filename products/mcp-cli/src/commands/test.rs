//! `mcp test`: what the author of a server wants to know before a release.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `report` | checks and their findings, as text, JSON and JUnit |
//! | `samples` | arguments made from a schema |
//! | `broken` | arguments that break a schema |
//! | `session` | the connection, which is opened again after a crash, and the outcomes of calls |
//! | `callable` | the tools that may be called, with the permission of the user |
//! | `schemas` | tool lints, limits of model providers |
//! | `calls` | calls with samples and with broken arguments |
//! | `revisions` | tools and results as clients of other revisions see them |
//! | `memory` | memory of child processes |
//! | `load` | cancellation, many sessions, memory |

mod broken;
mod callable;
mod calls;
mod load;
mod memory;
mod report;
mod revisions;
mod samples;
mod schemas;
mod session;

use std::time::{Duration, Instant};

use self::calls::{GoodCall, GoodCalls};
use self::report::{Check, Confidence, Finding, TestReport};
use self::session::TestSession;
use super::doctor;
use crate::cli::TestArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::{target, written};

/// Time limit of a check. What it has found until then is reported.
const CHECK_LIMIT: Duration = Duration::from_secs(180);

pub(super) async fn run(args: &TestArgs, output: &Output) -> Result<(), Failure> {
    let target = target::resolve_only(&args.target.server, output).await?;
    let connection = doctor::examine(&args.target, target.clone(), output).await?;
    let mut report = TestReport::new(args.target.server.first_word(), args.seed);
    report.add(connection_check(&connection));
    if connection.has_failed() {
        report.print(output);
        return connection.into_result();
    }
    let session = TestSession::open(target, args, output).await?;
    let done = run_checks(session, args, &mut report, output).await;
    report.print(output);
    if let Some(path) = &args.junit {
        written::write(path, report.junit())?;
    }
    done?;
    report.into_result()
}

/// Converts the steps of `mcp doctor`. The tool lints and the other revisions have checks of their own.
fn connection_check(steps: &doctor::Report) -> Check {
    let mut check = Check::new("connection");
    for (step, is_failed, detail, cure) in steps.problems() {
        if ["tools", "revisions"].contains(&step) && !is_failed {
            continue;
        }
        let found = Finding::new(Confidence::Certain, "doctor", step, detail, cure);
        check.add(if is_failed { found } else { found.warning() });
    }
    check.detail = "the steps of `mcp doctor`".to_owned();
    check
}

/// Runs the checks against a connected server. Fails when the server cannot be started again after a crash.
async fn run_checks(
    mut session: TestSession<'_>,
    args: &TestArgs,
    report: &mut TestReport,
    output: &Output,
) -> Result<(), Failure> {
    let tools = session.tools().await?;
    report.add(schemas::check(&tools, session.client.protocol_version()));
    let callable = callable::select(tools, args, output).await;
    let mut good = None;
    for name in [
        "examples",
        "arguments",
        "revisions",
        "cancellation",
        "sessions",
        "memory",
    ] {
        output.note(&format!("{name} ..."));
        let mut check = Check::new(name);
        let start = Instant::now();
        let done = tokio::time::timeout(CHECK_LIMIT, async {
            match name {
                "examples" => {
                    calls::examples(&mut session, &callable, &mut good, &mut check).await?
                }
                "arguments" => calls::arguments(&mut session, &callable, &mut check).await?,
                "revisions" => revisions::check(&session, &callable, &mut check).await?,
                "cancellation" => {
                    load::cancellation(&mut session, good.as_ref(), &mut check).await?
                }
                "sessions" => load::sessions(&session, fastest(&good), &mut check).await,
                _ => load::memory(&mut session, fastest(&good), args.calls, &mut check).await?,
            }
            Ok::<(), Failure>(())
        });
        let done = done.await;
        check.took = start.elapsed();
        if done.is_err() {
            let limit = CHECK_LIMIT.as_secs();
            check.skip(format!(
                "stopped after {limit} s; what follows was not tested"
            ));
            session.reopen().await?;
        }
        report.add(check);
        done.unwrap_or(Ok(()))?;
    }
    session.close().await;
    Ok(())
}

fn fastest(good: &Option<GoodCalls>) -> Option<&GoodCall> {
    good.as_ref().map(|good| &good.fastest)
}

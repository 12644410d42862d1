//! The tools that a test calls.

use mcp::gateway::ToolPatterns;
use mcp::types::legacy_tasks::TaskSupport;
use mcp::types::{Tool, shorten};

use super::report::Check;
use crate::cli::TestArgs;
use crate::output::Output;
use crate::questions;

/// The tools that may be called, and why the others are not.
pub(super) struct Callable {
    pub(super) tools: Vec<Tool>,
    skipped: Vec<String>,
}

impl Callable {
    pub(super) fn skip(&self, check: &mut Check) {
        for reason in &self.skipped {
            check.skip(reason);
        }
    }

    /// Moves tools to the ones that are not called.
    fn leave_out(&mut self, reason: &str, is_left_out: impl Fn(&Tool) -> bool) {
        let (out, rest) = self.tools.drain(..).partition(is_left_out);
        self.tools = rest;
        if !out.is_empty() {
            self.skipped
                .push(format!("not called: {} ({reason})", names(&out)));
        }
    }
}

/// Asks for the permission to call tools that may change something.
pub(super) async fn select(tools: Vec<Tool>, args: &TestArgs, output: &Output) -> Callable {
    let mut callable = Callable {
        tools,
        skipped: Vec::new(),
    };
    let ignored = ToolPatterns::new(&args.ignore_tool);
    callable.leave_out("--ignore-tool", |tool| ignored.matches(&tool.name));
    callable.leave_out("it runs as a task only", |tool| {
        let execution = tool.execution.as_ref();
        execution.is_some_and(|execution| execution.task_support == Some(TaskSupport::Required))
    });
    let changing = callable.tools.iter().filter(|tool| !is_read_only(tool));
    let changing: Vec<_> = changing.cloned().collect();
    let refusal = if changing.is_empty() {
        None
    } else if args.read_only {
        Some("--read-only")
    } else if args.target.server.yes {
        None
    } else if questions::can_ask() {
        let names = names(&changing);
        let question = format!(
            "These tools are not marked read-only. Call them with made-up arguments: {names}?"
        );
        let is_approved = questions::agrees(output, &question).await;
        (!is_approved).then_some("not approved")
    } else {
        Some("not marked read-only; pass --yes, with data that may change")
    };
    if let Some(reason) = refusal {
        callable.leave_out(reason, |tool| !is_read_only(tool));
    }
    callable
}

fn names(tools: &[Tool]) -> String {
    /// Names that a question shows.
    const MAX_NAMES: usize = 10;

    let shown = tools.iter().take(MAX_NAMES);
    let names: Vec<_> = shown.map(|tool| shorten(&tool.name, 100)).collect();
    let names = names.join(", ");
    match tools.len().saturating_sub(MAX_NAMES) {
        0 => names,
        more => format!("{names}, and {more} more"),
    }
}

fn is_read_only(tool: &Tool) -> bool {
    let hints = tool.annotations.as_ref();
    hints.is_some_and(|hints| hints.read_only_hint == Some(true))
}

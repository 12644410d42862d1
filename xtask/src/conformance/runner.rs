//! Running scenarios of one leg against one program.

use std::time::Duration;

use super::checks::{self, Outcome, Verdict};
use super::claims::{self, Claim, Leg};
use super::suite::{Run, Selection, Suite};
use crate::Result;

/// The default revision of `--scenario`.
const NEWEST: &str = "2026-07-28";

pub(super) const SERVER: &str = "everything-server";
pub(super) const START_LIMIT: Duration = Duration::from_secs(30);

/// The scenarios to run.
#[derive(Debug)]
pub(super) enum Plan {
    /// The claimed scenarios.
    Claims,
    /// All scenarios of a revision. Only claimed ones can fail the command.
    Requirements(String),
    /// One scenario at a revision, with the whole output of the suite.
    Scenario {
        name: String,
        revision: Option<String>,
    },
}

/// Runs scenarios of one leg against the program under test.
pub(super) struct Runner<'a> {
    pub(super) suite: &'a Suite,
    pub(super) leg: Leg,
    /// The address of the server, or the command of the client.
    pub(super) target: String,
}

impl Runner<'_> {
    pub(super) fn run(&self, plan: &Plan, counts: &mut ScenarioCounts) -> Result<()> {
        match plan {
            Plan::Claims => {
                for claim in claims::of(self.leg) {
                    self.single(claim.scenario, claim.revision, Some(claim), counts)?;
                }
                Ok(())
            }
            Plan::Requirements(revision) => self.requirements(revision, counts),
            Plan::Scenario { name, revision } => self.verbose(name, revision.as_deref(), counts),
        }
    }

    /// Runs one scenario in a process of its own. For clients this is the strict mode of the suite, in
    /// which the exit status of the client counts.
    pub(super) fn single(
        &self,
        name: &str,
        revision: &str,
        claim: Option<&Claim>,
        counts: &mut ScenarioCounts,
    ) -> Result<Run> {
        let selection = Selection::Scenario {
            name,
            revision,
            force: claim.is_none_or(|claim| claim.is_extension),
        };
        let run = self.suite.run(self.leg, &self.target, &selection)?;
        let verdict = checks::judge(&run.scenario(name), claim);
        self.report(name, revision, &verdict, claim.is_some());
        counts.add(&verdict, true);
        Ok(run)
    }

    fn requirements(&self, revision: &str, counts: &mut ScenarioCounts) -> Result<()> {
        let run = self.suite.run(
            self.leg,
            &self.target,
            &Selection::Requirements { revision },
        )?;
        let names = run.scenario_names();
        if names.is_empty() {
            return Err(format!("the suite ran nothing:\n{}", run.output()).into());
        }
        for name in &names {
            match claims::of(self.leg).find(|c| c.scenario == name && c.revision == revision) {
                // A run of several scenarios ignores the exit status of the client, so a claimed
                // scenario runs again in strict mode.
                Some(claim) if self.leg == Leg::Client => {
                    self.single(name, revision, Some(claim), counts)?;
                }
                claim => {
                    let verdict = checks::judge(&run.scenario(name), claim);
                    self.report(name, revision, &verdict, claim.is_some());
                    counts.add(&verdict, claim.is_some());
                }
            }
        }
        Ok(())
    }

    fn verbose(
        &self,
        name: &str,
        revision: Option<&str>,
        counts: &mut ScenarioCounts,
    ) -> Result<()> {
        let claim = claims::of(self.leg)
            .find(|c| c.scenario == name && revision.is_none_or(|revision| c.revision == revision));
        let revision = revision
            .or(claim.map(|claim| claim.revision))
            .unwrap_or(NEWEST);
        let run = self.single(name, revision, claim, counts)?;
        println!("{}", run.output().trim_end());
        Ok(())
    }

    fn report(&self, name: &str, revision: &str, verdict: &Verdict, claimed: bool) {
        let Verdict {
            outcome,
            tally,
            remarks,
        } = verdict;
        let claimed = if claimed { "claimed" } else { "" };
        println!(
            "{outcome:7} {claimed:7} {:6} {revision} {name:45} {tally}",
            self.leg
        );
        for remark in remarks {
            println!("          {remark}");
        }
    }
}

/// The number of scenarios with each outcome, over all legs.
#[derive(Debug, Default)]
pub(super) struct ScenarioCounts {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// A scenario that must pass has not passed.
    pub(super) must_fail: bool,
}

impl ScenarioCounts {
    fn add(&mut self, verdict: &Verdict, must_pass: bool) {
        match verdict.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Skipped => self.skipped += 1,
        }
        self.must_fail |= must_pass && verdict.outcome != Outcome::Passed;
    }

    pub(super) fn print(&self, suite: &Suite) {
        println!("details in {}", suite.out().display());
        println!(
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        );
    }
}

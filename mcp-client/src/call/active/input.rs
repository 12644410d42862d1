//! Input rounds of a call.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::select;
use mcp_types::{ElicitUrlParams, InputRequired, InputResponse};

use super::{ActiveCall, CallStep, unless_cancelled};
use crate::error::{Error, ErrorKind};
use crate::inputs::{Asker, InputError, InputRound, Mrtr, check_urls, required_urls};

impl ActiveCall<'_> {
    pub(super) fn start_input_round(
        &mut self,
        required: InputRequired,
    ) -> Result<CallStep, InputError> {
        let round = self.mrtr.start_round(&self.request, required)?;
        check_urls(&round.requests)?;
        // The time of the user does not count as the server's time.
        self.timer.pause();
        Ok(CallStep::InputRequired(round))
    }

    /// Returns whether the user can visit the URLs that the server requires.
    // spec: ERR-13
    pub(super) fn accepts_required_urls(&mut self, required: &[ElicitUrlParams]) -> bool {
        let inner = &self.client.inner;
        let method = self.request.method();
        inner.profile.capabilities.allows_url()
            && required.len() <= Mrtr::MAX_REQUESTS
            && method.is_some_and(|method| method.spec().may_require_input)
            && self
                .required_urls
                .add(&inner.inputs.url_elicitations, required)
    }

    /// Returns the origin of this call's input requests.
    pub(super) fn asker(&self) -> Arc<Asker> {
        Arc::new(Asker {
            server: self.client.inner.channel.peer().into_owned(),
            info: self.client.server_info(),
            method: Some(self.request.method_name().to_owned()),
            item: self.request.item().map(ToOwned::to_owned),
        })
    }

    /// Runs the client's handlers on this task, and waits for required visits of URLs.
    pub(super) async fn run_handlers(&mut self, round: &InputRound) -> Result<(), Error> {
        let client = self.client.clone();
        let inner = &client.inner;
        let asker = self.asker();
        let declared = &inner.profile.capabilities;
        let version = self.version;
        let observe = |request: &_| inner.observe_input(request);
        let responses =
            inner
                .inputs
                .answer_all(&round.requests, &asker, declared, version, observe);
        let responses = unless_cancelled(&mut self.options.cancel, pin!(responses)).await;
        let responses = responses.ok_or_else(|| self.error(ErrorKind::Cancelled))?;
        let responses = responses.map_err(|error| self.error(error))?;
        self.set_responses(round, &responses)?;
        let (completed, closed) = (
            pin!(self.required_urls.completed()),
            pin!(inner.closing.closed()),
        );
        let waited = select(completed, closed);
        let waited = unless_cancelled(&mut self.options.cancel, pin!(waited)).await;
        waited
            .map(drop)
            .ok_or_else(|| self.error(ErrorKind::Cancelled))
    }

    /// Continues after a round of input that an earlier call received.
    pub(crate) fn resume(
        &mut self,
        required: InputRequired,
        responses: &BTreeMap<String, InputResponse>,
    ) -> Result<(), Error> {
        let round = self.mrtr.start_round(&self.request, required);
        let round = round.map_err(|error| self.error(error))?;
        self.set_responses(&round, responses)
    }

    /// Stores the input responses for the next request.
    pub(crate) fn set_responses(
        &mut self,
        round: &InputRound,
        responses: &BTreeMap<String, InputResponse>,
    ) -> Result<(), Error> {
        let input = round.respond(responses);
        let input = input.map_err(|error| self.error(error))?;
        if self.required_urls.is_open() {
            // The repeated call carries no input: the server knows which visits are completed.
            return required_urls::check_accepted(round, responses)
                .map_err(|error| self.error(error));
        }
        self.input = Some(input);
        Ok(())
    }
}

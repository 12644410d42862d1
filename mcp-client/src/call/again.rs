//! Whether a call is made again, after a break or a refusal that can be mended.

use mcp_core::versioning::newest_common;
use mcp_core::{Call, ChannelError, ClientRequest, Fault};
use tokio::time::{Instant, sleep_until};

use super::Running;
use crate::error::Kind;

/// How often a call that may be made twice is made again after a break.
const MAX_REPEATS: usize = 2;

impl Running<'_> {
    /// The call may be made again after its stream broke. A state is never used twice: servers may
    /// take each but once.
    // spec: MRTR-09
    pub(super) fn repeats_after_break(&mut self) -> bool {
        let repeats = self.is_idempotent() && self.input.is_none() && self.repeats < MAX_REPEATS;
        self.repeats += usize::from(repeats);
        repeats
    }

    /// It makes no difference whether the server does it once or twice.
    fn is_idempotent(&self) -> bool {
        let only_reads = match &self.asked {
            ClientRequest::Call(Call::CallTool(params)) => {
                self.client.inner.tools.is_idempotent(&params.name)
            }
            ClientRequest::Call(Call::Other { .. }) => false,
            ClientRequest::Call(_) | ClientRequest::Discover => true,
            _ => false,
        };
        self.options.idempotent.unwrap_or(only_reads)
    }

    pub(super) async fn wait_to_repeat(&mut self) -> Result<(), Kind> {
        let end = self.clock.end();
        let wait = Instant::now() + self.backoff.next_delay();
        sleep_until(wait.min(end)).await;
        if wait >= end {
            return Err(self.clock.timed_out(end));
        }
        Ok(())
    }

    /// Says of a call that broke whether it may have been made.
    pub(super) fn lost(&self, kind: Kind) -> Kind {
        if kind.is_broken() && !self.is_idempotent() {
            Kind::Lost(Box::new(kind))
        } else {
            kind
        }
    }

    /// Says the same of a call whose connection ended by itself while it was on its way.
    pub(super) fn ended(&self, kind: Kind) -> Kind {
        if let Kind::Channel(ChannelError::Closed(reason)) = &kind {
            // Calls from now on know it before they are sent.
            self.client.inner.closing.close(reason.clone());
        }
        match self.is_idempotent() {
            true => kind,
            false => Kind::Lost(Box::new(kind)),
        }
    }

    /// Takes another version when the server refuses this one; once, also when the server names
    /// the very version that it refused.
    // spec: VER-04
    pub(super) fn corrects(&mut self, fault: &Fault) -> bool {
        let Fault::UnsupportedVersion { supported, .. } = fault else {
            return false;
        };
        match newest_common(supported, &self.client.inner.spoken) {
            Some(version) if !self.retried => {
                self.version = version;
                self.retried = true;
                true
            }
            _ => false,
        }
    }

    /// Looks up which headers the server misses, once.
    // spec: XHDR-19
    pub(super) async fn learns_headers(&mut self) -> bool {
        let may = !std::mem::replace(&mut self.relisted, true);
        let (asked, headers) = (&self.asked, &self.options.headers);
        let end = self.clock.end();
        may && self.client.learns_headers(asked, headers, end).await
    }
}

//! A layer's settings.

use std::fmt;
use std::sync::{Arc, OnceLock};

use mcp_types::{CallToolResult, RawObject};
use opentelemetry::metrics::Meter;

use crate::instruments::{Instruments, global_meter};
use crate::known_names::KnownNames;

type RedactArguments = dyn Fn(&str, &RawObject) -> Option<String> + Send + Sync;
type RedactResult = dyn Fn(&str, &CallToolResult) -> Option<String> + Send + Sync;

/// The settings and the state of a layer.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) meter: Option<Meter>,
    pub(crate) uris_in_metrics: bool,
    /// The layer records spans only.
    pub(crate) without_metrics: bool,
    pub(crate) arguments: Option<Arc<RedactArguments>>,
    pub(crate) results: Option<Arc<RedactResult>>,
    pub(crate) names: KnownNames,
    instruments: OnceLock<Instruments>,
}

impl Settings {
    /// Returns the histograms, if the layer records metrics. They are made at the first use, so that the global
    /// meter provider may be installed after the layer.
    pub(crate) fn instruments(&self) -> Option<&Instruments> {
        if self.without_metrics {
            return None;
        }
        Some(self.instruments.get_or_init(|| match &self.meter {
            Some(meter) => Instruments::new(meter),
            None => Instruments::new(&global_meter()),
        }))
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("uris_in_metrics", &self.uris_in_metrics)
            .field("without_metrics", &self.without_metrics)
            .field("arguments", &self.arguments.is_some())
            .field("results", &self.results.is_some())
            .finish_non_exhaustive()
    }
}

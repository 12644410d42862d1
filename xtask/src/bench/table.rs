//! The table of results: a row for each candidate of each scenario.

use serde::Serialize;

use super::measure::{Sample, median};

/// A line of the table.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    scenario: &'static str,
    server: &'static str,
    requests_per_second: f64,
    of_limit: Option<f64>,
    p50_microseconds: Option<f64>,
    p99_microseconds: Option<f64>,
    /// Ratio to the `p99` of the limit.
    p99_to_limit: Option<f64>,
    cpu_microseconds_per_request: Option<f64>,
    /// Processor time per request of the limit, divided by that of this row.
    of_limit_by_cpu: Option<f64>,
    /// Size of a response. Rows are comparable if their responses have the same size.
    bytes: Option<f64>,
    pub(crate) errors: usize,
    last_error: Option<String>,
}

type Part = fn(&Sample) -> Option<f64>;

impl Row {
    pub(crate) const HEADING: &'static str = "\
scenario               server               req/s  of limit    p50 us    p99 us  of limit  CPU us/req  of limit    bytes  errors";

    /// `limit` has the samples of the limit from the same rounds. Ratios are computed per round and
    /// then reduced to their median, because the speed of the machine varies between rounds.
    pub(crate) fn new(
        scenario: &'static str,
        server: &'static str,
        all: &[Sample],
        limit: &[Sample],
    ) -> Self {
        let middle = |part: Part| median(all.iter().filter_map(part).collect());
        let to_limit = |part: Part| {
            let pairs = all.iter().zip(limit);
            let ratios = pairs.filter_map(|(own, limit)| Some(part(own)? / part(limit)?));
            median(ratios.collect())
        };
        let rate: Part = |sample| Some(sample.req_per_s);
        Self {
            scenario,
            server,
            requests_per_second: middle(rate).unwrap_or(0.0),
            of_limit: to_limit(rate),
            p50_microseconds: middle(|sample| sample.p50_us),
            p99_microseconds: middle(|sample| sample.p99_us),
            p99_to_limit: to_limit(|sample| sample.p99_us),
            cpu_microseconds_per_request: middle(|sample| sample.cpu_us),
            of_limit_by_cpu: to_limit(|sample| sample.cpu_us).map(f64::recip),
            bytes: middle(|sample| Some(sample.bytes as f64 / sample.requests as f64)),
            errors: all.iter().map(|sample| sample.errors).sum(),
            last_error: all
                .iter()
                .rev()
                .find_map(|sample| sample.last_error.clone()),
        }
    }

    /// Creates a row with bytes per session instead of requests per second.
    pub(crate) fn from_memory(
        scenario: &'static str,
        server: &'static str,
        bytes: f64,
        sample: &Sample,
    ) -> Self {
        Self {
            bytes: Some(bytes),
            ..Self::new(scenario, server, std::slice::from_ref(sample), &[])
        }
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |value: Option<f64>, digits: usize| match value {
            Some(value) => format!("{value:.digits$}"),
            None => "-".to_owned(),
        };
        let (number, ratio) = (|value| shown(value, 1), |value| shown(value, 2));
        write!(
            f,
            "{:22} {:16} {:9.0} {:>9} {:>9} {:>9} {:>9} {:>11} {:>9} {:>8} {:>7}",
            self.scenario,
            self.server,
            self.requests_per_second,
            ratio(self.of_limit),
            number(self.p50_microseconds),
            number(self.p99_microseconds),
            ratio(self.p99_to_limit),
            number(self.cpu_microseconds_per_request),
            ratio(self.of_limit_by_cpu),
            self.bytes
                .map_or("-".to_owned(), |bytes| format!("{bytes:.0}")),
            self.errors,
        )?;
        match &self.last_error {
            Some(error) => write!(f, "\n    {error}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Sample};

    fn sample(json: &str) -> Sample {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn row_has_medians_and_adds_up_errors() {
        let good = |rate: u32| {
            sample(&format!(
                r#"{{"requests":10,"bytes":2000,"seconds":1,"req_per_s":{rate},"p50_us":5,"p99_us":9,"errors":0,"last_error":null}}"#
            ))
        };
        let bad = r#"{"requests":0,"bytes":0,"seconds":1,"req_per_s":0,"p50_us":null,"p99_us":null,"errors":3,"last_error":"refused"}"#;
        let row = Row::new(
            "call",
            "mcp",
            &[good(30), good(10), good(20), sample(bad)],
            &[good(60), good(40), good(20), sample(bad)],
        );
        assert_eq!(
            (row.requests_per_second, row.of_limit, row.errors),
            (15.0, Some(0.5), 3)
        );
        assert_eq!((row.p99_to_limit, row.of_limit_by_cpu), (Some(1.0), None));
        assert_eq!(
            (
                row.p50_microseconds,
                row.bytes,
                row.cpu_microseconds_per_request
            ),
            (Some(5.0), Some(200.0), None)
        );
        assert!(row.to_string().contains("refused"));
    }
}

//! Metrics, causes and kinds in words.

use schemas::{Cause, CauseKind, CauseShare, Metric};

/// What a metric measures, in plain words.
pub(crate) fn metric(metric: Option<Metric>) -> &'static str {
    metric.map_or("unknown metric", Metric::title)
}

/// The cause of a loss, in plain words.
pub(crate) fn cause(share: &CauseShare) -> String {
    cause_word(share.cause, &share.series_or_job)
}

/// A cause with its job or series, in plain words.
pub(crate) fn cause_word(cause: Cause, source: &str) -> String {
    let source = printable(source);
    match cause {
        Cause::OtherJob if source.is_empty() || source == "another job" => "another job".to_string(),
        Cause::SelfInflicted => "the job itself".to_string(),
        Cause::OtherJob => match source.split('/').nth(1) {
            Some(component) => format!("{component}, of which no job is known"),
            None => format!("job {source}"),
        },
        Cause::IoOnMpi => format!("I/O on the links of messages, {source}"),
        Cause::FailoverInduced => format!("load of a failed or narrowed path, {source}"),
        Cause::Server => slower_server(&source),
        Cause::Node => slower_node(&source),
        Cause::Unknown => "unknown".to_string(),
    }
}

/// A series names its node between the metric and the part.
fn slower_node(series: &str) -> String {
    match series.split('/').nth(1) {
        Some(node) => format!("a slower node, {node}: the others of the job continued"),
        None => "a slower node: the others of the job continued".to_string(),
    }
}

/// A series of a client names the file system last.
fn slower_server(series: &str) -> String {
    match series.rsplit_once('/') {
        Some((_, file_system)) => format!("a slower server of {file_system}: its clients fell together"),
        None => "a slower server: its clients fell together".to_string(),
    }
}

/// What sort of bottleneck it is, in plain words.
pub(crate) fn kind(kind: CauseKind) -> &'static str {
    match kind {
        CauseKind::Avoidable => "avoidable: parallel links idle",
        CauseKind::Capacity => "capacity: saturated",
        CauseKind::Endpoint => "endpoint: receiver-limited",
        CauseKind::Unknown => "kind unknown",
    }
}

/// Text from outside without characters that could steer a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slower_server_is_named_by_its_file_system() {
        let word = cause_word(Cause::Server, "lustre_write_rate/nid00012/scratch");
        assert_eq!(word, "a slower server of scratch: its clients fell together");
        assert!(cause_word(Cause::Server, "").starts_with("a slower server:"));
    }

    #[test]
    fn a_series_without_a_job_is_not_called_a_job() {
        let word = |source: &str| cause_word(Cause::OtherJob, source);
        assert_eq!(word("lustre_write_rate/nid00012/scratch"), "nid00012, of which no job is known");
        assert_eq!(word("4698"), "job 4698");
    }

    #[test]
    fn a_slower_node_is_named() {
        let word = cause_word(Cause::Node, "lustre_write_rate/nid00012/scratch");
        assert_eq!(word, "a slower node, nid00012: the others of the job continued");
    }
}

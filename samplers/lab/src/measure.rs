//! Names of what can be expected of a case: `case/measure(arguments)`.
//!
//! | measure | what it is |
//! |---|---|
//! | `run_s(J)`, `alone_s(J)`, `slowdown(J)` | run time of job J, run time alone, one over the other |
//! | `lost_self_s(J)`, `lost_others_s(J)`, `lost_failover_s(J)` | the truth about its losses, in seconds |
//! | `found_s(J)`, `found_lo_s(J)`, `found_hi_s(J)` | the loss that Tailback reports, and its 95% interval |
//! | `found_self_s(J)`, `found_others_s(J)` | the loss on links that Tailback reports, to itself and to others |
//! | `laid_to(J, SOURCE)` | share of J's loss that Tailback lays to SOURCE: another job's number, or the word of a cause |
//! | `completeness(J)` | share of the job's data that was there |
//! | `regions()`, `regions(WORD)` | reported contended regions; those of a cause or a kind |
//! | `first_s()` | when the first region begins, in seconds |
//! | `links_most()`, `relief()` | most links of a region, highest relief bound |
//! | `blamed(J)` | largest share of a region's load that is laid to J as another's fault |
//! | `series(/P/)`, `series_outside(/P/)` | series of regions whose names match a pattern, or do not |
//! | `incidents(WORD)` | how often links were reported as `down`, `recovered`, `flapping`; simultaneous reports count once |
//! | `paths_s(STATE, H, A, B)` | of seconds A to B, those in which host H, with a failure at one of its links, is reported as `up`, `degraded`, `partitioned` or `unknown` |
//! | `sends_mb_per_s(H, A, B)` | what host H, with a failure at one of its links, really sends in seconds A to B, in the mean |
//! | `episodes(/P/)` | contended stretches of series whose names match |
//! | `load_max(C)`, `load_mean(C)`, `load_sum(C)`, `idle(C)` | demand on links, over their capacity; the mean is that of links that carry something |
//! | `max_over_mean(C)` | worst load over the mean of all links |
//! | `shared(J, K)`, `descends(J)` | links between switches that both J's messages and K's writes cross; second-level switches through which J's writes descend |
//! | `bandwidth(J)` | mean of what its flows get when they send as fast as they can, over a host's link |
//! | `ring_bandwidth(J)` | the same, for all steps of a ring, in the mean |
//! | `sent(J, C)` | what each of its nodes sends over the capacity of a link |
//! | `cycles(J)` | how often each of its aggregators fills its buffer |
//! | `hosts()`, `links(C)`, `level(L)` | hosts, directed links, switches at a level |
//! | `saved_s(J)`, `saved_lo_s(J)`, `saved_hi_s(J)` | by how much job J's run is shorter where jobs ask: mean over the seeds, its 95% interval |
//! | `saved_least_s(J)`, `saved_share(J)` | the least that one seed saved; the mean over the run time without asking |
//! | `late_s(J)`, `waited_s(J)` | where jobs ask: J's longest time from the beginning of a write to its end, and the mean time in which it did nothing |
//! | `request_us()`, `request_factor()`, `threshold_ms()` | of requests to servers: mean time, over that alone, threshold interval |
//! | `message_us(B)`, `messages_us(N, B)` | time of a message of B bytes, and of N of them one after the other |
//!
//! C is a class of links (`global`, `leaf`, `host`…), `all`, `inner` for those between switches, `level3` for those at the third
//! level, `uplinks` for those up from the leaf of the first job's first host, or `first_group` for global ones that begin in
//! the first group; a job's number may follow it, for its load alone.

use serde::Deserialize;
use std::fmt;

/// A measure of a case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Measure {
    /// The case.
    pub case: String,
    /// The measure.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Measures that need no second to be played.
const STANDING: [&str; 19] = [
    "load_max",
    "load_mean",
    "load_sum",
    "idle",
    "max_over_mean",
    "shared",
    "descends",
    "bandwidth",
    "sent",
    "cycles",
    "ring_bandwidth",
    "hosts",
    "links",
    "level",
    "request_us",
    "request_factor",
    "threshold_ms",
    "message_us",
    "messages_us",
];
/// Those of which a case must be played.
const PLAYED: [&str; 31] = [
    "run_s",
    "alone_s",
    "slowdown",
    "lost_self_s",
    "lost_others_s",
    "lost_failover_s",
    "found_s",
    "found_lo_s",
    "found_hi_s",
    "found_self_s",
    "found_others_s",
    "laid_to",
    "completeness",
    "regions",
    "first_s",
    "links_most",
    "relief",
    "blamed",
    "series",
    "series_outside",
    "episodes",
    "incidents",
    "paths_s",
    "sends_mb_per_s",
    "saved_s",
    "saved_lo_s",
    "saved_hi_s",
    "saved_least_s",
    "saved_share",
    "late_s",
    "waited_s",
];

impl TryFrom<String> for Measure {
    type Error = String;

    fn try_from(text: String) -> Result<Measure, String> {
        let wrong = || format!("{text:?} is no measure like \"case/run_s(1)\"");
        let (case, rest) = text.split_once('/').ok_or_else(wrong)?;
        let (name, rest) = rest.split_once('(').ok_or_else(wrong)?;
        let inside = rest.strip_suffix(')').ok_or_else(wrong)?.trim();
        let arguments = match inside.strip_prefix('/').and_then(|pattern| pattern.strip_suffix('/')) {
            Some(pattern) => vec![pattern.to_string()],
            None => inside
                .split(',')
                .map(|part| part.trim().to_string())
                .filter(|part| !part.is_empty())
                .collect(),
        };
        let known = || STANDING.iter().chain(&PLAYED);
        if !known().any(|known| *known == name) {
            let near = known().max_by(|a, b| strsim::jaro(a, name).total_cmp(&strsim::jaro(b, name)));
            return Err(format!("there is no measure {name:?}; did you mean {:?}?", near.unwrap_or(&"")));
        }
        Ok(Measure { case: case.to_string(), name: name.to_string(), arguments })
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}({})", self.case, self.name, self.arguments.join(", "))
    }
}

impl Measure {
    /// Whether the case must be played for it.
    pub fn is_played(&self) -> bool {
        PLAYED.contains(&self.name.as_str())
    }

    /// An argument, by its index.
    ///
    /// # Errors
    /// It is missing.
    pub fn argument(&self, at: usize) -> anyhow::Result<&str> {
        match self.arguments.get(at) {
            Some(argument) => Ok(argument),
            None => anyhow::bail!("{self} needs {} arguments", at + 1),
        }
    }

    /// An argument that is a job's number.
    ///
    /// # Errors
    /// It is missing, or no number.
    pub fn job(&self, at: usize) -> anyhow::Result<u64> {
        let argument = self.argument(at)?;
        argument.parse().map_err(|_| anyhow::anyhow!("{self}: {argument:?} is no job's number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Measure, String> {
        Measure::try_from(text.to_string())
    }

    #[test]
    fn a_measure_is_a_case_a_name_and_arguments() {
        let measure = parse("random/shared(1, 2)").unwrap();
        assert_eq!((measure.job(0).unwrap(), measure.job(1).unwrap()), (1, 2));
        assert_eq!(measure.to_string(), "random/shared(1, 2)");
        assert_eq!(parse("a/series(/c0-0c0s(8|9),x/)").unwrap().arguments, ["c0-0c0s(8|9),x"]);
        assert!(parse("a/regions()").unwrap().argument(0).is_err());
    }

    #[test]
    fn misspelt_measure_is_refused_with_the_nearest_name() {
        assert!(parse("a/regoins()").unwrap_err().contains("\"regions\""));
        assert!(parse("run_s").is_err() && parse("a/run_s(1").is_err());
    }
}

//! Spellings of column names.
//!
//! Options of LDMS' stores add quotes, `.value` or another unit of time; a decomposition may rename every column, and
//! people write tables of their own. What identifies a row is therefore recognised under all the names that LDMS'
//! manuals give it, whatever its case.

use std::borrow::Cow;

/// What a row needs besides its counters, in words for a person.
pub const WANTED: &str = "a time (timestamp, Time, Time_msec, ts or M_timestamp), a node (producer, ProducerName, \
     prdcr, M_producer, or component_id, comp_id) and counters (fs_name with write_bytes.sum, port_xmit_wait with \
     port_xmit_data, AR_RTR_*, PortXmitWait) or jobs (job_id, job_start)";

/// A column that every schema has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// Seconds, or milli-, micro- or nanoseconds, since the epoch.
    Time,
    /// Milliseconds since the epoch; another column has the microseconds below them.
    TimeMsec,
    /// Microseconds below the milliseconds of [`Base::TimeMsec`].
    TimeUsec,
    Producer,
    ComponentId,
    JobId,
}

impl Base {
    /// The name under which LDMS has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Base::Time | Base::TimeMsec => "timestamp",
            Base::TimeUsec => "timestamp_usec",
            Base::Producer => "producer",
            Base::ComponentId => "component_id",
            Base::JobId => "job_id",
        }
    }

    /// The base column called `name` (see [`plain`]), and how far the name is from LDMS' own: 0 is LDMS' own.
    pub(crate) fn of(name: &str) -> Option<(Base, u8)> {
        /// Bytes of the longest of them: most columns of a router are longer.
        const LONGEST: usize = 14;
        const NAMES: [(Base, u8, &str); 25] = [
            (Base::Time, 0, "timestamp"),
            (Base::Time, 0, "Time"),
            (Base::TimeMsec, 1, "Time_msec"),
            (Base::TimeMsec, 2, "timestamp_msec"),
            (Base::TimeMsec, 2, "ts_msec"),
            (Base::TimeUsec, 1, "Time_usec"),
            (Base::TimeUsec, 2, "timestamp_usec"),
            (Base::TimeUsec, 2, "ts_usec"),
            (Base::Time, 1, "M_timestamp"),
            (Base::Time, 2, "ts"),
            (Base::Time, 3, "epoch"),
            (Base::Producer, 0, "producer"),
            (Base::Producer, 0, "ProducerName"),
            (Base::Producer, 1, "M_producer"),
            (Base::Producer, 2, "prdcr"),
            (Base::Producer, 2, "producer_name"),
            (Base::Producer, 3, "hostname"),
            (Base::Producer, 3, "nodename"),
            (Base::Producer, 4, "host"),
            (Base::ComponentId, 0, "component_id"),
            (Base::ComponentId, 1, "comp_id"),
            (Base::ComponentId, 2, "compid"),
            (Base::ComponentId, 2, "CompId"),
            (Base::JobId, 0, "job_id"),
            (Base::JobId, 1, "jobid"),
        ];
        if name.len() > LONGEST {
            return None;
        }
        let exact = NAMES.iter().find(|(_, _, known)| *known == name).map(|(base, far, _)| (*base, *far));
        exact.or_else(|| {
            let found = NAMES.iter().find(|(_, _, known)| known.eq_ignore_ascii_case(name));
            found.map(|(base, far, _)| (*base, far + OTHER_CASE))
        })
    }
}

/// What another case adds to the distance of a name.
pub(crate) const OTHER_CASE: u8 = 8;

/// `name` as the metric set has it: without quotes, without `.value` behind it (`userdata=1`), and a member of a list
/// behind a dot, whichever store or decomposition wrote it.
pub(crate) fn plain(name: &str) -> Cow<'_, str> {
    let name = name.trim();
    let name = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(name);
    let name = name.strip_suffix(".value").unwrap_or(name);
    if let Some((list, member)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        return Cow::Owned(format!("{list}.{member}"));
    }
    for list in ["ib_nics", "job_list"] {
        if let Some(member) = name.strip_prefix(list).and_then(|rest| rest.strip_prefix('_')) {
            return Cow::Owned(format!("{list}.{member}"));
        }
    }
    Cow::Borrowed(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_spell_the_same_column_in_many_ways() {
        for (spelled, name) in [
            ("\"Time\"", "Time"),
            (" open.value ", "open"),
            ("ib_nics[port_xmit_wait]", "ib_nics.port_xmit_wait"),
            ("ib_nics_ca_name", "ib_nics.ca_name"),
            ("job_list_job_start.value", "job_list.job_start"),
            ("read_bytes.sum", "read_bytes.sum"),
            ("job_slot_list_tail", "job_slot_list_tail"),
            ("a\"", "a\""),
        ] {
            assert_eq!(plain(spelled), name);
        }
    }

    #[test]
    fn names_of_the_manuals_are_known_and_ldms_own_is_nearest() {
        for (name, base) in [
            ("ts", Base::Time),
            ("M_timestamp", Base::Time),
            ("TIMESTAMP", Base::Time),
            ("time_msec", Base::TimeMsec),
            ("prdcr", Base::Producer),
            ("m_producer", Base::Producer),
            ("comp_id", Base::ComponentId),
            ("JobID", Base::JobId),
        ] {
            assert_eq!(Base::of(name).unwrap().0, base, "{name}");
        }
        let far = |name| Base::of(name).unwrap().1;
        assert!(far("timestamp") < far("ts") && far("ts") < far("Timestamp"));
        assert_eq!(Base::of("times"), None);
    }
}

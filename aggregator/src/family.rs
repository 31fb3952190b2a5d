//! The LDMS schemas that carry counters Tailback uses.

use schemas::Metric;

/// Which LDMS schema a row follows. The columns decide: the names of schemas and topics are a site's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Family {
    AriesRtr,
    IbSysfs,
    Ibmad,
    IbmadRecords,
    Ibnet,
    Sysclassib,
    LustreClient,
    Lustre2Client,
}

impl Family {
    pub(crate) fn schema(self) -> &'static str {
        match self {
            Family::AriesRtr => "aries_rtr",
            Family::IbSysfs => "ib_sysfs",
            Family::Ibmad => "ibmad",
            Family::IbmadRecords => "ibmad_records",
            Family::Ibnet => "ibnet",
            Family::Sysclassib => "sysclassib",
            Family::LustreClient => "lustre_client",
            Family::Lustre2Client => "lustre2_client",
        }
    }

    pub(crate) fn metric(self) -> Metric {
        match self {
            Family::LustreClient | Family::Lustre2Client => Metric::LustreWriteRate,
            Family::IbSysfs | Family::Ibmad | Family::IbmadRecords | Family::Ibnet | Family::Sysclassib => {
                Metric::IbWaitRatio
            }
            Family::AriesRtr => Metric::AriesStallRatio,
        }
    }

    /// Each schema has its own rank, so that the choice among redundant ones is the same in every run.
    /// `ib_sysfs` and `ibnet` read counters in full width, the others saturate at 32 bits.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Family::AriesRtr | Family::IbSysfs | Family::Ibnet | Family::LustreClient => 0,
            Family::Ibmad | Family::Lustre2Client => 1,
            Family::IbmadRecords => 2,
            Family::Sysclassib => 3,
        }
    }
}

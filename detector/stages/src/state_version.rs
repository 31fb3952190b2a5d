//! Version of a stage's written state, made of the versions of its parts.

use std::fmt;

/// A state is read only by a program with the same versions of all parts. A part that a stage does not contain is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateVersion {
    /// What the stage adds itself.
    pub stage: u8,
    /// [`detector::detector::STATE_VERSION`].
    pub detector: u8,
    /// [`detector::fabric::STATE_VERSION`].
    pub fabric: u8,
    /// [`alerts::engine::STATE_VERSION`].
    pub alerts: u8,
}

impl StateVersion {
    /// Column `version` of `stage_snapshots`: a byte for each part, in the order of the fields from the highest byte.
    pub const fn packed(self) -> u32 {
        u32::from_be_bytes([self.stage, self.detector, self.fabric, self.alerts])
    }

    /// Reads [`StateVersion::packed`].
    pub const fn unpacked(packed: u32) -> StateVersion {
        let [stage, detector, fabric, alerts] = packed.to_be_bytes();
        StateVersion { stage, detector, fabric, alerts }
    }
}

impl fmt::Display for StateVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.stage, self.detector, self.fabric, self.alerts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_version_reads_back() {
        let version = StateVersion { stage: 1, detector: 10, fabric: 8, alerts: 255 };
        assert_eq!((version.packed(), StateVersion::unpacked(version.packed())), (0x010A_08FF, version));
        assert_eq!(version.to_string(), "1.10.8.255");
    }
}

//! Names of a switch of Slingshot and of a port of it.

use schemas::xname::{JackPort, switch_of, without_zeros};

/// A port of a switch, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SwitchPort {
    /// `x1000c0r1`, or `g1s9` by the numbers of group and switch.
    pub switch: Option<String>,
    /// `j14p0` by its jack, as lists of cables name it, or `p12` by its number.
    pub port: Option<String>,
}

impl SwitchPort {
    /// The port at `location`; `indexes` are the numbers of its group, of the switch in that, and of the port in the switch.
    /// A switch without an xname yet has a location such as `ros-0040a683cda1l12`: its numbers name it.
    pub(crate) fn of(location: &str, indexes: [Option<&str>; 3]) -> SwitchPort {
        let [group, switch, port] = indexes.map(|digits| digits.map(without_zeros));
        let (by_name, behind) = switch_of(location).map_or((None, ""), |(name, behind)| (Some(name), behind));
        let by_numbers = || Some(format!("g{}s{}", group?, switch?));
        // The two ports of a whole jack would be one series.
        let by_jack = JackPort::parse(behind).filter(|jack| jack.is_port());
        let by_location = || Some(behind.to_ascii_lowercase()).filter(|behind| !behind.is_empty());
        SwitchPort {
            switch: by_name.or_else(by_numbers),
            port: by_jack
                .map(|jack| jack.to_string())
                .or_else(|| port.map(|port| format!("p{port}")))
                .or_else(by_location),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_is_named_by_its_jack_else_by_its_number() {
        for (location, indexes, switch, port) in [
            ("X1000c0r1J02p1", [Some("1"), Some("9"), Some("12")], Some("x1000c0r1"), Some("j2p1")),
            ("x1000c0r1j2p3", [Some("1"), Some("9"), Some("12")], Some("x1000c0r1"), Some("p12")),
            ("x1000c0r1j2", [Some("1"), Some("9"), Some("12")], Some("x1000c0r1"), Some("p12")),
            ("x1000c0r1j2p3", [None; 3], Some("x1000c0r1"), Some("j2p3")),
            ("x3000.c0.r15.J13", [None; 3], Some("x3000c0r15"), Some("j13")),
            ("X2011c06r01a0l50", [None; 3], Some("x2011c6r1"), Some("a0l50")),
            ("x2011c6r1a0l50", [None, None, Some("50")], Some("x2011c6r1"), Some("p50")),
            ("ros-0040a683cda1l12", [Some("0"), Some("00"), Some("012")], Some("g0s0"), Some("p12")),
            ("x3000c0s34b4n0", [Some("1"), Some("9"), Some("0")], Some("g1s9"), Some("p0")),
            ("x2011c6r1", [None; 3], Some("x2011c6r1"), None),
            ("", [None, Some("9"), None], None, None),
        ] {
            let found = SwitchPort::of(location, indexes);
            assert_eq!((found.switch.as_deref(), found.port.as_deref()), (switch, port), "{location}");
        }
    }
}

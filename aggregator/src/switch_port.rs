//! Names of a switch of Slingshot and of a port of it.

use schemas::xname::switch_of;

/// A port of a switch, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SwitchPort {
    /// `x1000c0r1`, or `g1s9` by the numbers of group and switch.
    pub switch: Option<String>,
    /// `p12` by its number, or what its location has behind the switch: `j14p0`.
    pub port: Option<String>,
}

impl SwitchPort {
    /// The port at `location`; `indexes` are the numbers of its group, of the switch in that, and of the port in the switch.
    /// A switch without an xname yet has a location such as `ros-0040a683cda1l12`: its numbers name it.
    pub(crate) fn of(location: &str, indexes: [Option<&str>; 3]) -> SwitchPort {
        let [group, switch, port] = indexes.map(|digits| digits.map(without_zeros));
        let (by_name, behind) = switch_of(location).map_or((None, ""), |(name, behind)| (Some(name), behind));
        let by_numbers = || Some(format!("g{}s{}", group?, switch?));
        let by_location = || Some(behind.to_ascii_lowercase()).filter(|behind| !behind.is_empty());
        SwitchPort {
            switch: by_name.or_else(by_numbers),
            port: port.map(|port| format!("p{port}")).or_else(by_location),
        }
    }
}

/// Digits as a number has them: `4` of `04`.
fn without_zeros(digits: &str) -> &str {
    let kept = digits.trim_start_matches('0');
    if kept.is_empty() { &digits[digits.len().saturating_sub(1)..] } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_is_named_by_its_number_and_the_switch_by_its_xname() {
        for (location, indexes, switch, port) in [
            ("x1000c0r1j2p3", [Some("1"), Some("9"), Some("12")], Some("x1000c0r1"), Some("p12")),
            ("x3000.c0.r15.J13", [None; 3], Some("x3000c0r15"), Some("j13")),
            ("X2011c06r01a0l50", [None; 3], Some("x2011c6r1"), Some("a0l50")),
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

//! Names of HPE's machine rooms (xnames), as far as they are ends of Slingshot cables: `x3000c0r15j14p1` is cabinet 3000,
//! chassis 0, switch 15, jack 14, port 1 of it; `x3000c0s17b1n0h0` is network interface 0 of node `x3000c0s17b1n0`.

use std::fmt;

/// Ports of jacks have numbers from here on; ports with plain numbers have lower ones.
const FIRST_JACK: u16 = 0x8000;
/// Numbers of a jack: the whole jack, its port 0, its port 1.
const PER_JACK: u16 = 4;
/// Real jacks have up to three digits.
const JACK_MAX: u32 = 999;
/// A host has at most this many adapters, see [`crate::Topology::port`].
const INTERFACE_MAX: u32 = 254;

/// One end of a Slingshot cable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CableEnd {
    /// A jack of a switch.
    Jack {
        /// The switch: `x3000c0r15`.
        switch: String,
        /// The jack, or one of its ports.
        port: JackPort,
    },
    /// A network interface of a node.
    Interface {
        /// The node: `x3000c0s17b1n0`.
        node: String,
        /// Its interface: `h0`.
        interface: String,
    },
}

impl CableEnd {
    /// The end that `text` names, without regard to case, dots and leading zeros.
    pub fn parse(text: &str) -> Option<CableEnd> {
        let parts = parts(text)?;
        let letters: String = parts.iter().map(|(letter, _)| *letter).collect();
        let number = |at: usize| parts.get(at).map(|(_, number)| *number);
        match letters.as_str() {
            "xcrj" | "xcrjp" => {
                let port = JackPort::new(number(3)?, number(4))?;
                Some(CableEnd::Jack { switch: joined(&parts[..3]), port })
            }
            "xcsbnh" | "xcsnh" => {
                let (interface, node) = parts.split_last()?;
                let interface = (interface.1 <= INTERFACE_MAX).then(|| joined(&[*interface]))?;
                Some(CableEnd::Interface { node: joined(node), interface })
            }
            _ => None,
        }
    }
}

/// A jack of a switch as a whole, `j14`, or one of its two ports, `j14p1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JackPort {
    jack: u16,
    port: Option<u8>,
}

impl JackPort {
    fn new(jack: u32, port: Option<u32>) -> Option<JackPort> {
        let fits = jack <= JACK_MAX && port.is_none_or(|port| port <= 1);
        fits.then_some(JackPort { jack: jack as u16, port: port.map(|port| port as u8) })
    }

    /// The port that is called `label`.
    pub fn parse(label: &str) -> Option<JackPort> {
        match parts(label)?.as_slice() {
            [('j', jack)] => JackPort::new(*jack, None),
            [('j', jack), ('p', port)] => JackPort::new(*jack, Some(*port)),
            _ => None,
        }
    }

    /// The two ports of the jack, this one first.
    pub fn halves(self) -> [JackPort; 2] {
        let first = self.port.unwrap_or(0);
        [first, 1 - first].map(|port| JackPort { port: Some(port), ..self })
    }

    /// Its number among the ports of a switch, see [`crate::Topology::port`].
    pub fn number(self) -> u16 {
        FIRST_JACK + self.jack * PER_JACK + self.port.map_or(0, |port| u16::from(port) + 1)
    }

    /// The port with this number; `None` for ports that have no jack.
    pub fn of_number(number: u16) -> Option<JackPort> {
        let number = number.checked_sub(FIRST_JACK)?;
        JackPort::new(u32::from(number / PER_JACK), u32::from(number % PER_JACK).checked_sub(1))
    }
}

impl fmt::Display for JackPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "j{}", self.jack)?;
        self.port.map_or(Ok(()), |port| write!(f, "p{port}"))
    }
}

/// Letters, each with its number.
fn parts(text: &str) -> Option<Vec<(char, u32)>> {
    let text: String = text.chars().filter(|c| *c != '.').map(|c| c.to_ascii_lowercase()).collect();
    let mut rest = text.as_str();
    let mut parts = Vec::new();
    while let Some(letter) = rest.chars().next() {
        rest = rest.strip_prefix(|c: char| c.is_ascii_lowercase())?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        parts.push((letter, rest[..digits].parse().ok()?));
        rest = &rest[digits..];
    }
    Some(parts)
}

fn joined(parts: &[(char, u32)]) -> String {
    parts.iter().map(|(letter, number)| format!("{letter}{number}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_cables_are_read_without_regard_to_spelling() {
        let jack = |switch: &str, port| CableEnd::Jack {
            switch: switch.to_string(),
            port: JackPort::parse(port).unwrap(),
        };
        for text in ["x3000c0r15j14", "x3000.c0.r15.j14", "X3000C0R15J14", "x3000c0r015j014"] {
            assert_eq!(CableEnd::parse(text), Some(jack("x3000c0r15", "j14")), "{text}");
        }
        assert_eq!(CableEnd::parse("x9000c1r3j100p1"), Some(jack("x9000c1r3", "j100p1")));
        for (text, name) in [("x3000.c0.s04.b1.n0.h1", "x3000c0s4b1n0"), ("x7000c0s0n0h1", "x7000c0s0n0")] {
            let (node, interface) = (name.to_string(), "h1".to_string());
            assert_eq!(CableEnd::parse(text), Some(CableEnd::Interface { node, interface }), "{text}");
        }
    }

    #[test]
    fn names_of_other_parts_are_no_ends_of_cables() {
        for text in [
            "",
            "x",
            "x3000",
            "x3000c0r15",
            "x3000c0s17b1n0",
            "x3000c0r15j1p2",
            "x3000c0r15j1000",
            "x1c0r0jé",
        ] {
            assert_eq!(CableEnd::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ports_of_jacks_have_numbers_of_their_own() {
        for label in ["j0", "j0p0", "j14", "j14p1", "j999p1"] {
            let port = JackPort::parse(label).unwrap();
            assert_eq!(JackPort::of_number(port.number()), Some(port));
            assert_eq!(port.to_string(), label);
        }
        assert_eq!(JackPort::of_number(17), None);
        let halves = |label| JackPort::parse(label).unwrap().halves().map(|port| port.to_string());
        assert_eq!(
            (halves("j5"), halves("j5p1")),
            (["j5p0", "j5p1"].map(String::from), ["j5p1", "j5p0"].map(String::from))
        );
    }
}

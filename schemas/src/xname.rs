//! Names of HPE's machine rooms (xnames), as far as Slingshot has them: `x3000c0r15j14p1` is cabinet 3000, chassis 0,
//! switch 15, jack 14, port 1 of it; `x3000c0s17b1n0h0` is network interface 0 of node `x3000c0s17b1n0`. Case, dots
//! between the parts and leading zeros do not matter.

use std::fmt;

/// Ports of jacks have numbers from here on; ports with plain numbers have lower ones.
const FIRST_JACK: u16 = 0x8000;
/// Numbers of a jack: the whole jack, its port 0, its port 1.
const PER_JACK: u16 = 4;
/// Real jacks have up to three digits.
const JACK_MAX: u32 = 999;
/// A host of a topology has at most this many adapters.
const INTERFACE_MAX: u32 = 254;
/// Room for the name of a switch or a node.
const NAME_BYTES: usize = 16;

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
    /// The end that `text` names.
    pub fn parse(text: &str) -> Option<CableEnd> {
        if let Some((switch, behind)) = switch_of(text) {
            return Some(CableEnd::Jack { switch, port: JackPort::parse(behind)? });
        }
        let parts = parts(text)?;
        let (interface, node) = parts.split_last()?;
        let is_interface = matches!(letters(&parts).as_str(), "xcsbnh" | "xcsnh");
        let fits = is_interface && interface.1.parse::<u32>().is_ok_and(|number| number <= INTERFACE_MAX);
        fits.then(|| CableEnd::Interface { node: joined(node), interface: joined(&[*interface]) })
    }
}

/// The node that `text` names, by its own name or by that of one of its interfaces.
pub fn node_of(text: &str) -> Option<String> {
    let parts = parts(text)?;
    match letters(&parts).as_str() {
        "xcsbn" | "xcsn" => Some(joined(&parts)),
        "xcsbnh" | "xcsnh" => parts.split_last().map(|(_, node)| joined(node)),
        _ => None,
    }
}

/// The switch that `text` begins with, and the rest: `x2011c6r1` and `j100p0` of `x2011c6r1j100p0`.
pub fn switch_of(text: &str) -> Option<(String, &str)> {
    let (cabinet, rest) = first_part(text)?;
    let (chassis, rest) = first_part(rest)?;
    let (slot, rest) = first_part(rest)?;
    let parts = [cabinet, chassis, slot];
    (parts.map(|(letter, _)| letter) == ['x', 'c', 'r'])
        .then(|| (joined(&parts), rest.trim_start_matches('.')))
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
            [('j', jack)] => JackPort::new(jack.parse().ok()?, None),
            [('j', jack), ('p', port)] => JackPort::new(jack.parse().ok()?, Some(port.parse().ok()?)),
            _ => None,
        }
    }

    /// Whether it is one port, not the whole jack.
    pub fn is_port(self) -> bool {
        self.port.is_some()
    }

    /// The jack as a whole.
    pub fn jack(self) -> JackPort {
        JackPort { port: None, ..self }
    }

    /// The two ports of the jack, this one first.
    pub fn halves(self) -> [JackPort; 2] {
        let first = self.port.unwrap_or(0);
        [first, 1 - first].map(|port| JackPort { port: Some(port), ..self })
    }

    /// Its number among the ports of a switch in a topology.
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

/// A small letter with the digits of its number, without leading zeros.
type Part<'t> = (char, &'t str);

fn parts(text: &str) -> Option<Vec<Part<'_>>> {
    let mut rest = text;
    let mut parts = Vec::new();
    while !rest.trim_start_matches('.').is_empty() {
        let (part, behind) = first_part(rest)?;
        parts.push(part);
        rest = behind;
    }
    Some(parts)
}

/// The first part, and the rest.
fn first_part(text: &str) -> Option<(Part<'_>, &str)> {
    let text = text.trim_start_matches('.');
    let letter = text.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = &text[1..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| ((letter.to_ascii_lowercase(), without_zeros(&rest[..digits])), &rest[digits..]))
}

/// Digits as a number has them: `4` of `04`.
pub fn without_zeros(digits: &str) -> &str {
    let kept = digits.trim_start_matches('0');
    if kept.is_empty() { &digits[digits.len().saturating_sub(1)..] } else { kept }
}

fn letters(parts: &[Part<'_>]) -> String {
    parts.iter().map(|(letter, _)| *letter).collect()
}

fn joined(parts: &[Part<'_>]) -> String {
    let mut name = String::with_capacity(NAME_BYTES);
    for (letter, number) in parts {
        name.push(*letter);
        name.push_str(number);
    }
    name
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
    fn node_is_known_by_its_name_and_by_its_interfaces() {
        for text in ["x3000c0s17b1n0", "x3000c0s17b1n0h0", "X3000.c0.s017.b1.n0.h3"] {
            assert_eq!(node_of(text).as_deref(), Some("x3000c0s17b1n0"), "{text}");
        }
        assert_eq!(node_of("x7000c0s0n0h1").as_deref(), Some("x7000c0s0n0"));
        for text in ["", "nid000001", "x3000c0s17b1", "x3000c0r15j14", "x3000c0s17b1n0-nmn"] {
            assert_eq!(node_of(text), None, "{text}");
        }
    }

    #[test]
    fn switch_is_the_beginning_of_a_location() {
        for (text, switch, rest) in [
            ("x2011c6r1j100p0", "x2011c6r1", "j100p0"),
            ("X2011c06r01.a0l50", "x2011c6r1", "a0l50"),
            ("x3000.c0.r15", "x3000c0r15", ""),
        ] {
            assert_eq!(switch_of(text), Some((switch.to_string(), rest)), "{text}");
        }
        for text in ["", "ros-0040a683cda1l12", "x3000c0s34b4n0", "x3000c0r", "xécr"] {
            assert_eq!(switch_of(text), None, "{text}");
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

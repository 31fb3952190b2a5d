//! The address of a socket that takes rows.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a reader listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `tcp:PORT` on this host, or `tcp:HOST:PORT`: lines.
    Tcp(String),
    /// `unix:PATH`: lines.
    Unix(PathBuf),
    /// `unixgram:PATH`: one datagram a row, without a newline.
    UnixDatagram(PathBuf),
}

/// What is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no address: write tcp:PORT, tcp:HOST:PORT, unix:PATH or unixgram:PATH")]
pub struct AddressError(String);

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let wrong = || AddressError(text.to_string());
        let (scheme, rest) = text.split_once(':').filter(|(_, rest)| !rest.is_empty()).ok_or_else(wrong)?;
        match scheme {
            "unix" => Ok(Address::Unix(rest.into())),
            "unixgram" => Ok(Address::UnixDatagram(rest.into())),
            "tcp" => {
                let whole = if rest.contains(':') { rest.to_string() } else { format!("127.0.0.1:{rest}") };
                let (host, port) = whole.rsplit_once(':').ok_or_else(wrong)?;
                let sound = !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0);
                if sound { Ok(Address::Tcp(whole)) } else { Err(wrong()) }
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => write!(f, "tcp:{address}"),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::UnixDatagram(path) => write!(f, "unixgram:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_addresses_are_loopback() {
        for (text, shown) in [
            ("tcp:5170", "tcp:127.0.0.1:5170"),
            ("tcp:login1:5170", "tcp:login1:5170"),
            ("tcp:[::1]:5170", "tcp:[::1]:5170"),
            ("unix:/run/rows.sock", "unix:/run/rows.sock"),
            ("unixgram:rows", "unixgram:rows"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), shown);
        }
        for text in ["", "tcp", "tcp:", "tcp:x", "tcp:0", "tcp:70000", "tcp::5", "udp:5", "unix:", "/run/x"] {
            assert!(text.parse::<Address>().is_err(), "{text:?}");
        }
    }
}

//! Files and sockets behind an [`super::Outlet`].

use super::address::Address;
use super::outlet::Target;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Timeout of a connection, and of a write to a reader that has stopped reading.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of `lines` up to the last newline within the first `written`.
fn whole_lines(lines: &[u8], written: usize) -> usize {
    lines[..written].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1)
}

/// Writes until an error; gives how many bytes went out.
fn write_on(out: &mut dyn Write, lines: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < lines.len() {
        match out.write(&lines[written..]) {
            Ok(0) => return (written, Err(ErrorKind::WriteZero.into())),
            Ok(more) => written += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, out.flush())
}

/// A file that rows are appended to.
#[derive(Debug)]
pub struct FileTarget {
    path: PathBuf,
    file: File,
    /// The last line in the file is not whole, as after a full disk.
    torn: bool,
}

impl FileTarget {
    /// Opens or creates `path`.
    ///
    /// # Errors
    /// The system's error.
    pub fn append(path: &Path) -> io::Result<FileTarget> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(FileTarget { path: path.to_path_buf(), file, torn: false })
    }
}

impl Target for FileTarget {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn write(&mut self, lines: &[u8]) -> (usize, io::Result<()>) {
        if self.torn {
            if let Err(error) = self.file.write_all(b"\n") {
                return (0, Err(error));
            }
            self.torn = false;
        }
        let (written, result) = write_on(&mut self.file, lines);
        let whole = whole_lines(lines, written);
        self.torn = whole < written;
        (whole, result)
    }
}

/// Standard output.
#[derive(Debug, Default)]
pub struct StdoutTarget;

impl Target for StdoutTarget {
    fn name(&self) -> String {
        "standard output".to_string()
    }

    fn write(&mut self, lines: &[u8]) -> (usize, io::Result<()>) {
        let (written, result) = write_on(&mut io::stdout().lock(), lines);
        (whole_lines(lines, written), result)
    }

    fn is_final(&self, _: &io::Error) -> bool {
        true
    }
}

/// A socket; connects when there is something to write, and again after a failure. A line that broke off is sent
/// again as a whole over the next connection; lines that the system took and the reader never read are lost.
#[derive(Debug)]
pub struct SocketTarget {
    address: Address,
    connection: Option<Connection>,
}

#[derive(Debug)]
enum Connection {
    Tcp(TcpStream),
    Unix(UnixStream),
    Datagram(UnixDatagram),
}

impl SocketTarget {
    /// Rows for the reader that listens at `address`.
    pub fn new(address: Address) -> SocketTarget {
        SocketTarget { address, connection: None }
    }

    fn connect(&self) -> io::Result<Connection> {
        match &self.address {
            Address::Tcp(address) => tcp(address).map(Connection::Tcp),
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_write_timeout(Some(SOCKET_TIMEOUT))?;
                Ok(Connection::Unix(stream))
            }
            Address::UnixDatagram(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.connect(path)?;
                socket.set_write_timeout(Some(SOCKET_TIMEOUT))?;
                Ok(Connection::Datagram(socket))
            }
        }
    }
}

fn tcp(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, SOCKET_TIMEOUT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(SOCKET_TIMEOUT))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Target for SocketTarget {
    fn name(&self) -> String {
        self.address.to_string()
    }

    fn write(&mut self, lines: &[u8]) -> (usize, io::Result<()>) {
        let mut connection = match self.connection.take().map_or_else(|| self.connect(), Ok) {
            Ok(connection) => connection,
            Err(error) => return (0, Err(error)),
        };
        let (written, result) = match &mut connection {
            Connection::Tcp(stream) => write_on(stream, lines),
            Connection::Unix(stream) => write_on(stream, lines),
            Connection::Datagram(socket) => datagrams(socket, lines),
        };
        if result.is_ok() {
            self.connection = Some(connection);
        }
        (whole_lines(lines, written), result)
    }
}

fn datagrams(socket: &UnixDatagram, lines: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    for line in lines.split_inclusive(|b| *b == b'\n') {
        if let Err(error) = socket.send(line.strip_suffix(b"\n").unwrap_or(line)) {
            return (written, Err(error));
        }
        written += line.len();
    }
    (written, Ok(()))
}

//! Lines of a file from any offset, or JSON objects that stand on several lines.

use memchr::{memchr, memchr2};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Longest line; a longer one is dropped. The widest row known, a whole Aries router, has 46 kB.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// What is read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// What `Lines::next` met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// A line with its newline, or a whole object.
    Whole,
    /// The last line, without newline, or an object without end.
    Unterminated,
    /// A line longer than [`LINE_BYTES_MAX`], of which only the beginning is given.
    TooLong,
    /// The end of the file.
    End,
}

/// Lines of a part of a file. Several may read one file, each at its own offset.
#[derive(Debug)]
pub(crate) struct Lines {
    file: Arc<File>,
    /// Whether objects are wanted instead of lines.
    objects: bool,
    buffer: Vec<u8>,
    /// What is left of the buffer begins here.
    from: usize,
    /// Where in the file the next unread byte stands, and where the part ends.
    offset: u64,
    end: u64,
    /// Number of the line read last, from 1.
    number: u64,
}

impl Lines {
    /// Lines from `offset` to `end`; the first one has the number behind `number`.
    pub(crate) fn new(file: Arc<File>, objects: bool, offset: u64, end: u64, number: u64) -> Lines {
        Lines { file, objects, buffer: Vec::new(), from: 0, offset, end, number }
    }

    /// Where the next line begins.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Number of the line read last, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line into `line`, without its newline.
    pub(crate) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<Line> {
        line.clear();
        if self.objects { self.next_object(line) } else { self.next_line(line) }
    }

    fn next_line(&mut self, line: &mut Vec<u8>) -> io::Result<Line> {
        self.number += 1;
        let mut length = 0;
        loop {
            let chunk = self.fill()?;
            if chunk.is_empty() {
                return Ok(if length == 0 { Line::End } else { of_length(length, Line::Unterminated) });
            }
            let newline = memchr(b'\n', chunk);
            let content = newline.unwrap_or(chunk.len());
            let kept = content.min(LINE_BYTES_MAX - line.len());
            line.extend_from_slice(&chunk[..kept]);
            length += content;
            self.consume(content + usize::from(newline.is_some()));
            if newline.is_some() {
                return Ok(of_length(length, Line::Whole));
            }
        }
    }

    /// The next object, in any depth of lists. Text between objects that is no punctuation is returned as it is, up to the
    /// end of its line.
    fn next_object(&mut self, line: &mut Vec<u8>) -> io::Result<Line> {
        let mut state = Object::default();
        let mut newlines = 0;
        loop {
            let chunk = self.fill()?;
            if chunk.is_empty() {
                let ended = if state.length == 0 { Line::End } else { Line::Unterminated };
                self.number += newlines;
                return Ok(of_length(state.length, ended));
            }
            let (used, done, passed) = state.take(chunk, line);
            self.consume(used);
            if state.length == 0 {
                self.number += passed;
            } else {
                newlines += passed;
            }
            if done {
                // The number is that of the line on which the object begins.
                let number = self.number.max(1);
                self.number = number + newlines;
                return Ok(of_length(state.length, Line::Whole));
            }
        }
    }

    fn fill(&mut self) -> io::Result<&[u8]> {
        if self.from == self.buffer.len() {
            let wanted = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
            self.buffer.resize(wanted.min(BUFFER_BYTES), 0);
            self.from = 0;
            let read = loop {
                match self.file.read_at(&mut self.buffer, self.offset) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => break read?,
                }
            };
            self.buffer.truncate(read);
        }
        Ok(&self.buffer[self.from..])
    }

    fn consume(&mut self, bytes: usize) {
        self.from += bytes;
        self.offset += bytes as u64;
    }
}

/// An object that is being read.
#[derive(Default)]
struct Object {
    depth: usize,
    in_text: bool,
    escaped: bool,
    stray: bool,
    length: usize,
}

impl Object {
    /// Takes bytes of `chunk` into `line`: how many, whether the object is complete, and newlines among them.
    fn take(&mut self, chunk: &[u8], line: &mut Vec<u8>) -> (usize, bool, u64) {
        let mut newlines = 0;
        let mut at = 0;
        while at < chunk.len() {
            let byte = chunk[at];
            newlines += u64::from(byte == b'\n');
            if self.in_text && !self.escaped && !matches!(byte, b'"' | b'\\') {
                let end = memchr2(b'"', b'\\', &chunk[at..]).map_or(chunk.len(), |end| at + end);
                newlines += chunk[at + 1..end].iter().filter(|b| **b == b'\n').count() as u64;
                self.keep(&chunk[at..end], line);
                at = end;
                continue;
            }
            at += 1;
            if self.depth == 0 && !self.stray {
                match byte {
                    b'{' => {}
                    b'[' | b']' | b',' => continue,
                    blank if blank.is_ascii_whitespace() => continue,
                    _ => self.stray = true,
                }
            }
            if self.stray {
                if byte == b'\n' {
                    return (at, true, newlines);
                }
                self.keep(&[byte], line);
                continue;
            }
            self.keep(&[if byte == b'\n' { b' ' } else { byte }], line);
            if self.in_text {
                self.in_text = self.escaped || byte != b'"';
                self.escaped = !self.escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => self.in_text = true,
                b'{' => self.depth += 1,
                b'}' => self.depth -= 1,
                _ => {}
            }
            if self.depth == 0 {
                return (at, true, newlines);
            }
        }
        (at, false, newlines)
    }

    fn keep(&mut self, bytes: &[u8], line: &mut Vec<u8>) {
        self.length += bytes.len();
        line.extend_from_slice(&bytes[..bytes.len().min(LINE_BYTES_MAX - line.len())]);
    }
}

fn of_length(length: usize, line: Line) -> Line {
    if length > LINE_BYTES_MAX { Line::TooLong } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn objects(text: &str) -> Vec<(u64, String, Line)> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let mut lines = Lines::new(Arc::new(file), true, 0, text.len() as u64, 0);
        let (mut found, mut line) = (Vec::new(), Vec::new());
        loop {
            match lines.next(&mut line).unwrap() {
                Line::End => return found,
                met => found.push((lines.number(), String::from_utf8(line.clone()).unwrap(), met)),
            }
        }
    }

    #[test]
    fn objects_are_found_in_lists_and_over_lines() {
        let text = "[\n{\"a\":\"}{\\\"\"},{\n\"b\": {\"c\": [1]}\n}]\n{\"d\":1} x]y\n{\"e\":";
        let found: Vec<_> = objects(text).into_iter().map(|(_, text, met)| (text, met)).collect();
        assert_eq!(
            found,
            [
                ("{\"a\":\"}{\\\"\"}".to_string(), Line::Whole),
                ("{ \"b\": {\"c\": [1]} }".to_string(), Line::Whole),
                ("{\"d\":1}".to_string(), Line::Whole),
                ("x]y".to_string(), Line::Whole),
                ("{\"e\":".to_string(), Line::Unterminated),
            ]
        );
    }

    #[test]
    fn an_object_longer_than_any_row_is_cut() {
        let text = format!("[{{\"a\":\"{}\"}},{{\"b\":1}}]", "x".repeat(2 * LINE_BYTES_MAX));
        let found = objects(&text);
        assert_eq!((found[0].1.len(), found[0].2), (LINE_BYTES_MAX, Line::TooLong));
        assert_eq!((found[1].1.as_str(), found[1].2), ("{\"b\":1}", Line::Whole));
    }
}

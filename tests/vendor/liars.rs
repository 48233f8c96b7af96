//! What a server that lies sends, as data.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::servers::{Request, respond};

/// One answer.
pub(super) enum Reply {
    /// 200, with this body.
    Body(Vec<u8>),
    /// This status, these headers and this body; in the headers, `@OWN@` is the server itself.
    Full(&'static str, String, Vec<u8>),
    /// So many bytes, as fast as they are taken.
    Long(usize),
    /// The beginning of an answer, and then nothing until the client gives up.
    Silence,
    /// A header without an end, as slowly as the client puts up with.
    Drip,
}

impl Reply {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Body(text.into().into_bytes())
    }

    pub(super) fn redirect(target: &str) -> Self {
        Self::Full("302 Found", format!("Location: {target}\r\n"), Vec::new())
    }

    pub(super) fn not_found() -> Self {
        Self::Full("404 Not Found", String::new(), Vec::new())
    }

    pub(super) fn send(&self, request: &Request, stream: &mut TcpStream) {
        match self {
            Self::Body(body) => respond(stream, "200 OK", "", body),
            Self::Full(status, headers, body) => {
                let own = format!("http://{}", request.header("host").unwrap_or_default());
                respond(stream, status, &headers.replace("@OWN@", &own), body);
            }
            Self::Long(bytes) => {
                let block = vec![b'#'; 1 << 20];
                let mut alive = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").is_ok();
                for _ in 0..bytes >> 20 {
                    alive = alive && stream.write_all(&block).is_ok();
                }
            }
            Self::Silence => {
                drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx"));
                drop(stream.read(&mut [0]));
            }
            Self::Drip => {
                drop(stream.set_read_timeout(Some(Duration::from_millis(100))));
                let mut alive = stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ").is_ok();
                while alive {
                    let ended = matches!(stream.read(&mut [0]), Ok(0));
                    alive = !ended && stream.write_all(b"x").is_ok();
                }
            }
        }
    }
}

/// Much of nothing, packed.
pub(super) fn bomb() -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&vec![0; 60 << 20]).expect("memory");
    gzip.finish().expect("memory")
}

/// A chart with a link that leads out.
pub(super) fn linked() -> Vec<u8> {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut tar = tar::Builder::new(gzip);
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    tar.append_link(&mut header, "web/evil", "/etc/passwd").expect("memory");
    tar.into_inner().and_then(|gzip| gzip.finish()).expect("memory")
}

//! Which addresses may be asked.
//!
//! A name is looked up once, every address that it has is judged, and the connection goes to one of these: what the name means
//! a moment later counts for nothing.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The hosts that an admin or user named, each with how it may be asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowed(Vec<(String, Way)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Tls,
    Plain,
    Ssh,
}

impl Allowed {
    /// Reads `HOST`, `HOST:PORT` and the same behind `http://` or `ssh://`.
    pub(crate) fn new(list: &[String]) -> Self {
        Self(list.iter().filter_map(|text| allowed(text)).collect())
    }

    /// Whether a host may have a private address.
    pub(crate) fn private(&self, host: &str, port: u16) -> bool {
        self.0.iter().any(|(entry, way)| *way != Way::Ssh && matches(entry, host, port))
    }

    /// Whether it may be asked without TLS.
    pub(crate) fn plain(&self, host: &str, port: u16) -> bool {
        self.0.iter().any(|(entry, way)| *way == Way::Plain && matches(entry, host, port))
    }

    /// Whether it may be asked over ssh, by the name that the configuration of ssh has for it.
    pub(crate) fn ssh(&self, host: &str) -> bool {
        let name = host.split_once(':').map_or(host, |(name, _)| name);
        self.0.iter().any(|(entry, way)| *way == Way::Ssh && (entry == host || entry == name))
    }
}

/// The host that an entry names, and the way that its scheme allows; `None` where that is another scheme.
fn allowed(text: &str) -> Option<(String, Way)> {
    let text = text.trim_end_matches('/').to_ascii_lowercase();
    let (scheme, host) = text.split_once("://").unwrap_or(("https", &text));
    let way = match scheme {
        "https" => Way::Tls,
        "http" => Way::Plain,
        "ssh" => Way::Ssh,
        _ => return None,
    };
    Some((host.to_owned(), way))
}

fn matches(entry: &str, host: &str, port: u16) -> bool {
    entry == host || entry == format!("{host}:{port}")
}

/// Why this is not a public address; `None` when it may be one.
///
/// Reference: the registries of special-purpose addresses, RFC 6890.
pub(crate) fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (127, ..) => Some("loopback"),
        (10, ..) | (192, 168, _) => Some("private"),
        (172, 16..=31, _) => Some("private"),
        (169, 254, _) => Some("link-local"),
        (100, 64..=127, _) => Some("shared"),
        (0, ..) => Some("unspecified"),
        (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) | (198, 18 | 19, _) | (192, 88, 99) => Some("reserved"),
        (224..=239, ..) => Some("multicast"),
        (240.., ..) => Some("reserved"),
        _ => None,
    }
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = address.to_ipv4_mapped() {
        return special_v4(inner);
    }
    let [a, b, ..] = address.segments();
    let [.., y, z] = address.segments();
    let inner = Ipv4Addr::from((u32::from(y) << 16) | u32::from(z));
    match (a, b) {
        _ if address.is_loopback() => Some("loopback"),
        _ if address.is_unspecified() => Some("unspecified"),
        // Addresses of IPv4 in other forms: compatible, NAT64, 6to4, Teredo.
        (0, 0) | (0x64, 0xff9b) => special_v4(inner).or(Some("translated")),
        (0x2002, _) | (0x2001, 0) => Some("translated"),
        (0x2001, 0xdb8) | (0x100, 0) => Some("reserved"),
        (0xfc00..=0xfdff, _) => Some("private"),
        (0xfe80..=0xfebf, _) => Some("link-local"),
        (0xfec0..=0xfeff, _) => Some("private"),
        (0xff00.., _) => Some("multicast"),
        _ => None,
    }
}

/// Why an address of a host is refused.
pub(crate) fn refusal(allowed: &Allowed, host: &str, address: SocketAddr) -> Option<String> {
    let why = special(address.ip())?;
    (!allowed.private(host, address.port())).then(|| {
        format!(
            "{host} has the {why} address {}: refused (to allow it: git hydrate vendor --allow {host})",
            address.ip()
        )
    })
}

/// Looks names up and judges what comes of it.
#[derive(Debug)]
pub(crate) struct Guarded<R = DefaultResolver> {
    pub inner: R,
    pub allowed: Allowed,
}

impl<R: Resolver> Resolver for Guarded<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> std::result::Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
        match found.iter().find_map(|address| refusal(&self.allowed, &host, *address)) {
            Some(reason) => Err(ureq::Error::Io(io::Error::new(io::ErrorKind::PermissionDenied, reason))),
            None => Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_nobody_on_the_internet_has() {
        let rows = [
            ("127.0.0.1", Some("loopback")),
            ("127.1.2.3", Some("loopback")),
            ("10.1.2.3", Some("private")),
            ("172.31.0.1", Some("private")),
            ("172.32.0.1", None),
            ("192.168.1.1", Some("private")),
            ("169.254.169.254", Some("link-local")),
            ("100.64.0.1", Some("shared")),
            ("100.128.0.1", None),
            ("0.0.0.0", Some("unspecified")),
            ("224.0.0.1", Some("multicast")),
            ("255.255.255.255", Some("reserved")),
            ("198.18.0.1", Some("reserved")),
            ("93.184.216.34", None),
            ("::1", Some("loopback")),
            ("::", Some("unspecified")),
            ("::ffff:10.0.0.1", Some("private")),
            ("::ffff:93.184.216.34", None),
            ("::127.0.0.1", Some("loopback")),
            ("64:ff9b::a9fe:a9fe", Some("link-local")),
            ("2002:7f00:1::", Some("translated")),
            ("fe80::1", Some("link-local")),
            ("fd00::1", Some("private")),
            ("ff02::1", Some("multicast")),
            ("2606:2800:220:1::1", None),
        ];
        for (text, expected) in rows {
            assert_eq!(special(text.parse().expect("an address")), expected, "{text}");
        }
    }

    #[test]
    fn hosts_are_allowed_by_their_names() {
        let allowed = Allowed::new(&["charts.internal".to_owned(), "http://127.0.0.1:8080".to_owned()]);
        assert!(allowed.private("charts.internal", 443) && !allowed.plain("charts.internal", 443));
        assert!(allowed.private("127.0.0.1", 8080) && allowed.plain("127.0.0.1", 8080));
        assert!(!allowed.private("127.0.0.1", 8081) && !allowed.private("other.internal", 443));
        let allowed = Allowed::new(&["ssh://Git.example.com".to_owned(), "ssh://other:2222".to_owned()]);
        assert!(allowed.ssh("git.example.com") && allowed.ssh("git.example.com:2222") && allowed.ssh("other:2222"));
        assert!(!allowed.ssh("other") && !allowed.private("git.example.com", 443));
    }

    /// Gives these answers, one to each question.
    #[derive(Debug)]
    struct Moving(std::sync::Mutex<Vec<Vec<SocketAddr>>>);

    impl Resolver for Moving {
        fn resolve(
            &self,
            _: &Uri,
            _: &Config,
            _: NextTimeout,
        ) -> std::result::Result<ResolvedSocketAddrs, ureq::Error> {
            let mut found = self.empty();
            let mut answers = self.0.lock().expect("one thread");
            let answer = if answers.is_empty() { Vec::new() } else { answers.remove(0) };
            answer.into_iter().for_each(|address| found.push(address));
            Ok(found)
        }
    }

    /// A name that means one address when it is judged and another one when it is asked: it is asked where it was judged.
    #[test]
    fn a_name_that_moves_is_asked_where_it_was_judged() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let here = listener.local_addr().expect("a port");
        let metadata: SocketAddr = "169.254.169.254:80".parse().expect("an address");
        let public: SocketAddr = "93.184.216.34:80".parse().expect("an address");
        std::thread::spawn(move || {
            use std::io::Write as _;
            let mut stream = listener.accept().expect("a connection").0;
            drop(std::io::Read::read(&mut stream, &mut [0; 1000]));
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngood"));
        });
        let ask = |answers: Vec<Vec<SocketAddr>>, allowed: &[String]| {
            let inner = Moving(std::sync::Mutex::new(answers));
            let resolver = Guarded { inner, allowed: Allowed::new(allowed) };
            let connector = ureq::unversioned::transport::DefaultConnector::default();
            let agent = ureq::Agent::with_parts(Config::builder().proxy(None).build(), connector, resolver);
            agent.get("http://moving.example.com").call().map_err(|error| error.to_string())
        };
        // The second answer would be refused, so it is not asked for.
        let allowed = ["http://moving.example.com".to_owned()];
        let mut answer = ask(vec![vec![here], vec![metadata]], &allowed).expect("the first address");
        assert_eq!(answer.body_mut().read_to_string().expect("a body"), "good");
        for addresses in [vec![metadata], vec![public, metadata]] {
            let refused = ask(vec![addresses], &[]).expect_err("a link-local address");
            assert!(refused.contains("has the link-local address 169.254.169.254: refused"), "{refused}");
        }
    }
}

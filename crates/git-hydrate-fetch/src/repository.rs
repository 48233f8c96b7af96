//! Directories of git repositories, by the git of this machine.
//!
//! git gets a scratch repository, no configuration of the user or the machine, and no way to another host: the address of the one that is
//! named is looked up and judged here, redirects are refused. Over ssh it is the user's own `ssh` that finds the host, with
//! the user's own configuration, keys and known hosts; so only hosts are asked that the user allows by name.

use std::fs;
use std::io::{Read, Write as _};
use std::net::ToSocketAddrs as _;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use confine::FETCHED_FILE_BYTES_MAX;
use dry_files::path::RepoPath;
use inputs::{InputFile, Key, archive};

use super::address::refusal;
use super::talk::Credential;
use super::web::Site;
use super::{Failure, Fetched, Fetcher, Result};

const FILES_MAX: usize = 20_000;
const FILE_BYTES_MAX: u64 = 10 << 20;
const BYTES_MAX: u64 = 100 << 20;

/// How long the listing of a directory may be.
const LISTING_BYTES_MAX: u64 = 64 << 20;

/// How much memory git may take at once for one thing, such as an object or the list of refs that a server sends.
const ALLOCATION_MAX: &str = "256m";

/// One use of git.
struct Git<'f> {
    fetcher: &'f Fetcher,
    dir: std::path::PathBuf,
    way: Way,
}

/// How a repository is asked.
enum Way {
    /// A site, and where it is, as `HOST:PORT:ADDRESS`.
    Web(Site, String),
    Ssh,
}

/// The options of an ssh that is not configured: it asks nothing, and shares, forwards and starts nothing.
const SSH: &str = "ssh -o BatchMode=yes -o ClearAllForwardings=yes -o ForwardAgent=no -o ForwardX11=no -o ControlMaster=no \
                   -o ControlPath=none -o PermitLocalCommand=no";

impl Fetcher {
    /// Directories of a repository as they are at a ref.
    pub(crate) fn repository(&self, url: &str, want: &str, directories: &[String]) -> Result<Fetched> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let key = Key::repository(url, want)?;
        let way = self.way(&key)?;
        let dir = self.scratch.join(format!("git-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir(&dir)?;
        let git = Git { fetcher: self, dir, way };
        let fetched = git.fetch(&key.url, want, directories);
        // What is left goes with the scratch directory.
        drop(fs::remove_dir_all(&git.dir));
        fetched
    }

    fn way(&self, key: &Key) -> Result<Way> {
        let url = &key.url;
        if let (host, true) = key.host() {
            return match self.web.allowed.ssh(host) {
                true => Ok(Way::Ssh),
                false => {
                    Err(format!("{url} is not asked over ssh (to allow it: git hydrate vendor --allow ssh://{host})")
                        .into())
                }
            };
        }
        let site = Site::of(url)?;
        self.web.permit(url)?;
        if !site.is_tls && !self.web.allowed.plain(&site.host, site.port) {
            let allow = format!("http://{}:{}", site.host, site.port);
            return Err(
                format!("{url} is not fetched without TLS (to allow it: git hydrate vendor --allow {allow})").into()
            );
        }
        let resolved = self.resolved(&site)?;
        Ok(Way::Web(site, resolved))
    }

    /// `HOST:PORT:ADDRESS`, for curl.
    fn resolved(&self, site: &Site) -> Result<String> {
        let found = (site.host.trim_matches(['[', ']']), site.port).to_socket_addrs();
        let found: Vec<_> = found.map_err(|error| format!("{}: {error}", site.host))?.collect();
        if let Some(reason) = found.iter().find_map(|address| refusal(&self.web.allowed, &site.host, *address)) {
            return Err(reason.into());
        }
        let addresses: Vec<String> = found.iter().map(|address| address.ip().to_string()).collect();
        Ok(format!("{}:{}:{}", site.host, site.port, addresses.join(",")))
    }
}

impl Git<'_> {
    fn fetch(&self, url: &str, want: &str, directories: &[String]) -> Result<Fetched> {
        self.run(&["init", "-q", "--bare", "."], None)?;
        let reference = if want.is_empty() { "HEAD" } else { want };
        let arguments = [
            "fetch",
            "-q",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-commit-graph",
            "--end-of-options",
            url,
            reference,
        ];
        let first = self.output(&arguments, None)?;
        if !first.status.success() {
            let complaint = String::from_utf8_lossy(&first.stderr).into_owned();
            let wants_user =
                ["could not read Username", "Authentication failed"].iter().any(|text| complaint.contains(text));
            let Way::Web(site, _) = &self.way else { return Err(self.failure(url, &complaint)) };
            let credential = if wants_user { self.fetcher.web.credential(site)? } else { None };
            let Some(credential) = credential else { return Err(self.failure(url, &complaint)) };
            let again = self.output(&arguments, Some(&credential))?;
            self.fetcher.web.judge(site, credential, again.status.success())?;
            if !again.status.success() {
                return Err(self.failure(url, &String::from_utf8_lossy(&again.stderr)));
            }
        }
        let head = fs::read_to_string(self.dir.join("FETCH_HEAD")).unwrap_or_default();
        let commit = self.text(&["rev-parse", "--verify", "-q", "FETCH_HEAD^{commit}"])?;
        let mut warnings = Vec::new();
        if head.contains("\tbranch '") && !want.is_empty() {
            warnings.push(format!(
                "`{want}` is a branch of {url}, which moves: the lock file pins {commit}; write that, or a tag"
            ));
        }
        let mut files = Vec::new();
        let mut bytes = 0;
        for directory in directories {
            self.list(&commit, directory, want, &mut files, &mut bytes)?;
        }
        let files = self.read(files)?;
        Ok(Fetched { version: commit, origin: String::new(), warnings, files })
    }

    /// Why a fetch failed: what git says of it, or the limit that it met.
    fn failure(&self, url: &str, complaint: &str) -> Failure {
        if self.largest_pack() >= FETCHED_FILE_BYTES_MAX {
            return format!("{url}: the server sent more than {FETCHED_FILE_BYTES_MAX} bytes").into();
        }
        let lines: Vec<&str> = complaint.lines().filter(|line| !line.trim().is_empty()).take(3).collect();
        let refused =
            ["couldn't find remote ref", "not found", "does not exist"].iter().any(|text| complaint.contains(text));
        Failure { reason: format!("{url}: {}", lines.join("; ")), refused }
    }

    /// How many bytes the largest file has that git keeps of what a server sends.
    fn largest_pack(&self) -> u64 {
        let files = fs::read_dir(self.dir.join("objects/pack")).into_iter().flatten().flatten();
        files.filter_map(|file| Some(file.metadata().ok()?.len())).max().unwrap_or_default()
    }

    /// The files below a directory, each with its blob.
    fn list(
        &self,
        commit: &str,
        directory: &str,
        want: &str,
        files: &mut Vec<(RepoPath, String)>,
        bytes: &mut u64,
    ) -> Result<()> {
        let dir = RepoPath::clean(directory)?;
        let tree = format!("{commit}:{}", dir.as_str());
        let kind = self.output(&["cat-file", "-t", &tree], None)?;
        if !kind.status.success() || kind.stdout.trim_ascii() != b"tree" {
            return Err(
                format!("there is no directory `{dir}` at {}", if want.is_empty() { "HEAD" } else { want }).into()
            );
        }
        let listing = self.output(&["ls-tree", "-r", "-z", "-l", &tree], None)?;
        if listing.stdout.len() as u64 >= LISTING_BYTES_MAX {
            return Err(too_much(&dir, &dir).into());
        }
        let listing = Self::successful("ls-tree", listing)?;
        for entry in listing.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let entry =
                std::str::from_utf8(entry).map_err(|_| format!("`{dir}` has a name that is not valid UTF-8"))?;
            let (fields, name) = entry.split_once('\t').ok_or("git ls-tree: no name")?;
            let path = dir.join(&RepoPath::new(name)?);
            let mut fields = fields.split_ascii_whitespace();
            let (mode, _, blob, size) = (fields.next(), fields.next(), fields.next(), fields.next());
            match mode {
                Some("100644" | "100755") => {}
                Some("120000") => {
                    return Err(format!("symbolic link `{path}` is not allowed: name a directory without links").into());
                }
                Some("160000") => {
                    return Err(
                        format!("submodule `{path}` is not allowed: name a directory without submodules").into()
                    );
                }
                _ => return Err(format!("`{path}` is no file").into()),
            }
            if archive::is_deep(&path) || !path.components().all(archive::is_name) {
                return Err(format!("the name `{path}` is refused").into());
            }
            let size: u64 = size.and_then(|size| size.parse().ok()).ok_or("git ls-tree: no size")?;
            *bytes += size;
            if size > FILE_BYTES_MAX || *bytes > BYTES_MAX || files.len() >= FILES_MAX {
                return Err(too_much(&dir, &path).into());
            }
            files.push((path, blob.unwrap_or_default().to_owned()));
        }
        files.sort();
        files.dedup();
        Ok(())
    }

    /// The content of blobs, as they are stored.
    fn read(&self, files: Vec<(RepoPath, String)>) -> Result<Vec<InputFile>> {
        let ids: String = files.iter().map(|(_, blob)| format!("{blob}\n")).collect();
        let mut command = self.command(None);
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut stdin = child.stdin.take().ok_or("no standard input")?;
        let output = std::thread::scope(|scope| {
            scope.spawn(move || drop(stdin.write_all(ids.as_bytes())));
            child.wait_with_output()
        })?;
        let mut rest = &output.stdout[..];
        let mut read = Vec::new();
        for (path, _) in files {
            let end = rest.iter().position(|byte| *byte == b'\n').ok_or("git cat-file: cut off")?;
            let head = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned();
            let size =
                head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok()).ok_or("git cat-file: no size")?;
            let data = rest.get(end + 1..end + 1 + size).ok_or("git cat-file: cut off")?;
            read.push(InputFile { path, data: data.into() });
            rest = rest.get(end + 2 + size..).unwrap_or_default();
        }
        Ok(read)
    }

    fn text(&self, arguments: &[&str]) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.run(arguments, None)?).trim().to_owned())
    }

    fn run(&self, arguments: &[&str], credential: Option<&Credential>) -> Result<Vec<u8>> {
        Self::successful(arguments.first().unwrap_or(&""), self.output(arguments, credential)?)
    }

    fn successful(command: &str, output: Output) -> Result<Vec<u8>> {
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(format!("git {command}: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
    }

    fn output(&self, arguments: &[&str], credential: Option<&Credential>) -> Result<Output> {
        let mut command = self.command(credential);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("starting git: {error}"))?;
        let (Some(mut stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err("no pipe to git".into());
        };
        let stdout = read_all(move || up_to(&mut stdout, LISTING_BYTES_MAX));
        let stderr = read_all(move || read_complaint(stderr));
        let too_long = || format!("git {}: timed out", arguments.first().unwrap_or(&""));
        let started = Instant::now();
        let status = loop {
            match child.try_wait()? {
                Some(status) => break status,
                None if started.elapsed() > self.fetcher.timeout => {
                    // What it started is ended with this program.
                    drop(child.kill());
                    drop(child.wait());
                    return Err(too_long().into());
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let end = |read: Receiver<Vec<u8>>| {
            read.recv_timeout(self.fetcher.timeout.saturating_sub(started.elapsed())).map_err(|_| too_long())
        };
        Ok(Output { status, stdout: end(stdout)?, stderr: end(stderr)? })
    }

    /// A git that knows nothing but what is set here. A credential travels in its environment, which no one else reads.
    fn command(&self, credential: Option<&Credential>) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.dir).env_clear();
        for name in ["PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "LD_LIBRARY_PATH"] {
            pass(&mut command, name);
        }
        command
            .env("HOME", &self.dir)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_PROTOCOL_FROM_USER", "0").env("GIT_ATTR_NOSYSTEM", "1");
        command.env("GIT_ALLOC_LIMIT", ALLOCATION_MAX);
        let mut settings: Vec<(String, String)> = [
            ("credential.helper", ""),
            ("core.askPass", ""),
            ("http.followRedirects", "false"),
            ("http.proxy", ""),
            ("transfer.fsckObjects", "true"),
            ("transfer.bundleURI", "false"),
            // One file for all of it, whose size is limited.
            ("transfer.unpackLimit", "1"),
            ("core.bigFileThreshold", "16m"),
            ("fetch.uriProtocols", ""),
            ("core.hooksPath", "/dev/null"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("http.lowSpeedLimit", "1000"),
            ("http.lowSpeedTime", "60"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        match &self.way {
            Way::Ssh => {
                command.env("GIT_ALLOW_PROTOCOL", "ssh");
                for name in
                    ["HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"]
                {
                    pass(&mut command, name);
                }
                if ["GIT_SSH", "GIT_SSH_COMMAND"].iter().all(|name| std::env::var_os(name).is_none()) {
                    command.env("GIT_SSH_COMMAND", SSH);
                }
            }
            Way::Web(site, resolved) => {
                command.env("GIT_ALLOW_PROTOCOL", if site.is_tls { "https" } else { "http" });
                settings.push(("http.curloptResolve".to_owned(), resolved.clone()));
                if let Some(file) = &self.fetcher.certificates {
                    settings.push(("http.sslCAInfo".to_owned(), file.display().to_string()));
                }
                if let Some((name, password)) = credential {
                    let helper =
                        "!f() { printf 'username=%s\\npassword=%s\\n' \"$FETCH_NAME\" \"$FETCH_PASSWORD\"; }; f";
                    settings.push((format!("credential.https://{}.helper", site.name()), helper.to_owned()));
                    command.env("FETCH_NAME", name).env("FETCH_PASSWORD", password);
                }
            }
        }
        command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (index, (name, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{index}"), name).env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        command
    }
}

fn too_much(dir: &RepoPath, path: &RepoPath) -> String {
    format!(
        "`{dir}` has more than {FILES_MAX} files, or they take more than {BYTES_MAX} bytes, or `{path}` more than \
         {FILE_BYTES_MAX}"
    )
}

fn pass(command: &mut Command, name: &str) {
    if let Some(value) = std::env::var_os(name) {
        command.env(name, value);
    }
}

/// Does it beside, so that a pipe that is never closed is not waited for.
fn read_all(read: impl FnOnce() -> Vec<u8> + Send + 'static) -> Receiver<Vec<u8>> {
    let (give, take) = mpsc::channel();
    std::thread::spawn(move || drop(give.send(read())));
    take
}

/// What a pipe gives, up to a limit.
fn read_complaint(mut stderr: impl Read) -> Vec<u8> {
    let complaint = up_to(&mut stderr, 64 << 10);
    // What is behind it is read and dropped, so that its writer does not wait.
    drop(std::io::copy(&mut stderr, &mut std::io::sink()));
    complaint
}

fn up_to(from: &mut dyn Read, bytes_max: u64) -> Vec<u8> {
    let mut data = Vec::new();
    // Cut off is cut off: who reads it finds that out.
    drop(from.take(bytes_max).read_to_end(&mut data));
    data
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::Arc;

    use inputs::wire::Rules;

    use super::super::{chart, talk::Talk, web::Web};
    use super::*;

    /// A name is looked up once: git asks the address that was judged, whatever the name means by then.
    #[test]
    fn git_asks_the_address_that_was_judged() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        std::thread::spawn(move || {
            let mut stream = listener.accept().expect("a connection").0;
            drop(stream.read(&mut [0; 1000]));
            drop(stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        });
        let scratch = tempfile::tempdir().expect("a directory");
        let fetcher = Fetcher {
            web: Web::new(&Rules::default(), Arc::new(Talk::default())),
            indexes: chart::Indexes::default(),
            accept: Vec::new(),
            scratch: scratch.path().to_owned(),
            timeout: Duration::from_secs(60),
            certificates: None,
        };
        let site = Site { is_tls: false, host: "moving.invalid".to_owned(), port };
        let way = Way::Web(site, format!("moving.invalid:{port}:127.0.0.1"));
        let git = Git { fetcher: &fetcher, dir: scratch.path().to_owned(), way };
        git.run(&["init", "-q", "--bare", "."], None).expect("git");
        // No other entry has an address for this name.
        let url = format!("http://moving.invalid:{port}/a.git");
        let complaint = git.run(&["ls-remote", &url], None).expect_err("not found").reason;
        assert!(complaint.contains("not found"), "{complaint}");
    }
}

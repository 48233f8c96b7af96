//! Servers of charts, registries and repositories, on loopback: real ones, and one that lies as a test wants.
//!
//! Each is stopped when it is dropped. What a server needs may not be installed: then [`missing`] says so, and the test
//! says that it was ignored.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A port that nobody listens at.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}

/// A process that ends with the test.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Running {
    /// Starts a server and waits until it listens.
    pub(crate) fn start(command: &mut Command, port: u16) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut running = Self(child.unwrap_or_else(|error| panic!("{command:?}: {error}")));
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = running.0.try_wait().expect("a child");
            assert!(ended.is_none() && started.elapsed() < Duration::from_secs(20), "{command:?} does not listen");
            std::thread::yield_now();
        }
        running
    }
}

/// A certificate for loopback and the authority that signed it.
pub(crate) struct Certificates {
    pub authority: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Certificates {
    /// Makes both in a directory.
    pub(crate) fn new(dir: &Path) -> Self {
        let names = ["ca.crt", "server.crt", "server.key"].map(|name| dir.join(name));
        fs::write(dir.join("san"), "subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\n")
            .expect("written");
        let openssl = |args: &str| {
            let output = Command::new("openssl").current_dir(dir).args(args.split(' ')).output().expect("openssl");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        openssl(&format!("req -x509 {key} -days 2 -subj /CN=authority -keyout ca.key -out ca.crt"));
        openssl(&format!("req {key} -subj /CN=server -keyout server.key -out server.csr"));
        openssl(
            "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile san -out server.crt",
        );
        let [authority, certificate, key] = names;
        Self { authority, certificate, key }
    }
}

/// nginx behind TLS: `/` is a directory, `/secret/` the same for `user:word` only, `/git/`, `/v2/` and `/token` what another
/// port serves.
pub(crate) struct Nginx {
    pub url: String,
    _running: Running,
}

impl Nginx {
    pub(crate) fn start(dir: &Path, root: &Path, certificates: &Certificates, git_port: u16) -> Self {
        let port = free_port();
        let (dir_text, root) = (dir.display(), root.display());
        let Certificates { certificate, key, .. } = certificates;
        fs::write(dir.join("passwords"), "user:{PLAIN}word\n").expect("written");
        let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
        let config = format!(
            "daemon off; master_process off; {user} pid {dir_text}/nginx.pid; error_log {dir_text}/error.log;
             events {{}}
             http {{
               access_log {dir_text}/access.log; client_body_temp_path {dir_text}/body; proxy_temp_path {dir_text}/proxy;
               fastcgi_temp_path {dir_text}/fastcgi; uwsgi_temp_path {dir_text}/uwsgi; scgi_temp_path {dir_text}/scgi;
               server {{
                 listen 127.0.0.1:{port} ssl; ssl_certificate {}; ssl_certificate_key {}; root {root};
                 location /secret/ {{ alias {root}/; auth_basic secret; auth_basic_user_file {dir_text}/passwords; }}
                 location /v2/ {{ proxy_pass http://127.0.0.1:{git_port}/v2/; }}
                 location /token {{ proxy_pass http://127.0.0.1:{git_port}/token; }}
                 location /git/ {{ proxy_pass http://127.0.0.1:{git_port}/; }}
                 location /private/ {{
                   auth_basic secret; auth_basic_user_file {dir_text}/passwords; proxy_pass http://127.0.0.1:{git_port}/;
                 }}
               }}
             }}",
            certificate.display(),
            key.display()
        );
        fs::write(dir.join("nginx.conf"), config).expect("written");
        let program = if Path::new("/usr/sbin/nginx").exists() { "/usr/sbin/nginx" } else { "nginx" };
        let mut command = Command::new(program);
        command.arg("-c").arg(dir.join("nginx.conf")).arg("-e").arg(dir.join("error.log")).arg("-p").arg(dir);
        Self { url: format!("https://127.0.0.1:{port}"), _running: Running::start(&mut command, port) }
    }
}

/// Debian's `docker-registry` behind TLS, for `user:word` only.
pub(crate) struct Registry {
    pub host: String,
    _running: Running,
}

impl Registry {
    pub(crate) fn start(dir: &Path, certificates: &Certificates) -> Self {
        let port = free_port();
        let hash = bcrypt::hash("word", 4).expect("a hash");
        fs::write(dir.join("htpasswd"), format!("user:{hash}\n")).expect("written");
        let Certificates { certificate, key, .. } = certificates;
        let config = format!(
            "version: 0.1
storage: {{filesystem: {{rootdirectory: {0}/registry}}}}
http:
  addr: 127.0.0.1:{port}
  tls: {{certificate: {1}, key: {2}}}
auth: {{htpasswd: {{realm: registry, path: {0}/htpasswd}}}}
",
            dir.display(),
            certificate.display(),
            key.display()
        );
        fs::write(dir.join("registry.yml"), config).expect("written");
        let mut command = Command::new("docker-registry");
        command.arg("serve").arg(dir.join("registry.yml"));
        Self { host: format!("127.0.0.1:{port}"), _running: Running::start(&mut command, port) }
    }
}

/// A request as a test sees it.
pub(crate) struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// An HTTP server of the test itself: each answer is what the test writes, byte by byte.
pub(crate) struct Liar {
    pub port: u16,
    over: Arc<AtomicBool>,
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Liar {
    /// Answers every request by `answer`, which writes to the connection.
    pub(crate) fn start(answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let (over, answer) = (Arc::new(AtomicBool::new(false)), Arc::new(answer));
        let is_over = over.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(mut stream), answer) = (stream, answer.clone()) else { continue };
                std::thread::spawn(move || {
                    if let Some(request) = read(&stream) {
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        Self { port, over }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((key, value)) = line.trim_end().split_once(':') else { break };
        headers.push((key.to_owned(), value.trim().to_owned()));
    }
    let mut request = Request { method, path, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    if request.header("transfer-encoding").is_some() {
        request.body = chunks(&mut reader)?;
    } else {
        request.body = vec![0; length];
        reader.read_exact(&mut request.body).ok()?;
    }
    Some(request)
}

fn chunks(reader: &mut BufReader<&TcpStream>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let size = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(&chunk[..size]);
    }
}

/// Writes a whole answer.
pub(crate) fn respond(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n", body.len());
    // Whoever asked may have gone.
    drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)));
}

/// `git http-backend` for the repositories of a directory.
pub(crate) fn git_server(root: &Path) -> Liar {
    git_server_with(root, &[])
}

/// `git http-backend` for the repositories of a directory, with settings of git that count on the server.
pub(crate) fn git_server_with(root: &Path, settings: &[(&str, &str)]) -> Liar {
    let root = root.to_owned();
    let output = Command::new("git").arg("--exec-path").output().expect("git");
    let program = PathBuf::from(String::from_utf8(output.stdout).expect("UTF-8").trim()).join("git-http-backend");
    let mut config = vec![("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string())];
    for (index, (key, value)) in settings.iter().enumerate() {
        config.push((format!("GIT_CONFIG_KEY_{index}"), (*key).to_owned()));
        config.push((format!("GIT_CONFIG_VALUE_{index}"), (*value).to_owned()));
    }
    Liar::start(move |request, stream| {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let mut command = Command::new(&program);
        command.env("GIT_PROJECT_ROOT", &root).env("GIT_HTTP_EXPORT_ALL", "1").envs(config.iter().cloned());
        command.env("PATH_INFO", path).env("QUERY_STRING", query).env("REQUEST_METHOD", &request.method);
        let length = request.body.len().to_string();
        for (name, value) in [
            ("CONTENT_TYPE", request.header("content-type")),
            ("CONTENT_LENGTH", Some(length.as_str())),
            ("HTTP_CONTENT_ENCODING", request.header("content-encoding")),
            ("GIT_PROTOCOL", request.header("git-protocol")),
        ] {
            command.env(name, value.unwrap_or_default());
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("http-backend");
        drop(child.stdin.take().expect("piped").write_all(&request.body));
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let (mut status, mut kept) = ("200 OK".to_owned(), String::new());
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|bytes| bytes > 2) {
            match line.strip_prefix("Status: ") {
                Some(text) => status = text.trim_end().to_owned(),
                None => kept += &line,
            }
            line.clear();
        }
        // The client may have gone, and then the program has nobody to write to.
        let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{kept}\r\n");
        drop(stream.write_all(head.as_bytes()).and_then(|()| std::io::copy(&mut output, stream)));
        drop(output);
        drop(child.wait());
    })
}

/// What git on another machine is over ssh: a connection for each command, whose first line is the words that ssh got.
pub(crate) struct Shell {
    pub port: u16,
    said: Arc<Mutex<Vec<String>>>,
}

impl Shell {
    /// Answers `git-upload-pack 'PATH'` for the repositories below a directory.
    pub(crate) fn start(root: &Path) -> Self {
        let root = root.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let notes = said.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (mut line, mut byte) = (Vec::new(), [0]);
                while stream.read_exact(&mut byte).is_ok() && byte != *b"\n" {
                    line.push(byte[0]);
                }
                let line = String::from_utf8_lossy(&line).into_owned();
                let path = line.split('\'').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
                notes.lock().expect("one at a time").push(line);
                let Ok(input) = stream.try_clone() else { continue };
                let mut command = Command::new("git");
                command.arg("upload-pack").arg(root.join(path)).stderr(Stdio::null());
                let [input, output] = [input, stream].map(|stream| Stdio::from(std::os::fd::OwnedFd::from(stream)));
                drop(command.stdin(input).stdout(output).spawn().map(|mut child| child.wait()));
            }
        });
        Self { port, said }
    }

    /// A program that stands in for ssh.
    pub(crate) fn client(&self) -> String {
        format!(
            "#!/bin/bash\nexec 3<>/dev/tcp/127.0.0.1/{}\nprintf '%s\\n' \"$*\" >&3\ncat <&3 &\ncat >&3\nwait\n",
            self.port
        )
    }

    /// The words of each call so far.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().expect("one at a time").clone()
    }
}

/// Debian's sshd on a free port, with the configuration of a client that knows it as `git.example.com`.
pub(crate) struct Sshd {
    _running: Running,
}

impl Sshd {
    /// `home` is that of the client; whoever runs the test may log in.
    pub(crate) fn start(dir: &Path, home: &Path) -> Self {
        let port = free_port();
        let ssh = home.join(".ssh");
        fs::create_dir_all(&ssh).expect("made");
        for key in [dir.join("host"), ssh.join("id")] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key);
            assert!(keygen.status().expect("ssh-keygen").success());
        }
        let host = fs::read_to_string(dir.join("host.pub")).expect("there");
        fs::write(ssh.join("known"), format!("[127.0.0.1]:{port} {host}")).expect("written");
        let (dir_text, ssh_text) = (dir.display(), ssh.display());
        let server = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {dir_text}/host\nAuthorizedKeysFile {ssh_text}/id.pub\nStrictModes no\n\
             UsePAM no\nPidFile none\nPasswordAuthentication no\nPermitRootLogin yes\n"
        );
        fs::write(dir.join("sshd_config"), server).expect("written");
        let client = format!(
            "Host git.example.com\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {ssh_text}/id\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {ssh_text}/known\n"
        );
        fs::write(ssh.join("config"), client).expect("written");
        if rustix::process::geteuid().is_root() {
            // sshd gives its rights up there, and Debian makes it at boot only.
            drop(fs::create_dir_all("/run/sshd"));
        }
        let mut command = Command::new("/usr/sbin/sshd");
        command.arg("-D").arg("-f").arg(dir.join("sshd_config"));
        Self { _running: Running::start(&mut command, port) }
    }
}

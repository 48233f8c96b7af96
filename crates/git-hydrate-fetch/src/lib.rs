//! `git-hydrate-fetch`: brings inputs from elsewhere, for `git hydrate vendor`. The only program here that opens connections.
//!
//! It reads what to fetch on standard input and answers on standard output (`inputs::wire`). Charts are taken out of their
//! archives here, so that what came over the network is only ever read by a process that can write to one scratch directory
//! (its first argument) and read what programs and certificates need. It knows no repository and no credential: it asks for
//! those, by the name of a host. What git fetches over ssh, another process of it fetches, which gets the place of the
//! user's configuration of ssh (its other arguments) and is asked for nothing else.

mod address;
mod chart;
mod registry;
mod repository;
mod talk;
mod web;

use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use inputs::wire::{self, FromFetcher, ToFetcher, What};
use inputs::{InputFile, Key};

use talk::Talk;
use web::Web;

/// How many inputs are fetched at once.
const WORKERS: usize = 8;

/// An input that was fetched.
struct Fetched {
    version: String,
    origin: String,
    warnings: Vec<String>,
    files: Vec<InputFile>,
}

/// Why one was not.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Failure {
    reason: String,
    /// Whether the server answered, but not with what was asked for.
    refused: bool,
}

impl<T: std::fmt::Display> From<T> for Failure {
    fn from(reason: T) -> Self {
        Self { reason: reason.to_string(), refused: false }
    }
}

type Result<T> = std::result::Result<T, Failure>;

/// What all requests share.
struct Fetcher {
    web: Web,
    indexes: chart::Indexes,
    accept: Vec<String>,
    scratch: PathBuf,
    /// How long one request may take.
    timeout: Duration,
    /// Where the certificates are that are not the system's.
    certificates: Option<PathBuf>,
}

/// Runs the program, and returns its exit code.
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("git-hydrate-fetch: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let scratch = arguments.next().ok_or("`git hydrate vendor` starts this program")?;
    let certificates = ["SSL_CERT_FILE", "SSL_CERT_DIR"].map(|name| std::env::var_os(name).map(PathBuf::from));
    let readable: Vec<PathBuf> = certificates.iter().flatten().cloned().chain(arguments).collect();
    let missing = confine::fetcher(&scratch, &readable)?;
    let mut input = BufReader::new(io::stdin());
    let Some(ToFetcher::Start(rules)) = wire::read(&mut input)? else {
        return Err("`git hydrate vendor` starts this program".into());
    };
    let talk = Arc::new(Talk::default());
    let unconfined = missing.iter().map(ToString::to_string).collect();
    talk.say(&FromFetcher::Ready { unconfined }, &[])?;
    let fetcher = Fetcher {
        web: Web::new(&rules, talk.clone()),
        timeout: Duration::from_secs(rules.timeout_seconds.max(1)),
        indexes: chart::Indexes::default(),
        accept: rules.accept,
        scratch,
        certificates: certificates.into_iter().next().flatten(),
    };
    let (give, take) = mpsc::channel::<(u32, What)>();
    let take = Mutex::new(take);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            let work = || work(&take, &fetcher, &talk);
            std::thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, work)?;
        }
        while let Some(message) = wire::read(&mut input)? {
            match message {
                ToFetcher::Fetch { id, what } => give.send((id, what))?,
                ToFetcher::Credential { ask, found } => talk.answer(ask, found),
                ToFetcher::Start(_) => return Err("started twice".into()),
            }
        }
        // Those who wait for a credential get none.
        talk.close();
        drop(give);
        Ok(())
    })
}

/// Fetches what is asked for, one after the other, until nothing more can be asked.
fn work(asked: &Mutex<Receiver<(u32, What)>>, fetcher: &Fetcher, talk: &Talk) {
    loop {
        let next = asked.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((id, what)) = next else { return };
        // No one is left to hear it when this fails.
        let _ = answer(talk, id, fetcher.fetch(&what));
    }
}

fn answer(talk: &Talk, id: u32, fetched: Result<Fetched>) -> io::Result<()> {
    match fetched {
        Ok(Fetched { version, origin, warnings, files }) => {
            let sizes = files.iter().map(|file| (file.path.to_string(), file.data.len() as u64)).collect();
            talk.say(&FromFetcher::Fetched { id, version, origin, warnings, files: sizes }, &files)
        }
        Err(Failure { reason, refused }) => talk.say(&FromFetcher::Failed { id, reason, refused }, &[]),
    }
}

impl Fetcher {
    fn fetch(&self, what: &What) -> Result<Fetched> {
        match what {
            What::Helm { url, name, want } => self.chart(&Key::chart(url, name, want)?),
            What::Oci { url, name, want } => self.registry_chart(&Key::chart(url, name, want)?),
            What::Git { url, want, directories } => self.repository(url, want, directories),
            What::File { url } => self.file(url),
        }
    }

    /// One file, as it is.
    fn file(&self, url: &str) -> Result<Fetched> {
        let key = Key::file(url)?;
        let received = self.web.get(&key.url, web::Ask { accept: "*/*", bytes_max: 10 << 20 })?;
        let place = key.place();
        let name = place.file_name().unwrap_or("file");
        let path = dry_files::path::RepoPath::new(name)?;
        let file = InputFile { path, data: received.into() };
        Ok(Fetched { version: String::new(), origin: String::new(), warnings: Vec::new(), files: vec![file] })
    }
}

//! What this machine has: programs, cores, limits. All of it is git config `hydrate.*`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use dry_files::view::View;
use sha2::{Digest as _, Sha256};

use super::Renderers;
use super::checks::Check;
use super::exec::Tools;
use super::failure::{APPLICATION_MEMORY, RUN_MEMORY, RUN_OUTPUT_LIMIT, RUN_TIME_LIMIT};
use super::process::late::Late;
use crate::render::directory;
use crate::repo::{self, Repository};
use confine::{self as plugin, Runner};

/// What only the edge can tell of this machine.
#[derive(Debug, Clone)]
pub struct Machine {
    /// This very program, which confines others.
    pub program: PathBuf,
    /// Where programs are looked for: the value of `PATH`.
    pub search_path: OsString,
    /// Where temporary directories are made.
    pub temp_dir: PathBuf,
    /// How many cores there are.
    pub cores: usize,
    /// How much memory there is, in bytes: that of the machine, or of the control group if that is less.
    pub memory_bytes: u64,
    /// Who goes on when this process dies.
    pub isolation: Isolation,
    /// How much of the time of this run another process took before it died.
    pub used: Duration,
}

/// Where Applications are rendered, which depends on who goes on when that process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// In this process, which nothing survives.
    Alone,
    /// In this process, within the limits of a run: the parent process tries again, [`Isolation::Apart`].
    Together,
    /// In processes of their own, each within the limits of one Application.
    Apart,
}

/// How much one Application may need, and all of one dry commit. Reaching one of these says nothing about the dry commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Limits {
    /// How many Applications are rendered at once.
    pub jobs: usize,
    /// The size of one file of the dry tree.
    pub file_bytes_max: u64,
    /// The size of all plain manifests of one directory; 0 is no limit.
    pub directory_bytes_max: u64,
    /// The size of what is rendered, as text; 0 is no limit.
    pub output_bytes_max: u64,
    /// What all Applications of one dry branch add to the repository in one run, in bytes on disk; 0 is no limit.
    pub run_output_bytes_max: u64,
    /// How many objects are rendered.
    pub objects_max: usize,
    /// How long our own engines may take.
    pub time: Duration,
    /// How long all Applications of one dry commit may take together.
    pub commit_time: Duration,
    /// How long all Applications of one run may take together, unless it goes through any number of dry commits.
    pub run_time: Duration,
    /// The memory of a run that renders in one process, in bytes; 0 is no limit.
    pub run_memory: u64,
    /// The memory of a process that renders one Application at a time, in bytes; 0 is no limit.
    pub application_memory: u64,
}

/// The part of a run that one Application may take without a setting, so that others have time when some do not stop.
const TIME_SHARE: u32 = 4;

/// The most memory that a run gets without a setting, in bytes, and the part of all memory.
const RUN_MEMORY_MAX: u64 = 4 << 30;
const RUN_MEMORY_SHARE: u64 = 4;

impl Default for Limits {
    fn default() -> Self {
        Self {
            jobs: 1,
            file_bytes_max: View::FILE_BYTES_MAX,
            directory_bytes_max: directory::BYTES_MAX,
            output_bytes_max: plugin::Limits::default().output_bytes_max,
            run_output_bytes_max: 512 << 20,
            objects_max: 100_000,
            time: Duration::from_secs(120),
            commit_time: Duration::from_secs(1800),
            run_time: Duration::from_secs(3600),
            run_memory: RUN_MEMORY_MAX,
            application_memory: 1 << 30,
        }
    }
}

impl Limits {
    /// Those of a machine where nothing is set.
    fn of(machine: &Machine) -> Self {
        let run_memory = RUN_MEMORY_MAX.min(machine.memory_bytes / RUN_MEMORY_SHARE);
        Self { jobs: machine.cores, run_memory, ..Self::default() }.with_room()
    }

    /// The limits where one Application leaves time for the others, also when it is rendered a second time.
    fn with_time(self) -> Self {
        Self { time: self.time.min(self.run_time / TIME_SHARE), ..self }
    }

    /// The limits where one Application gets no more memory than the run.
    fn with_room(self) -> Self {
        let room = if self.run_memory == 0 { u64::MAX } else { self.run_memory };
        Self { application_memory: self.application_memory.min(room), ..self }
    }
}

/// What starts programs on a machine that no git config says anything about.
pub(super) fn runner(machine: &Machine) -> Runner {
    Runner::new(plugin::Settings {
        confiner: machine.program.clone(),
        search_path: machine.search_path.clone(),
        temp_dir: machine.temp_dir.clone(),
        spare_dir: None,
        allow_unconfined: false,
        readable: Vec::new(),
        limits: plugin::Limits::default(),
    })
}

impl Renderers {
    /// What decides whether a render reaches a limit of this machine, or finds its program, as a text: two machines of
    /// one text reach the same limits, as far as their speed allows.
    pub fn bounds(&self) -> String {
        let limits = Limits { jobs: 0, run_memory: 0, ..self.limits };
        let plugin::Settings { allow_unconfined, readable, limits: of_programs, .. } = self.exec.runner().settings();
        format!("{limits:?} {of_programs:?} {:?} {allow_unconfined} {readable:?}", self.exec.tools())
    }

    /// An id of the programs that are set up: Helm, Kustomize and plugins, each with its command.
    pub fn programs(&self) -> String {
        let digest = Sha256::digest(format!("{:?}", self.exec.tools()));
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Sets where Applications are rendered, and the time that is left, as the machine says.
    fn on(self, machine: &Machine) -> Self {
        Self { used: machine.used, ..self.isolated(machine.isolation) }
    }

    /// Those of a machine that no git config says anything about.
    pub fn of_machine(machine: &Machine) -> Self {
        Self::new(runner(machine), Tools::default(), Limits::of(machine)).on(machine)
    }

    /// What git config `hydrate.*` says of this machine.
    ///
    /// `jobs`, `helm`, `kustomize`, `allowUnconfined`, `readable` (paths between `:`), `timeLimit` (seconds of one program), `renderTimeLimit` (seconds of our own engines),
    /// `commitTimeLimit` (seconds of all renders of one dry commit),
    /// `runTimeLimit` (seconds of all renders of one run), `runMemory`, `applicationMemory`,
    /// `memoryLimit`, `scratchLimit`, `outputLimit`, `runOutputLimit`, `fileLimit`, `directoryLimit` (bytes, `k`, `m`, `g`), `objectLimit`, and
    /// `hydrate-plugin.NAME.command` and `hydrate-check.NAME.command`. Commands are words between blanks. Numbers that are no numbers count as not set.
    pub fn from_config(repository: &Repository, machine: &Machine) -> Result<Self, repo::Error> {
        let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let number = |key: &str| repository.config_number(key).and_then(|number| u64::try_from(number).ok());
        let mut tools = Tools::default();
        for (key, tool) in [("hydrate.helm", &mut tools.helm), ("hydrate.kustomize", &mut tools.kustomize)] {
            if let Some(command) = repository.config(key).map(words).filter(|words| !words.is_empty()) {
                *tool = command;
            }
        }
        let commands = repository.config_subsections("hydrate-plugin").into_iter().filter_map(|name| {
            let command = repository.config(&format!("hydrate-plugin.{name}.command")).map(words)?;
            Some((name, command))
        });
        tools.plugins = commands.collect::<BTreeMap<_, _>>();
        let readable = repository.config("hydrate.readable").unwrap_or_default();
        let mut of_programs = plugin::Limits::default();
        if let Some(seconds) = number("hydrate.timeLimit") {
            of_programs.time = Duration::from_secs(seconds);
        }
        let mut limits = Limits::of(machine);
        for (key, limit) in [
            ("hydrate.memoryLimit", &mut of_programs.memory_bytes_max),
            ("hydrate.scratchLimit", &mut of_programs.scratch_bytes_max),
            ("hydrate.outputLimit", &mut limits.output_bytes_max),
            (RUN_OUTPUT_LIMIT, &mut limits.run_output_bytes_max),
            ("hydrate.fileLimit", &mut limits.file_bytes_max),
            ("hydrate.directoryLimit", &mut limits.directory_bytes_max),
            (RUN_MEMORY, &mut limits.run_memory),
            (APPLICATION_MEMORY, &mut limits.application_memory),
        ] {
            *limit = number(key).unwrap_or(*limit);
        }
        if number(APPLICATION_MEMORY).is_none() {
            limits = limits.with_room();
        }
        for (key, limit) in [("hydrate.jobs", &mut limits.jobs), ("hydrate.objectLimit", &mut limits.objects_max)] {
            *limit = number(key).and_then(|number| usize::try_from(number).ok()).unwrap_or(*limit);
        }
        limits.commit_time = number("hydrate.commitTimeLimit").map_or(limits.commit_time, Duration::from_secs);
        limits.run_time = number(RUN_TIME_LIMIT).map_or(limits.run_time, Duration::from_secs);
        limits = match number("hydrate.renderTimeLimit") {
            Some(seconds) => Limits { time: Duration::from_secs(seconds), ..limits },
            None => limits.with_time(),
        };
        of_programs.output_bytes_max = limits.output_bytes_max;
        let runner = Runner::new(plugin::Settings {
            confiner: machine.program.clone(),
            search_path: machine.search_path.clone(),
            temp_dir: machine.temp_dir.clone(),
            spare_dir: Some(repository.common_dir().to_owned()),
            allow_unconfined: repository.config_bool("hydrate.allowUnconfined").unwrap_or(false),
            readable: std::env::split_paths(&readable).filter(|path| path.is_absolute()).collect(),
            limits: of_programs,
        });
        let mut late = Late::default();
        if machine.isolation == Isolation::Apart {
            // Of the process that died before this one.
            late = Late::take(repository.common_dir());
            dry_files::scratch::sweep(&[&machine.temp_dir, repository.common_dir()]);
        }
        let renderers = Self { late, checks: checks(repository), ..Self::new(runner, tools, limits).on(machine) };
        #[cfg(debug_assertions)]
        let renderers = Self { rehearsed: rehearsed(repository), ..renderers };
        Ok(renderers)
    }
}

/// The name of a check for which strict mode refuses pushes, if an admin set one.
pub(crate) fn refusing_check(repository: &Repository) -> Option<String> {
    checks(repository).into_iter().find(|check| check.refuses).map(|check| check.name)
}

/// The checks that an admin set.
fn checks(repository: &Repository) -> Vec<Check> {
    let check = |name: String| {
        let key = |key: &str| format!("hydrate-check.{name}.{key}");
        let words: Vec<String> = repository.config(&key("command"))?.split_whitespace().map(str::to_owned).collect();
        // What is neither true nor false is meant to do something.
        let refuses =
            repository.config(&key("refuse")).is_some() && repository.config_bool(&key("refuse")) != Some(false);
        (!words.is_empty()).then_some(Check { refuses, words, name })
    };
    repository.config_subsections("hydrate-check").into_iter().filter_map(check).collect()
}

/// How Applications are to fail, for tests.
#[cfg(debug_assertions)]
fn rehearsed(repository: &Repository) -> BTreeMap<String, String> {
    let names = repository.config_subsections("hydrate-test").into_iter();
    names.filter_map(|name| Some((name.clone(), repository.config(&format!("hydrate-test.{name}.does"))?))).collect()
}

//! What a caller wants of a render: the flags of `helm template`.

use std::collections::BTreeSet;

use super::capabilities::KubeVersion;
use super::error::{Error, ErrorKind};
use super::set::{self, SetError, Typing};
use super::values;
use super::{RELEASE_NAME_BYTES_MAX, is_release_name};
use crate::version::Helm;
use crate::version::differences::{OpenIndex, SetJson, Switches};
use dry_files::diag::Span;
use dry_files::inputs::Inputs;
use dry_files::path::RepoPath;
use dry_files::view::{Stop, View};
use go_template::{self as template, Drew, Seed};
use go_yaml::Mapping;

/// The flags of `helm template` that shape its output.
///
/// Of the values, files come first in their order, then by kind of flag, as Helm has it: `set_json`, `set`,
/// `set_string`, `set_file`, `set_literal`.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Options {
    /// `NAME`: at most 53 characters of lower-case letters, digits, `-` and `.`.
    pub release_name: String,
    /// `--namespace`, not checked.
    pub namespace: String,
    /// `--values`, and values that come from elsewhere.
    pub values: Vec<ValuesSource>,
    /// `--set-json`
    pub set_json: Vec<String>,
    /// `--set`
    pub set: Vec<String>,
    /// `--set-string`
    pub set_string: Vec<String>,
    /// `--set-file`; its paths are read in [`Options::base`].
    pub set_file: Vec<String>,
    /// `--set-literal`
    pub set_literal: Vec<String>,
    /// The directory in which `set_file` names files.
    pub base: RepoPath,
    /// `--kube-version`; `None` for the one of Helm's client.
    pub kube_version: Option<String>,
    /// `--api-versions`, in addition to those of Helm's client.
    pub api_versions: Vec<String>,
    /// `--include-crds`
    pub include_crds: bool,
    /// `--skip-tests`
    pub skip_tests: bool,
    /// `--no-hooks`
    pub no_hooks: bool,
    /// `--is-upgrade`
    pub is_upgrade: bool,
    /// `--skip-schema-validation`
    pub skip_schema_validation: bool,
    /// `--show-only`, in order; all documents when there are none.
    pub show_only: Vec<String>,
    /// Whether only the objects of what is printed count, so that comments may differ from render to render.
    pub only_objects: bool,
    /// Which Helm to render as.
    pub helm: Helm,
    /// What random and clock functions do.
    pub effects: Effects,
    /// Which charts below `charts/` were fetched, and for what.
    pub inputs: &'static dyn Inputs,
    /// How much the templates may take.
    pub limits: template::Limits,
    /// When to give up.
    pub stop: Stop,
}

/// What random and clock functions do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Effects {
    /// They fail, with the place and a way around.
    #[default]
    Refuse,
    /// Those that are named give what repeats: it follows from `seed` and the place of the call. Others fail.
    Seeded {
        /// What distinguishes this render from others.
        seed: Seed,
        /// Names of functions.
        allowed: Vec<String>,
        /// What the clock says.
        now: jiff::Timestamp,
        /// Hears of each draw.
        drew: Drew,
    },
    /// All of them run, and no two renders are the same.
    Live {
        /// Bytes that no one can guess.
        entropy: [u8; 32],
        /// What the clock says.
        now: jiff::Timestamp,
    },
}

/// What refused calls draw from in a probe.
pub(super) struct Draw {
    /// Which of them draw from the source `number`; the rest draws from the first one.
    pub calls: template::Calls,
    /// One of the sources.
    pub number: u8,
    /// Whether keys may be good for nothing.
    pub sketch: bool,
}

impl Effects {
    /// As the template engine takes them.
    pub(super) fn for_templates(&self) -> template::Effects {
        match self {
            Effects::Refuse => template::Effects::Refuse,
            Effects::Seeded { seed, allowed, now, drew } => template::Effects::Seeded {
                seed: seed.clone(),
                allowed: allowed.iter().cloned().collect(),
                now: *now,
                drew: drew.clone(),
            },
            Effects::Live { entropy, now } => template::Effects::Live { entropy: *entropy, now: *now },
        }
    }

    /// The effects of a probe, which finds out what depends on calls that are refused: on some of them, or on all.
    pub(super) fn probe(&self, draw: &Draw) -> template::Effects {
        let &Draw { ref calls, number, sketch } = draw;
        let calls = calls.clone();
        match self.for_templates() {
            template::Effects::Seeded { seed, now, allowed, .. } => {
                template::Effects::Probe { seed, now, allowed, calls, number, sketch }
            }
            _ => {
                let (seed, now, allowed) = (Seed::Sketch, jiff::Timestamp::UNIX_EPOCH, BTreeSet::new());
                template::Effects::Probe { seed, now, allowed, calls, number, sketch }
            }
        }
    }
}

/// Values that a caller gives.
#[derive(Debug, Clone, PartialEq)]
pub enum ValuesSource {
    /// A file of the view.
    File(RepoPath),
    /// The text of a values file.
    Text {
        /// What to call it in messages.
        name: String,
        /// YAML.
        text: String,
    },
    /// Values that were read already.
    Data(Mapping),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            release_name: "release-name".to_owned(),
            namespace: "default".to_owned(),
            values: Vec::new(),
            set_json: Vec::new(),
            set: Vec::new(),
            set_string: Vec::new(),
            set_file: Vec::new(),
            set_literal: Vec::new(),
            base: RepoPath::root(),
            kube_version: None,
            api_versions: Vec::new(),
            include_crds: false,
            skip_tests: false,
            no_hooks: false,
            is_upgrade: false,
            skip_schema_validation: false,
            show_only: Vec::new(),
            only_objects: false,
            helm: Helm::default(),
            effects: Effects::default(),
            inputs: Default::default(),
            limits: template::Limits::default(),
            stop: Stop::default(),
        }
    }
}

impl Options {
    /// The user's values, all sources together.
    pub fn user_values(&self, view: &View<'_>) -> Result<Mapping, Error> {
        let mut all = Mapping::new();
        for source in &self.values {
            values::merge(&mut all, source.read(view, self.helm)?);
        }
        let Switches { set_json: json, open_index, .. } = self.helm.switches();
        for text in &self.set_json {
            set_json(text, json, open_index, &mut all)?;
        }
        let read_file = |name: &str| self.read_file(view, name);
        let flags = [
            ("set", Typing::Typed, &self.set),
            ("set-string", Typing::Strings, &self.set_string),
            ("set-file", Typing::Files, &self.set_file),
            ("set-literal", Typing::Literal, &self.set_literal),
        ];
        for (flag, typing, texts) in flags {
            for text in texts {
                set::set(text, typing, open_index, &read_file, &mut all)
                    .map_err(|error| ErrorKind::Set { flag, error })?;
            }
        }
        Ok(all)
    }

    /// The text of a file that `--set-file` names.
    fn read_file(&self, view: &View<'_>, name: &str) -> Result<String, String> {
        let path = self.base.resolve(name).map_err(|error| format!("open {name}: {error}"))?;
        let blob = view.read(&path).map_err(|error| format!("open {error}"))?;
        Ok(String::from_utf8_lossy(&blob.data).into_owned())
    }

    /// The version of the cluster.
    pub fn cluster(&self) -> Result<KubeVersion, Error> {
        Ok(self
            .kube_version
            .as_deref()
            .filter(|text| !text.is_empty())
            .map(|text| KubeVersion::parse(text, self.helm.switches().kube_versions))
            .transpose()?
            .unwrap_or_else(|| KubeVersion::of(self.helm)))
    }

    /// Whether less counts than what is rendered: documents or comments are left out.
    pub(super) fn leaves_something_out(&self) -> bool {
        self.skip_tests || self.no_hooks || !self.show_only.is_empty() || self.only_objects
    }

    /// Fails when the release can't have this name.
    pub fn check_release_name(&self) -> Result<(), Error> {
        let name = &self.release_name;
        if name.len() > RELEASE_NAME_BYTES_MAX || !is_release_name(name) {
            let hint = "use at most 53 lower-case letters, digits, `-` and `.`; no part may begin or end with `-`";
            return Err(Error::from(ErrorKind::ReleaseName(name.clone())).hint(hint));
        }
        Ok(())
    }
}

/// One `--set-json`: names and values, or an object.
fn set_json(text: &str, what: SetJson, open_index: OpenIndex, all: &mut Mapping) -> Result<(), Error> {
    if what == SetJson::NamesOrObject && text.trim_start().starts_with('{') {
        let Ok(go_yaml::Value::Mapping(mut object)) = values::parse_json(text.trim()) else {
            return Err(ErrorKind::SetJsonObject(text.to_owned()).into());
        };
        object.values_mut().for_each(values::floats);
        values::merge(all, object);
        return Ok(());
    }
    let no_file = |_: &str| Err(String::new());
    set::set(text, Typing::Json, open_index, &no_file, all)
        .map_err(|error: SetError| Error::from(ErrorKind::SetJson(text.to_owned())).hint(error.to_string()))
}

impl ValuesSource {
    fn read(&self, view: &View<'_>, helm: Helm) -> Result<Mapping, Error> {
        let (name, text, path) = match self {
            ValuesSource::Data(values) => return Ok(values.clone()),
            ValuesSource::Text { name, text } => (name.clone(), text.as_bytes().into(), None),
            ValuesSource::File(path) => {
                let blob = view.read(path).map_err(|error| Error::from(error).at(Span::file(path.clone())))?;
                (path.as_str().to_owned(), blob.data, Some(path))
            }
        };
        let error = match values::parse(&text, helm.switches().values_files, view.stop()) {
            Ok(values) => return Ok(values),
            Err(error) => error,
        };
        let (line, column) = (error.line, error.column);
        let found: Error = ErrorKind::ValuesFile { path: name, reason: error.to_string() }.into();
        let Some(path) = path else { return Err(found) };
        Err(found.at(Span::at(path.clone(), line, column).quoting(&String::from_utf8_lossy(&text))))
    }
}

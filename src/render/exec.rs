//! The official tools: Helm and Kustomize, and plugins, confined and in a temporary checkout.
//!
//! Each render is one process that reads the checkout and writes nothing but its own scratch directory. The versions of
//! the tools are exact, since every other one renders other bytes: asked for once, refused when they differ.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dry_files::diag::{Diagnostic, Span, shell_word};
use dry_files::path::RepoPath;
use dry_files::view::{Stop, View};
use go_yaml::{self as yaml, Value};

use super::checkout::{Checkout, io_error};
use super::command::csv;
use super::failure::{Error, Failure};
use super::kustomization::Edits;
use super::outside;
use super::release::Release;
use crate::argo::{Environment, Jsonnet, Plugin};
use crate::render::jsonnet::{self, evaluate};
use crate::versions::{self, Helm, Kustomize, Tools as Versions};
use confine::{Call, Output, Runner};

/// How the tools are called on this machine: words, of which the first is found on `PATH`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tools {
    /// `hydrate.helm`
    pub helm: Vec<String>,
    /// `hydrate.kustomize`; `kubectl kustomize` and its like are asked without `build`.
    pub kustomize: Vec<String>,
    /// The commands of plugins by their names.
    pub plugins: std::collections::BTreeMap<String, Vec<String>>,
}

impl Default for Tools {
    fn default() -> Self {
        Self { helm: vec!["helm".to_owned()], kustomize: vec!["kustomize".to_owned()], plugins: Default::default() }
    }
}

/// A tool that was found.
#[derive(Debug, Clone)]
struct Found {
    program: PathBuf,
    /// The words between the program and what it is asked.
    words: Vec<String>,
}

/// A tool that was asked for its version.
#[derive(Debug, Clone)]
struct Asked {
    tool: Found,
    /// What it says of itself; empty when that is not understood.
    version: String,
}

/// The tools of this machine, asked for their versions when they are first used.
#[derive(Debug)]
pub(super) struct Exec {
    runner: Runner,
    tools: Tools,
    helm: OnceLock<Asked>,
    kustomize: OnceLock<Asked>,
}

/// Where a program works: what it may read, whom it is for.
pub(super) struct Site<'a> {
    /// The files on disk.
    pub checkout: &'a Checkout<'a>,
    /// The files as one Application reads them.
    pub view: &'a View<'a>,
    /// Where the Application asks for it.
    pub place: &'a Span,
    /// Ends the program once it is set.
    pub stop: &'a Stop,
}

impl Exec {
    pub(super) fn new(runner: Runner, tools: Tools) -> Self {
        Self { runner, tools, helm: OnceLock::new(), kustomize: OnceLock::new() }
    }

    pub(super) fn tools(&self) -> &Tools {
        &self.tools
    }

    pub(super) fn runner(&self) -> &Runner {
        &self.runner
    }

    /// What `helm template` prints.
    pub(super) fn helm(&self, version: Helm, site: &Site<'_>, release: &Release) -> Result<Vec<u8>, Failure> {
        let Site { checkout, view, place, stop } = *site;
        let charts = outside::charts(view, &release.chart)?;
        let helm = self.helm_of(version, stop)?;
        let chart = checkout.part(view, &release.chart)?;
        let with_charts = match charts.is_empty() {
            true => None,
            false => Some(checkout.with_charts(view, &release.chart, &charts)?),
        };
        let chart = with_charts.as_ref().map_or(chart, |copy| copy.path().to_owned());
        let mut args = Args(vec!["template".to_owned(), ".".to_owned()]);
        args.optional("--name-template", release.name.as_deref());
        args.optional("--namespace", release.namespace.as_deref().filter(|namespace| !namespace.is_empty()));
        args.optional("--kube-version", release.kube_version.as_deref());
        release.set.iter().for_each(|setting| args.flag("--set", setting));
        release.set_string.iter().for_each(|setting| args.flag("--set-string", setting));
        for setting in &release.set_file {
            let file = checkout.part(view, &setting.file)?;
            args.flag("--set-file", &setting.argument(&file.to_string_lossy()));
        }
        for file in &release.value_files {
            args.flag("--values", &csv(&checkout.part(view, file)?.to_string_lossy()));
        }
        let scratch = self.runner.scratch("values").map_err(Error::Program)?;
        if let Some(values) = &release.values {
            let file = scratch.path().join("values.yaml");
            std::fs::write(&file, &values.text).map_err(io_error(format!("writing {}", file.display())))?;
            args.flag("--values", &csv(&file.to_string_lossy()));
        }
        release.api_versions.iter().for_each(|version| args.flag("--api-versions", version));
        args.switch("--include-crds", release.include_crds);
        args.switch("--skip-schema-validation", release.skip_schema_validation);
        args.switch("--skip-tests", release.skip_tests);
        let readable = vec![checkout.dir().to_owned(), scratch.path().to_owned()];
        check_words(&args.0, place)?;
        let output = self.run(&helm, args.0, &chart, readable, Vec::new(), stop)?;
        printed(output, "helm template", place, |complaint| checkout.in_repository(complaint))
    }

    /// What `kustomize build` prints. Where it inflates `charts`, it starts Helm itself.
    pub(super) fn kustomize(
        &self,
        versions: Versions,
        site: &Site<'_>,
        dir: &RepoPath,
        (edits, options): (&Edits, &[&str]),
        charts: bool,
    ) -> Result<Vec<u8>, Failure> {
        let Site { checkout, view, place, stop } = *site;
        let dir = view.real_path(dir).map_err(|error| Failure::unreadable(error, place.clone()))?;
        let edit = if edits.is_empty() { None } else { Some(edits.apply(view, &dir)?) };
        let edit = edit.as_ref().map(|(file, content)| (file, content.as_str()));
        let mut replaced = outside::replaced(view, &dir, edit)?;
        // The file itself stays as it is for the others.
        let content = edit.map(|(file, content)| replaced.contents.remove(file).unwrap_or_else(|| content.to_owned()));
        let kustomize = self.kustomize_of(versions.kustomize, stop)?;
        let top = if replaced.is_empty() { checkout.whole(view)? } else { checkout.replaced(view, &replaced)? };
        let edited = match edit.zip(content) {
            None => None,
            Some(((file, _), content)) => Some(checkout.copy_with(&top, &dir, file, &content)?),
        };
        let place_on_disk = match &edited {
            Some(copy) => copy.path().to_owned(),
            None => dir.components().fold(top.clone(), |place, name| place.join(name)),
        };
        let mut args = Args(Vec::new());
        args.switch("build", !is_kubectl(&self.tools.kustomize));
        args.0.push(place_on_disk.to_string_lossy().into_owned());
        let mut readable = vec![checkout.dir().to_owned()];
        if charts {
            let helm = self.helm_of(versions.helm, stop)?;
            if !helm.words.is_empty() {
                let text = "charts in kustomizations need `hydrate.helm` to be one program without arguments";
                return Err(Error::Limit(text.to_owned()).into());
            }
            args.switch("--enable-helm", true);
            args.flag("--helm-command", &helm.program.to_string_lossy());
            args.optional("--helm-kube-version", edits.kube_version.as_deref());
            edits.api_versions.iter().for_each(|version| args.flag("--helm-api-versions", version));
            readable.push(helm.program);
        }
        args.0.extend(options.iter().map(|option| (*option).to_owned()));
        check_words(&args.0, place)?;
        let output = self.run(&kustomize, args.0, &top, readable, Vec::new(), stop)?;
        printed(output, "kustomize build", place, |complaint| {
            let place = place_on_disk.to_string_lossy();
            checkout.in_repository(&complaint.replace(&*place, &dir.to_string()))
        })
    }

    /// What a plugin prints: the command of its name, in the directory of the sources.
    pub(super) fn plugin(
        &self,
        site: &Site<'_>,
        dir: &RepoPath,
        plugin: &Plugin,
        environment: &Environment,
    ) -> Result<Vec<u8>, Failure> {
        let Site { checkout, view, place, stop } = *site;
        let known = self.tools.plugins.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let name = plugin.name.as_deref().unwrap_or_default();
        let hint = match known.is_empty() {
            true => {
                let key = if name.is_empty() { "NAME" } else { name };
                format!(
                    "have an admin set its command: git config {} COMMAND",
                    shell_word(&format!("hydrate-plugin.{key}.command"))
                )
            }
            false => format!("the plugins are: {known}"),
        };
        let mistake = |text: String| Failure::mistake(Diagnostic::error(text).at(place.clone()).hint(hint.clone()));
        let words =
            self.tools.plugins.get(name).ok_or_else(|| mistake(format!("no plugin `{name}` is set up here")))?;
        let command = self.find(words)?;
        let top = checkout.whole(view)?;
        let dir = dir.components().fold(top.clone(), |place, name| place.join(name));
        let variables = plugin_environment(plugin, environment);
        check_words(variables.iter().flat_map(|(name, value)| [name, value]), place)?;
        let output = self.run(&command, Vec::new(), &dir, vec![checkout.dir().to_owned()], variables, stop)?;
        printed(output, name, place, |complaint| checkout.in_repository(complaint))
    }

    fn run(
        &self,
        tool: &Found,
        args: Vec<String>,
        dir: &Path,
        readable: Vec<PathBuf>,
        environment: Vec<(String, String)>,
        stop: &Stop,
    ) -> Result<Output, Error> {
        let args = tool.words.iter().cloned().chain(args).map(Into::into).collect();
        let environment = environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let program = &tool.program;
        let call = Call { program, args, dir, readable, writable: Vec::new(), ours: false, environment };
        Ok(self.runner.run(&call, stop)?)
    }

    /// The JSON that a Jsonnet file evaluates to, in a directory with the files of `closure` alone.
    pub(super) fn jsonnet(
        &self,
        site: &Site<'_>,
        file: &RepoPath,
        libraries: &[RepoPath],
        closure: &jsonnet::Closure,
        (options, version): (&Jsonnet, versions::Jsonnet),
    ) -> Result<Vec<u8>, Failure> {
        let Site { checkout, view, place, stop } = *site;
        let variables = options.ext_vars.iter().chain(&options.tlas);
        check_words(variables.flat_map(|variable| [&variable.name, &variable.value]), place)?;
        let directory = checkout.only(view, &closure.files, &closure.passed)?;
        let mut args: Vec<OsString> = vec![evaluate::ARGUMENT.into()];
        args.extend(evaluate::arguments(libraries, closure, (options, version), file));
        check_size(&args, place)?;
        let call = Call {
            program: &self.runner.settings().confiner,
            args,
            dir: directory.path(),
            readable: vec![directory.path().to_owned()],
            writable: Vec::new(),
            ours: true,
            environment: Vec::new(),
        };
        let output = self.runner.run(&call, stop).map_err(Error::Program)?;
        printed(output, "Jsonnet", place, |complaint| checkout.in_repository(complaint))
    }

    fn find(&self, words: &[String]) -> Result<Found, Error> {
        let (first, rest) = words.split_first().ok_or_else(|| Error::Limit("a tool's command is empty".to_owned()))?;
        Ok(Found { program: self.runner.find(first)?, words: rest.to_vec() })
    }

    /// Whether the official tools are there in their versions, with what they are called.
    pub(super) fn check(&self, versions: Versions, stop: &Stop) -> Vec<Result<String, Error>> {
        let sentence = |words: &[String], version: &str| format!("`{}` is version {version}", words.join(" "));
        let Versions { helm, kustomize, .. } = versions;
        vec![
            self.helm_of(helm, stop).map(|_| sentence(&self.tools.helm, helm.as_str())),
            self.kustomize_of(kustomize, stop).map(|_| sentence(&self.tools.kustomize, kustomize.as_str())),
        ]
    }

    fn helm_of(&self, version: Helm, stop: &Stop) -> Result<Found, Error> {
        let asked = once(&self.helm, || self.ask_helm(stop))?;
        asked.with_version("Helm", &self.tools.helm, version.as_str())
    }

    fn kustomize_of(&self, version: Kustomize, stop: &Stop) -> Result<Found, Error> {
        let asked = once(&self.kustomize, || self.ask_kustomize(stop))?;
        asked.with_version("Kustomize", &self.tools.kustomize, version.as_str())
    }

    fn ask_helm(&self, stop: &Stop) -> Result<Asked, Error> {
        let helm = self.find(&self.tools.helm)?;
        let said = self.ask(&helm, &["version", "--short"], stop)?;
        // v4.2.3+g43e8b7f
        let version = said.trim().split('+').next().unwrap_or_default();
        Ok(Asked::new(helm, version))
    }

    fn ask_kustomize(&self, stop: &Stop) -> Result<Asked, Error> {
        let kustomize = self.find(&self.tools.kustomize)?;
        let version = if is_kubectl(&self.tools.kustomize) {
            let mut kubectl = kustomize.clone();
            kubectl.words.pop();
            let said = self.ask(&kubectl, &["version", "--client"], stop)?;
            said.lines().find_map(|line| line.strip_prefix("Kustomize Version: ")).unwrap_or_default().trim().to_owned()
        } else {
            self.ask(&kustomize, &["version"], stop)?.trim().to_owned()
        };
        Ok(Asked::new(kustomize, &version))
    }

    fn ask(&self, tool: &Found, args: &[&str], stop: &Stop) -> Result<String, Error> {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let output = self.run(tool, args, Path::new("/"), Vec::new(), Vec::new(), stop)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Asked {
    fn new(tool: Found, said: &str) -> Self {
        Self { tool, version: said.to_owned() }
    }

    /// The tool, which must be of this version.
    fn with_version(&self, tool: &'static str, words: &[String], required: &'static str) -> Result<Found, Error> {
        let found = match self.version.as_str() {
            version if version.strip_prefix('v').unwrap_or(version) == required => return Ok(self.tool.clone()),
            "" => "of an unknown version".to_owned(),
            version => format!("version {version}"),
        };
        Err(Error::Version { command: words.join(" "), tool, required, found })
    }
}

/// No argument of a program can contain a NUL: that is a mistake of its author, not of this machine.
fn check_words<'w>(words: impl IntoIterator<Item = &'w String>, place: &Span) -> Result<(), Failure> {
    let Some(word) = words.into_iter().find(|word| word.contains('\0')) else { return Ok(()) };
    let text = format!("{word:?} contains a NUL character");
    Err(Failure::mistake(Diagnostic::error(text).at(place.clone())))
}

/// How long one argument and all of them may be, in bytes. Linux takes 128 KiB and, with the usual stack, 2 MiB.
const ARGUMENT_BYTES_MAX: usize = 120 << 10;
const ARGUMENTS_BYTES_MAX: usize = 1 << 20;

/// What the system would not take is a mistake of who wrote it too.
fn check_size(args: &[OsString], place: &Span) -> Result<(), Failure> {
    let all: usize = args.iter().map(|arg| arg.len() + 16).sum();
    if all <= ARGUMENTS_BYTES_MAX && args.iter().all(|arg| arg.len() <= ARGUMENT_BYTES_MAX) {
        return Ok(());
    }
    let text = format!(
        "a Jsonnet variable has more than {ARGUMENT_BYTES_MAX} bytes, or all of them and the paths of libraries and imports more than {ARGUMENTS_BYTES_MAX}"
    );
    Err(Failure::mistake(Diagnostic::error(text).at(place.clone()).hint("import a long text from a file")))
}

/// The tool, checked now if no one has done it before.
fn once(cell: &OnceLock<Asked>, ask: impl FnOnce() -> Result<Asked, Error>) -> Result<&Asked, Error> {
    if let Some(asked) = cell.get() {
        return Ok(asked);
    }
    let asked = ask()?;
    Ok(cell.get_or_init(|| asked))
}

/// `kubectl kustomize` and its like, which build without the subcommand `build`.
fn is_kubectl(words: &[String]) -> bool {
    words.len() > 1 && words.last().is_some_and(|word| word == "kustomize")
}

/// What a tool printed, or its complaint without the names of our directories.
///
/// Exit status 1 is how these tools say that their input is wrong; any other end is theirs or this machine's failure.
fn printed(
    output: Output,
    tool: &str,
    place: &Span,
    in_repository: impl Fn(&str) -> String,
) -> Result<Vec<u8>, Failure> {
    let Some(complaint) = output.failure() else { return Ok(output.stdout) };
    let complaint = in_repository(&complaint);
    // Kustomize warns of old fields on the same stream.
    let lines: Vec<&str> = complaint.lines().filter(|line| !line.starts_with("# Warning: ")).collect();
    let complaint = lines.join("\n");
    let complaint = complaint.strip_prefix("Error: ").or(complaint.strip_prefix("error: ")).unwrap_or(&complaint);
    if output.status.code() != Some(1) {
        let ran_out = ["memory allocation of", "out of memory", "cannot allocate memory"];
        let end = match ran_out.iter().any(|words| complaint.contains(words)) {
            true => "needs more memory than git config hydrate.memoryLimit allows",
            false => "failed",
        };
        return Err(Error::Limit(format!("{tool} {end}: {complaint}")).into());
    }
    Err(Failure::mistake(Diagnostic::error(format!("{tool}: {complaint}")).at(place.clone())))
}

/// The variables of a plugin beside those of every program.
///
/// Reference: Argo CD 3.6 reposerver/repository `generateManifestsCMP`, cmpserver/plugin `environ`.
fn plugin_environment(plugin: &Plugin, environment: &Environment) -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> =
        environment.variables().map(|(variable, value)| (variable.name().to_owned(), value.to_owned())).collect();
    variables.extend([("KUBE_VERSION".to_owned(), String::new()), ("KUBE_API_VERSIONS".to_owned(), String::new())]);
    variables
        .extend(plugin.env.iter().map(|variable| (format!("ARGOCD_ENV_{}", variable.name), variable.value.clone())));
    let text = |text: &str| Value::from(text);
    let mut all = Vec::new();
    for parameter in &plugin.parameters {
        let mut object = yaml::Mapping::from([("name".to_owned(), text(&parameter.name))]);
        let name = format!("PARAM_{}", as_variable(&parameter.name));
        if let Some(value) = &parameter.string {
            object.insert("string".to_owned(), text(value));
            variables.push((name.clone(), value.clone()));
        }
        if let Some(map) = &parameter.map {
            let entries = map.iter().map(|(key, value)| (key.clone(), text(value)));
            object.insert("map".to_owned(), Value::Mapping(entries.collect()));
            variables.extend(map.iter().map(|(key, value)| (format!("{name}_{}", as_variable(key)), value.clone())));
        }
        if let Some(array) = &parameter.array {
            object.insert("array".to_owned(), Value::Sequence(array.iter().map(|value| text(value)).collect()));
            variables.extend(array.iter().enumerate().map(|(index, value)| (format!("{name}_{index}"), value.clone())));
        }
        all.push(Value::Mapping(object));
    }
    let parameters = if all.is_empty() { Value::Null } else { Value::Sequence(all) };
    let parameters = yaml::json::encode(&parameters, yaml::json::Options::default());
    variables.push(("ARGOCD_APP_PARAMETERS".to_owned(), parameters));
    variables
}

fn as_variable(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    name.chars().map(letter).collect()
}

/// Arguments of a program.
struct Args(Vec<String>);

impl Args {
    /// One word, so that no value can be taken for an option.
    fn flag(&mut self, flag: &str, value: &str) {
        self.0.push(format!("{flag}={value}"));
    }

    fn optional(&mut self, flag: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.flag(flag, value);
        }
    }

    fn switch(&mut self, flag: &str, on: bool) {
        if on {
            self.0.push(flag.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_commands_build_by_themselves() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (command, expected) in [
            ("kustomize", false),
            ("/opt/bin/kustomize", false),
            ("kubectl kustomize", true),
            ("env X=1 oc kustomize", true),
        ] {
            assert_eq!(is_kubectl(&words(command)), expected, "{command}");
        }
    }

    #[test]
    fn names_of_parameters_as_variables() {
        for (name, expected) in [("values-files", "VALUES_FILES"), ("a.b/c", "A_B_C"), ("é1", "_1")] {
            assert_eq!(as_variable(name), expected);
        }
    }
}

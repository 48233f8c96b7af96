//! What the server may fetch by itself, and whether it can.

use super::Doctor;
use crate::argo::Patterns;
use crate::owners::platform::is_executable;
use crate::owners::policy::Policy;
use crate::owners::recorded;
use crate::repo::ObjectBuffer;
use dry_files::diag::{printable, shell_path, shell_word};
use inputs::InputsDir;

/// What begins the subsections of rules.
const PREFIX: &str = "fetch.";

/// The program that opens connections.
const PROGRAM: &str = "git-hydrate-fetch";

impl Doctor<'_> {
    /// Whether each rule `hydrate.fetch.NAME` is whole, and what is recorded by them.
    pub(super) fn fetching(&mut self) {
        let subsections = self.repository.config_subsections("hydrate").into_iter();
        let rules: Vec<String> = subsections.filter_map(|name| name.strip_prefix(PREFIX).map(str::to_owned)).collect();
        for name in &rules {
            self.fetch_rule(name);
        }
        if !rules.is_empty() {
            self.fetcher();
            self.inputs_directory();
        }
        self.recorded();
    }

    fn fetch_rule(&mut self, name: &str) {
        let rule = format!("hydrate.{PREFIX}{name}");
        let git = self.git_command();
        let list = |key: &str| self.repository.config_list(&format!("{rule}.{key}"));
        let (urls, branches) = (list("url"), list("branches"));
        let is_known = |url: &&String| ["https://", "http://", "oci://"].iter().any(|scheme| url.starts_with(scheme));
        let credentials = list("credentials").pop().map(|path| self.repository.common_dir().join(path));
        if urls.is_empty() {
            let what = format!("{rule} fetches nothing: it has no `url`");
            self.bad(what, format!("{git} config {} https://HOST/PATH", shell_word(&format!("{rule}.url"))));
        } else if branches.is_empty() || Patterns::new(&branches).is_err() {
            let what = format!("{rule} fetches nothing: `branches` has no patterns of dry branches");
            self.bad(what, format!("{git} config {} main", shell_word(&format!("{rule}.branches"))));
        } else if let Some(url) = urls.iter().find(|url| !is_known(url)) {
            let what = format!("{rule}.url is {}, which is neither https, http nor oci", printable(url));
            self.bad(what, format!("{git} config {} https://HOST/PATH", shell_word(&format!("{rule}.url"))));
        } else if let Some(file) = credentials.filter(|file| !file.is_file()) {
            let what = format!("{rule}.credentials names {}, which is not a file", shell_path(&file));
            self.bad(what, "write it as `git credential-store` does: https://NAME:PASSWORD@HOST".to_owned());
        } else {
            self.good(format!("{rule} fetches for {}", branches.join(", ")));
        }
    }

    fn fetcher(&mut self) {
        let mut dirs = std::env::split_paths(&self.around.search_path).chain([self.around.program_dir.clone()]);
        if !dirs.any(|dir| is_executable(&dir.join(PROGRAM))) {
            let what = format!("nothing can be fetched: {PROGRAM} is not installed beside git-hydrate");
            self.bad(what, "run install.sh again");
        }
    }

    fn inputs_directory(&mut self) {
        let Ok(refs) = self.repository.refs() else { return };
        let Ok(policy) = Policy::read(&refs, &ObjectBuffer::new(self.repository)) else { return };
        if *policy.plain.inputs() != InputsDir::default() {
            let what = "nothing is fetched: the setting `vendorDirectory` names another directory than .hydrate/inputs";
            self.bad(what, format!("{} hydrate config unset vendorDirectory", self.git_command()));
        }
    }

    fn recorded(&mut self) {
        let buffer = ObjectBuffer::new(self.repository);
        let recorded = self.repository.refs().and_then(|refs| recorded::recorded(&refs, &buffer));
        match recorded {
            Ok(all) if all.is_empty() => {}
            Ok(all) => {
                let withdrawn = all.iter().filter(|one| one.withdrawn.is_some()).count();
                let bytes = all.iter().fold(0_u64, |sum, one| sum.saturating_add(one.bytes));
                let count = all.len() - withdrawn;
                let inputs = if count == 1 { "1 input is".to_owned() } else { format!("{count} inputs are") };
                self.good(format!("{inputs} recorded, {} KiB in all; {withdrawn} withdrawn", bytes.div_ceil(1024)));
            }
            Err(error) => {
                let what = format!("the record of inputs cannot be read: {}", error.chain());
                let git = self.git_command();
                self.bad(what, format!("{git} reflog show refs/hydrate/inputs; {git} fsck"));
            }
        }
    }
}

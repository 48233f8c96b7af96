//! Reads all refs: by the library, or by git where the library cannot.

use super::Refs;
use crate::repo::{Doing as _, Error, Repository, object_id};

impl Repository {
    /// All refs as they are now.
    pub fn refs(&self) -> Result<Refs, Error> {
        let mut refs = Refs::read(self)?;
        if let Some(place) = &self.place {
            refs = refs.within(place);
        }
        self.assumed.iter().chain(&self.pending).for_each(|(name, new)| refs.set(name, *new));
        Ok(refs)
    }
}

impl Refs {
    fn read(repository: &Repository) -> Result<Self, Error> {
        if repository.uses_reftable() {
            return Self::read_by_git(repository);
        }
        // The library ends at the first ref that it cannot read; git goes on and names them.
        repository.with(Self::read_by_library).or_else(|_| Self::read_by_git(repository))
    }

    fn read_by_library(library: &gix::Repository) -> Result<Self, Error> {
        let mut refs =
            Self { head: library.head_name().ok().flatten().map(|name| name.to_string()), ..Self::default() };
        let platform = library.references().doing(|| "reading refs".to_owned())?;
        for reference in platform.all().doing(|| "reading refs".to_owned())? {
            let reference = reference.doing(|| "reading refs".to_owned())?;
            let name = reference.name().as_bstr().to_string();
            match reference.target() {
                gix::refs::TargetRef::Object(id) => {
                    refs.targets.insert(name, id.to_owned());
                }
                gix::refs::TargetRef::Symbolic(target) => {
                    refs.links.insert(name, target.as_bstr().to_string());
                }
            }
        }
        let linked: Vec<_> =
            refs.links.keys().filter_map(|name| Some((name.clone(), refs.get(refs.resolve(name))?))).collect();
        refs.targets.extend(linked);
        Ok(refs)
    }

    fn read_by_git(repository: &Repository) -> Result<Self, Error> {
        let git = repository.git();
        let (listing, complaints) =
            git.output_and_complaints(&["for-each-ref", "--format=%(objectname) %(refname) %(symref)"])?;
        let mut refs = Self::default();
        let broken = complaints.lines().filter_map(|line| line.split_once("ignoring broken ref "));
        refs.broken = broken.map(|(_, name)| name.trim().to_owned()).collect();
        for line in String::from_utf8_lossy(&listing).lines() {
            let mut words = line.split(' ');
            let (Some(id), Some(name)) = (words.next().and_then(object_id), words.next()) else { continue };
            refs.targets.insert(name.to_owned(), id);
            if let Some(target) = words.next().filter(|target| !target.is_empty()) {
                refs.links.insert(name.to_owned(), target.to_owned());
            }
        }
        refs.head = git
            .output(&["symbolic-ref", "--quiet", "HEAD"])
            .ok()
            .map(|name| String::from_utf8_lossy(&name).trim().to_owned());
        Ok(refs)
    }
}

//! What the program `git-hydrate-fetch` shares with this one: the words that they exchange, and how what was fetched is read.

pub use dry_files::path::RepoPath;
pub use go_std::semver::Version;
pub use go_std::url::{Part, Url, escape};

pub mod inputs {
    pub use crate::inputs::{InputFile, Key, is_exact_version};
    pub mod archive {
        pub use crate::inputs::archive::{Limits, is_deep, is_name, unpack};
    }
    pub mod index {
        pub use crate::inputs::index::{
            BYTES_MAX, Index, archive_url, choose, choose_tag, claimed, index_url, parse, releases, tag,
        };
    }
    pub mod wire {
        pub use crate::inputs::wire::{FromFetcher, Rules, ToFetcher, What, read, write};
    }
}

pub mod confine {
    pub use crate::plugin::confine::{FETCHED_FILE_BYTES_MAX, fetcher};
}

pub mod yaml {
    pub use go_yaml::{Limits, Value};
    pub mod sigs {
        pub use go_yaml::sigs::unmarshal;
    }
}

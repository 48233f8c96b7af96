//! What the program `git-hydrate-fetch` shares with this one: the words that they exchange, and how what was fetched is read.

pub use crate::go::url::{Part, Url, escape};
pub use crate::path::RepoPath;
pub use crate::template::semver::Version;

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
    pub use crate::yaml::{Limits, Value};
    pub mod sigs {
        pub use crate::yaml::sigs::unmarshal;
    }
}

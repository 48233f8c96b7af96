//! What tests, benchmarks and fuzz targets call below the command line: these items, and nothing else.
//!
//! Not an interface: anything here changes without notice. A test that can push for real needs none of it.

pub mod application {
    pub use crate::argo::{
        Application, BranchName, Context, Environment, Jsonnet, Patterns, Profile, RuleSet, Standing, read, source,
        validate,
    };
    pub mod set {
        pub use crate::argo::set::{
            Clusters, Expanded, Home, Limits, Sources, Versions, import, read_recorded, read_sets,
        };
    }
}

pub mod diag {
    pub use dry_files::diag::Diagnostic;
}

pub mod git {
    pub use crate::repo::{
        Expected, Location, Mode, NewCommit, Notes, ObjectBuffer, ObjectId, RefEdit, Repository, Signature, TreeEdit,
        update_refs,
    };
}

pub mod go {
    pub mod glob {
        pub use go_std::glob::Glob;
    }
    pub mod json {
        pub use go_std::json::{UnmarshalTypeError, find_field, format_number};
    }
    pub mod path {
        pub use go_std::path::{Pattern, clean};
    }
    pub mod regexp {
        pub use go_std::regexp::Regex;
    }
    pub mod strconv {
        pub use go_std::strconv::{
            NumberError, atoi, format_float, format_shortest, format_shortest_32, parse_float, parse_int, parse_uint,
            quote, unquote,
        };
    }
    pub mod time {
        pub use go_std::time::{Time, Zone, duration_string, parse, parse_duration};
    }
    pub mod url {
        pub use go_std::url::{Part, Url, escape, unescape};
    }
}

pub mod helm {
    pub use go_template::{Drew, SecretSeed, Seed};
    pub use helm_template::{Charts, Effects, Error, Options, refusals, render, render_kept};
}

pub mod hook {
    pub use crate::tell::hook::{Patience, post_receive};
}

pub mod hydrate {
    pub use crate::hydrate::{CommitRequest, Outcome, Report, hydrate};
    pub use crate::owners::failures::{FAILURES_REF, Failures};
    pub use crate::owners::place::Place;
    pub use crate::owners::policy::check_settings;
    pub use crate::owners::setup::{Observer, Setup, Wake};
    pub use crate::preview::{Planned, plan};
    pub mod lost_objects {
        pub use crate::hydrate::{Comparison, Side, missing_in};
    }
}

pub mod jsonnet {
    pub use crate::render::jsonnet::{closure, libraries, objects, parse_yaml};
}

pub mod kustomize {
    pub use kustomize_build::{NativeCharts, Options, build};
}

pub mod manifest {
    pub use crate::manifest::{Key, Manifest, Source, encode, read};
}

pub mod metadata {
    pub use crate::metadata::{
        Address, DryCommit, Note, Provenance, Time, Trailers, allowed_removals, note, read_note,
    };
    pub mod contract {
        pub use crate::metadata::contract::{check_metadata, check_note};
    }
}

pub mod needs {
    pub use crate::render::needs::Vendored;
}

pub mod path {
    pub use dry_files::path::RepoPath;
}

pub mod plan {
    pub use crate::discover::{Changes, Discovery};
}

pub mod plugin {
    pub use confine::{Call, Error, Limits, Output, Runner, Settings};
}

pub mod remote {
    pub use crate::remote::Address;
}

pub mod render {
    pub use crate::render::{
        Context, Error, Failure, Isolation, Limits, Machine, Rendered, Renderers, Tools, conflicts, objects,
    };
}

pub mod settings {
    pub use crate::settings::{RendererName, SettingsFiles};
}

pub mod template {
    pub use go_template::Limits;
}

pub mod versions {
    pub use crate::versions::Helm;
}

pub mod view {
    pub use dry_files::view::{DiskFiles, Files, Kind, MemoryFiles, Seen, Stop, View};
}

pub mod yaml {
    pub use go_yaml::{
        Dialect, Error, Limits, Sequences, Value, decode, emit_node, emit_nodes, emit_v2, emit_v3, from_value, parse,
        parse_first, resolve_aliases,
    };
    pub mod json {
        pub use go_yaml::json::{Options, decode, encode};
    }
    pub mod sigs {
        pub use go_yaml::sigs::{marshal, yaml_to_json};
    }
}

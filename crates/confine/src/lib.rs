//! Programs that are not ours: the official tools (`exec`) and plugins.
//!
//! The only place that starts a process. Each runs in its own process group with an empty environment, no open
//! descriptors but its output, limits on time and output, and confined by the kernel: it reads the system's
//! directories and what it is given, writes below one scratch directory, opens no socket, and ends with us.
//!
//! Confinement needs system calls between `fork` and `exec`, which safe code cannot make. So the program is started
//! through our own binary, as `git-hydrate __confine POLICY -- PROGRAM ARGS`: [`main`] restricts itself,
//! single-threaded, and then becomes the program.
//!
//! Of modes, owners and times of files a program hears that they were changed, and none is ([`calls`]), since a filter
//! does not see of which file.
//!
//! Not confined: how long a program's own reads take, the bytes of files that it has open and took away, and, on a kernel older than 6.12, signals to processes of the same
//! user.

mod calls;
mod policy;
mod restrict;
mod runner;
mod written;

pub use policy::Limits;
pub use restrict::{ARGUMENT, FETCHED_FILE_BYTES_MAX, fetcher, main, to_current_directory};
pub use runner::{Call, Error, Output, Runner, Settings};

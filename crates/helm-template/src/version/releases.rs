//! What each version of Helm is built from.
#![allow(clippy::indexing_slicing, reason = "the index is below the length")]

use super::differences::Switches;
use super::number::Number;

/// A version of Helm, and what it is built from.
pub(super) struct Release {
    /// `4.2.3`
    pub version: &'static str,
    /// The commit in full.
    pub commit: &'static str,
    /// The version of Go: `1.26.5`.
    pub go: &'static str,
    /// The minor version of Kubernetes' client library.
    pub kubernetes_minor: u8,
    /// What the version does where versions differ.
    pub switches: Switches,
}

impl Release {
    pub(super) fn number(&self) -> Number {
        parse(self.version)
    }
}

const fn release(version: &'static str, commit: &'static str, go: &'static str, kubernetes_minor: u8) -> Release {
    Release { version, commit, go, kubernetes_minor, switches: Switches::of(parse(version)) }
}

const fn parse(version: &str) -> Number {
    Number::parse(version).expect("three numbers")
}

/// All versions that charts can render as, in ascending order.
///
/// Reference: the tags of Helm; `helm version` of the official binaries for their Go, which is the newest patch of the
/// day for 3.17.4, 3.19.1 and 4.0.2, of which none was at hand; `go.mod` for the client library.
pub(super) static RELEASES: &[Release] = &[
    release("3.17.0", "301108edc7ac2a8ba79e4ebf5701b0b6ce6a31e4", "1.23.4", 32),
    release("3.17.1", "980d8ac1939e39138101364400756af2bdee1da5", "1.23.5", 32),
    release("3.17.2", "cc0bbbd6d6276b83880042c1ecb34087e84d41eb", "1.23.7", 32),
    release("3.17.3", "e4da49785aa6e6ee2b86efd5dd9e43400318262b", "1.23.7", 32),
    release("3.17.4", "595a05da6166037d0abebaa27ac8a498fa4d7ed2", "1.23.10", 32),
    release("3.18.1", "f6f8700a539c18101509434f3b59e6a21402a1b2", "1.24.3", 33),
    release("3.18.2", "04cad4610054e5d546aa5c5d9c1b1d5cf68ec1f8", "1.24.3", 33),
    release("3.18.3", "6838ebcf265a3842d1433956e8a622e3290cf324", "1.24.4", 33),
    release("3.18.4", "d80839cf37d860c8aa9a0503fe463278f26cd5e2", "1.24.4", 33),
    release("3.18.5", "b78692c18f0fb38fe5ba4571a674de067a4c53a5", "1.24.5", 33),
    release("3.18.6", "b76a950f6835474e0906b96c9ec68a2eff3a6430", "1.24.6", 33),
    release("3.19.0", "3d8990f0836691f0229297773f3524598f46bda6", "1.24.7", 34),
    release("3.19.1", "4f953c223ba21103268e0b664c64240bc69fced7", "1.24.9", 34),
    release("3.19.2", "8766e718a0119851f10ddbe4577593a45fadf544", "1.24.9", 34),
    release("3.19.3", "0707f566a3f4ced24009ef14d67fe0ce69db4be9", "1.24.10", 34),
    release("3.19.4", "7cfb6e486dac026202556836bb910c37d847793e", "1.24.11", 34),
    release("3.19.5", "4a19a5b6fb912c5c28a779e73f2e0880d9e239a4", "1.24.11", 34),
    release("3.20.0", "b2e4314fa0f229a1de7b4c981273f61d69ee5a59", "1.25.6", 35),
    release("3.20.1", "a2369ca71c0ef633bf6e4fccd66d634eb379b371", "1.25.8", 35),
    release("3.20.2", "8fb76d6ab555577e98e23b7500009537a471feee", "1.25.9", 35),
    release("3.21.0", "e0878d41b711792be60777fd65ad23a101e6b85f", "1.25.10", 35),
    release("3.21.1", "c56dd0095fd76da5d7b30ecdf506103e7f26745e", "1.26.4", 35),
    release("3.21.2", "125963406833fe0525be91f46c8b5b0f22fb9e32", "1.26.4", 36),
    release("3.21.3", "1ad6e68924fdf6fb0c7dcef8e9e1dfc0f36eaed6", "1.26.5", 36),
    release("3.21.4", "813176c51bb5c181dbbd7901298ddcc104cd3417", "1.26.5", 36),
    release("3.22.0", "144ca65f8501953fa8b41cd1d37c7223051c85b7", "1.26.8", 37),
    release("4.0.0", "99cd1964357c793351be481d55abbe21c6b2f4ec", "1.25.3", 34),
    release("4.0.1", "12500dd401faa7629f30ba5d5bff36287f3e94d3", "1.25.4", 34),
    release("4.0.2", "94659f25033af6eb43fc186c24e6c07b1091800b", "1.25.5", 34),
    release("4.0.4", "8650e1dad9e6ae38b41f60b712af9218a0d8cc11", "1.25.5", 34),
    release("4.0.5", "1b6053d48b51673c5581973f5ae7e104f627fcf5", "1.25.5", 34),
    release("4.1.0", "4553a0a96e5205595079b6757236cc6f969ed1b9", "1.25.6", 35),
    release("4.1.1", "5caf0044d4ef3d62a955440272999e139aafbbed", "1.25.7", 35),
    release("4.1.3", "c94d381b03be117e7e57908edbf642104e00eb8f", "1.25.8", 35),
    release("4.1.4", "05fa37973dc9e42b76e1d2883494c87174b6074f", "1.25.9", 35),
    release("4.2.0", "06468084e85c244c712834933d25ea232a4c2093", "1.26.3", 36),
    release("4.2.1", "d591a19b953bd9cfdf7d9ddd83c2f4ffdaeafb29", "1.26.4", 36),
    release("4.2.2", "b05881cf967a5a09e19866799d0edfd40675803a", "1.26.4", 36),
    release("4.2.3", "43e8b7feece8beb0fcba47059ec9b522fd929a64", "1.26.5", 36),
    release("4.2.4", "3900f434fd3ef2b84065dc04508df48f288dba00", "1.26.5", 36),
    release("4.3.0", "bec5b06ed841fe5269972d864d5177944fd5970f", "1.27.1", 37),
    release("4.3.1", "c0d08d0d6d9424d4a14febb5e8a3e51b0dd00dff", "1.27.2", 37),
];

/// The version of who names none.
pub(super) static DEFAULT: &Release = find("4.2.3");

const fn find(version: &str) -> &'static Release {
    let mut left: &'static [Release] = RELEASES;
    while let [release, rest @ ..] = left {
        if parse(release.version).at_most(parse(version)) && parse(version).at_most(parse(release.version)) {
            return release;
        }
        left = rest;
    }
    panic!("no such version");
}

/// The texts of all versions.
pub(super) const fn names() -> [&'static str; RELEASES.len()] {
    let mut names = [""; RELEASES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = RELEASES[at].version;
        at += 1;
    }
    names
}

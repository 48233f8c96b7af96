//! What one push may add to the repository.

use crate::push::{application, config_map, dry, note, note_of, tip};
use crate::support::Lab;

/// A text that hardly compresses.
fn noise(mut state: u32, len: usize) -> String {
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'A' + (state >> 27) as u8)
    };
    std::iter::repeat_with(next).take(len).collect()
}

#[test]
fn a_push_of_more_than_the_disk_shall_take_holds_back_the_large_ones_alone() {
    let lab = Lab::new();
    let server = lab.server();
    server.git(&["config", "hydrate.runOutputLimit", "100k"]);
    let clone = dry(&server, &["web"], &["dev"]);
    let names = ["large", "second", "third"];
    let apps = names.map(|name| application(name, name));
    let paths = names.map(|name| format!("apps/{name}/{name}/config.yaml"));
    let texts = [120_000, 70_000, 60_000].map(|len| config_map("c", &noise(len as u32, len)));
    let mut files: Vec<(&str, &str)> = apps.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    files.extend(paths.iter().zip(&texts).map(|(path, text)| (path.as_str(), text.as_str())));
    let all = clone.commit("more than the disk shall take", &files);
    let heard = clone.push().success().remote().join("\n");
    let expected = "the Applications of one run add more than 102400 bytes to the repository; git config \
                    hydrate.runOutputLimit sets the limit";
    assert!(heard.contains(expected), "{heard}");
    assert!(heard.contains("applications/large/large.yaml"), "it names who is held back: {heard}");
    assert_eq!(note(&server, "environments/dev"), note_of(&all), "one that is small goes in: {heard}");
    assert!(server.git(&["branch", "--list", "environments/large"]).is_empty(), "{heard}");
    let made = ["second", "third"]
        .iter()
        .filter(|name| !server.git(&["branch", "--list", &format!("environments/{name}")]).is_empty());
    assert_eq!(made.count(), 1, "there is room for one of them: {heard}");

    // What is in counts no more, so the next push has room for the other one, and one that needs too much alone stays out.
    let next = clone.commit("an edit", &[("apps/web/dev/config.yaml", &config_map("web", "two"))]);
    let heard = clone.push().success().remote().join("\n");
    for name in ["environments/second", "environments/third", "environments/dev"] {
        assert_eq!(note(&server, name), note_of(&next), "{heard}");
    }
    assert!(heard.contains(expected) && heard.contains("applications/large/large.yaml"), "{heard}");

    server.git(&["config", "hydrate.runOutputLimit", "0"]);
    server.hydrate(&["catch-up"]).success();
    assert_eq!(note(&server, "environments/large"), note_of(&tip(&server, "main")));
}

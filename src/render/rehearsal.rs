//! Renders that fail as a test wants it.

/// Fails as a test wants it, in ways that no limit of an engine notices.
pub(super) fn rehearse(what: Option<&String>) {
    match what.map(String::as_str) {
        Some("allocate") => {
            let mut all = Vec::new();
            loop {
                all.push(vec![1_u8; 16 << 20]);
            }
        }
        Some("abort") => std::process::abort(),
        Some("overflow") => drop(std::hint::black_box(nest(u64::MAX))),
        // Without a processor, which other tests need.
        Some("hang") => loop {
            std::thread::park();
        },
        Some("kill") => {
            let me = rustix::process::getpid();
            let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
        }
        _ => {}
    }
}

fn nest(left: u64) -> u64 {
    let room = std::hint::black_box([left; 512]);
    if left == 0 { 0 } else { nest(left - 1) + room[0] }
}

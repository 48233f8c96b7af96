//! The order of moves, and whose they are.

use super::*;

fn caller(name: &str) -> Caller {
    serde_json::from_value(serde_json::json!({ "GITEA_PUSHER_NAME": name })).expect("variables")
}

fn id(digit: u32) -> String {
    digit.to_string().repeat(40)
}

/// A move of a branch to the commit `new`, of a process and a pusher.
fn part(name: &str, new: u32, hook: Option<&str>, pusher: Option<&str>) -> Part {
    let (caller, hook) = (pusher.map(caller), hook.map(str::to_owned));
    Part { name: name.to_owned(), new: id(new), hook, caller, ..Part::default() }
}

fn queue(parts: impl IntoIterator<Item = Part>) -> Queue {
    let mut queue = Queue::default();
    parts.into_iter().for_each(|part| queue.push(part));
    queue
}

fn news(parts: &[Part]) -> Vec<String> {
    parts.iter().map(|part| format!("{} {}", part.name, &part.new[..1])).collect()
}

#[test]
fn moves_of_a_branch_start_in_order_and_overlap() {
    let mut queue = queue([
        part("dev", 1, Some("a"), Some("dana")),
        part("dev", 2, Some("b"), Some("bob")),
        part("prod", 3, Some("b"), Some("bob")),
    ]);
    assert_eq!(news(&queue.start("b", 30)), ["prod 3"], "what comes before has not started");
    let first = queue.start("a", 30);
    assert_eq!(news(&first), ["dev 1"]);
    let second = queue.start("b", 30);
    assert_eq!(news(&second), ["dev 2"], "the one before runs still");
    let mut known = Known::default();
    queue.finish(&second, true);
    queue.settle(&mut known);
    assert_eq!(known.get("dev"), None);
    queue.finish(&first, true);
    queue.settle(&mut known);
    assert_eq!(known.get("dev"), object_id(&id(2)));
}

#[test]
fn different_names_are_never_joined() {
    let mut queue = queue([
        part("dev", 1, None, Some("dana")),
        part("prod", 2, None, Some("bob")),
        part("test", 3, None, Some("dana")),
        part("test", 4, None, None),
    ]);
    let fallback = caller("bot");
    let mut left = || queue.start_left("me", 30, (Some(&fallback), 0), &[]);
    let expected = [("dana", vec!["dev 1", "test 3"]), ("bob", vec!["prod 2"]), ("bot", vec!["test 4"])];
    for (name, parts) in expected {
        let Left::Tell(started, of) = left() else { panic!("{name}") };
        assert_eq!((news(&started), of), (parts.iter().map(|part| (*part).to_owned()).collect(), caller(name)));
    }
    assert_eq!(left(), Left::Nothing);
}

#[test]
fn a_pusher_on_his_way_is_waited_for_and_then_not() {
    let unknown = Part { until: 10, ..part("dev", 1, None, None) };
    let start = |now| queue([unknown.clone()]).start_left("me", 30, (Some(&caller("bot")), now), &[]);
    assert_eq!(start(9), Left::Wait);
    assert!(matches!(start(10), Left::Tell(..)));
    assert_eq!(queue([unknown.clone()]).start_left("me", 30, (None, 10), &[]), Left::Nothing, "nobody to name");
    let mut queue = queue([unknown]);
    queue.claim("his", Some(&caller("bob")), |_| true);
    assert_eq!(news(&queue.start("his", 30)), ["dev 1"]);
}

#[test]
fn what_a_dead_process_leaves_keeps_its_name() {
    let mut queue = queue([part("dev", 1, Some("a"), Some("dana")), part("dev", 2, Some("b"), Some("bob"))]);
    queue.start("a", 30);
    queue.leave_of_dead(|hook| hook != "a");
    assert_eq!(queue.start("b", 30), [], "it waits for what comes before");
    let Left::Tell(started, of) = queue.start_left("me", 30, (None, 0), &[]) else { panic!() };
    assert_eq!((news(&started), of), (vec!["dev 1".to_owned()], caller("dana")));
    assert_eq!(news(&queue.start("b", 30)), ["dev 2"]);
}

#[test]
fn what_fails_is_tried_again_before_what_follows_and_not_for_ever() {
    let mut queue = queue([part("dev", 1, None, Some("dana")), part("dev", 2, None, Some("bob"))]);
    for round in 1..=3 {
        let Left::Tell(started, _) = queue.start_left("me", 30, (None, 0), &[]) else { panic!("{round}") };
        assert_eq!(news(&started), ["dev 1"]);
        queue.finish(&started, false);
    }
    let Left::Tell(started, of) = queue.start_left("me", 30, (None, 0), &[]) else { panic!("given up") };
    assert_eq!((news(&started), of), (vec!["dev 2".to_owned()], caller("bob")));
}

#[test]
fn what_came_after_a_failure_is_told_once_more() {
    let mut queue = queue([part("dev", 1, Some("a"), Some("dana")), part("dev", 2, Some("b"), Some("bob"))]);
    let (first, second) = (queue.start("a", 30), queue.start("b", 30));
    queue.finish(&second, true);
    queue.finish(&first, false);
    queue.settle(&mut Known::default());
    let Left::Tell(again, _) = queue.start_left("me", 30, (None, 0), &[]) else { panic!() };
    assert_eq!(news(&again), ["dev 1"]);
    queue.finish(&again, true);
    let Left::Tell(again, _) = queue.start_left("me", 30, (None, 0), &[]) else { panic!() };
    assert_eq!(news(&again), ["dev 2"]);
}

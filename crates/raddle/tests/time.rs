//! `--time` bounds every phase of a check, and the report says which of them it ended.

mod common;

use std::time::{Duration, Instant};

use common::{exit, fresh_dir, raddle, root, say};

const TIME: Duration = Duration::from_secs(5);

/// A check ends within this share of its time besides,
const SHARE_MORE: u32 = 10;

/// and so much more, because other tests run beside it.
const SLACK: Duration = Duration::from_secs(2);

#[test]
fn a_check_ends_when_its_time_is_over() {
    let dir = fresh_dir("time");
    let binary = dir.join("scaling");
    let mut cc = raddle(["cc", "-O1", "-g", "-pthread", "-o"]);
    let built = say(cc.arg(&binary).arg(root().join("scripts/bench/scaling.c")));
    assert_eq!(built.code, Some(0), "{}", built.all());
    // While it records, while it reads, while it predicts or tries, and while it makes further runs.
    let unread = &["the time was over before the undisturbed run was looked through"][..];
    let cases = [
        ("100000000", unread),
        ("300000", unread),
        (
            "30000",
            &["for want of time", "the time for further ones was over"],
        ),
        (
            "4000",
            &["for want of time", "the time for further ones was over"],
        ),
    ];
    for (rounds, notes) in cases {
        let mut command = raddle(["check", "--quiet", "--timeout", "1000", "--time"]);
        command.arg(TIME.as_secs().to_string());
        command.arg("--out").arg(dir.join("out")).arg("--");
        let start = Instant::now();
        let said = say(command.arg(&binary).args(["4", "16", rounds, "8", "2"]));
        let took = start.elapsed();
        let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            took < TIME + TIME / SHARE_MORE + SLACK,
            "{rounds} rounds took {took:?}: {text}"
        );
        assert!(
            matches!(said.code, Some(exit::CLEAN | exit::FOUND)),
            "{}",
            said.all()
        );
        assert!(notes.iter().any(|it| text.contains(it)), "{}", said.all());
    }
}

/// Each of many buckets has a lock of its own, under which a counter is read that all threads share, while they pass a token
/// from one to the next: the counter is accessed under as many sets of locks as there are buckets, and between as many
/// communications as there are rounds.
const BUCKETS: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
enum { THREADS = 4, BUCKETS = 8192 };
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER, buckets[BUCKETS];
static sem_t turns[THREADS];
static long total;
static int rounds;
static void *work(void *argument) {
    long me = (long)argument;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&buckets[(i * THREADS + me) % BUCKETS]);
        pthread_mutex_lock(&all);
        total++;
        pthread_mutex_unlock(&all);
        pthread_mutex_unlock(&buckets[(i * THREADS + me) % BUCKETS]);
        sem_post(&turns[(me + 1) % THREADS]);
        sem_wait(&turns[me]);
    }
    return argument;
}
int main(int count, char **words) {
    rounds = atoi(words[1]);
    pthread_t threads[THREADS];
    for (int i = 0; i < BUCKETS; i++) pthread_mutex_init(&buckets[i], NULL);
    for (long i = 0; i < THREADS; i++) sem_init(&turns[i], 0, 0);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return count != 2 || total != (long)THREADS * rounds;
}
"#;

/// Patterns are searched for in time, too, where locks and communications are many.
#[test]
fn a_search_for_patterns_ends_when_the_time_is_over() {
    let dir = fresh_dir("time-patterns");
    let (source, binary) = (dir.join("buckets.c"), dir.join("buckets"));
    std::fs::write(&source, BUCKETS).unwrap();
    let mut cc = raddle(["cc", "-O1", "-g", "-pthread", "-o"]);
    let built = say(cc.arg(&binary).arg(&source));
    assert_eq!(built.code, Some(0), "{}", built.all());
    let mut command = raddle(["check", "--quiet", "--runs", "1", "--time"]);
    command.arg(TIME.as_secs().to_string());
    command.arg("--out").arg(dir.join("out")).arg("--");
    let start = Instant::now();
    let said = say(command.arg(&binary).arg("20000"));
    let took = start.elapsed();
    assert!(
        took < TIME + TIME / SHARE_MORE + SLACK,
        "{took:?}: {}",
        said.all()
    );
    assert_eq!(said.code, Some(exit::CLEAN), "{}", said.all());
}

// Lazy initialisation four ways: OnceLock with get_or_init, a LazyLock, a Once that looks whether an attempt before it
// has failed, and a cell that the first of several threads fills by `set`.
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

static MADE: AtomicU32 = AtomicU32::new(0);

static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    MADE.fetch_add(1, Ordering::Relaxed);
    "the quick brown fox".split(' ').collect()
});

struct Dictionary {
    longest: OnceLock<&'static str>,
    first_reader: OnceLock<usize>,
    checked: Once,
    attempts: AtomicU32,
}

impl Dictionary {
    const fn new() -> Self {
        Self {
            longest: OnceLock::new(),
            first_reader: OnceLock::new(),
            checked: Once::new(),
            attempts: AtomicU32::new(0),
        }
    }

    fn longest(&self) -> &'static str {
        self.longest.get_or_init(|| {
            MADE.fetch_add(1, Ordering::Relaxed);
            WORDS.iter().max_by_key(|word| word.len()).unwrap()
        })
    }

    /// Whichever thread comes first leaves its number.
    fn claim(&self, reader: usize) -> bool {
        self.first_reader.set(reader).is_ok()
    }

    fn check(&self) {
        self.checked.call_once_force(|state| {
            self.attempts.fetch_add(1, Ordering::Relaxed);
            assert_eq!(state.is_poisoned(), self.attempts.load(Ordering::Relaxed) > 1);
        });
    }
}

static DICTIONARY: Dictionary = Dictionary::new();

fn main() {
    let readers: Vec<_> = (0..3)
        .map(|number| {
            thread::spawn(move || {
                let is_first = DICTIONARY.claim(number);
                assert_eq!(DICTIONARY.longest().len(), 5);
                assert!(WORDS.contains(&DICTIONARY.longest()));
                DICTIONARY.check();
                assert!(DICTIONARY.checked.is_completed());
                is_first.then_some(number)
            })
        })
        .collect();
    let first: Vec<_> = readers.into_iter().filter_map(|it| it.join().unwrap()).collect();
    assert_eq!(first.len(), 1);
    assert_eq!(DICTIONARY.first_reader.get(), first.first());
    assert_eq!(MADE.load(Ordering::Relaxed), 2);
    assert_eq!(DICTIONARY.attempts.load(Ordering::Relaxed), 1);
    println!("reader {} was first", first[0]);
}

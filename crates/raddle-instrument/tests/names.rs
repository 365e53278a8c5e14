//! What the memory that a program accesses is called: each program writes numbers, and each number has its name.

mod common;

use common::{Kind, Run, Workbench};

/// Holds the names of what these numbers are written to against what they should be.
#[track_caller]
fn check(run: &Run, expected: &[(u64, &str)]) {
    let events = run.events();
    let name = |number: u64| {
        let is_write = |kind| matches!(kind, Kind::Write | Kind::AtomicStore);
        let write = events
            .iter()
            .find(|it| is_write(it.kind) && it.value == number);
        write.map_or("not written", |it| it.name.as_str())
    };
    let found: Vec<(u64, &str)> = expected.iter().map(|it| (it.0, name(it.0))).collect();
    assert_eq!(found, expected);
}

/// Holds the types whose members these numbers are written to against what they should be.
#[track_caller]
fn check_owners(run: &Run, expected: &[(u64, &str)]) {
    let events = run.events();
    for (number, owner) in expected {
        let write = events.iter().find(|it| it.value == *number);
        assert_eq!(write.map(|it| it.owner.as_str()), Some(*owner), "{number}");
    }
}

#[test]
fn c_members_elements_and_pointers() {
    let run = Workbench::with_level("source").c(
        "members",
        r#"
        #include <stdlib.h>
        struct node { struct node *next; int count; };
        typedef struct {
            int futex; struct { short low, high; } pair; union { int number; float real; } either;
            union { int first; int second; }; int slots[4]; struct node *head; struct node inner; int bits : 3, more : 5;
        } data;
        data table[3], global; int grid[3][4]; int *numbers;
        static void work(void *argument, int at, int **indirect) {
            data *it = argument;
            it->futex = 1001; it->pair.high = 1002; it->either.number = 1003; it->first = 1004;
            it->slots[2] = 1005; it->slots[at] = 1006;
            it->head->count = 1007; it->head->next->count = 1008; it->inner.count = 1009;
            table[at].slots[at] = 1010; table[1].slots[3] = 1011; global.pair.low = 1012;
            grid[at][2] = 1013; *numbers = 1014; numbers[at] = 1015; numbers[2] = 1016;
            **indirect = 1017; (*indirect)[at] = 1018;
            struct node *nodes = malloc(4 * sizeof *nodes); nodes[at].count = 1019; nodes[2].count = 1020;
        }
        int main(int count, char **arguments) {
            struct node second = {0, 0}, first = {&second, 0}; data local = {0}; int some[4];
            local.head = &first; numbers = some; void (*volatile call)(void *, int, int **) = work;
            call(&local, count, &numbers);
            return 0;
        }
        "#,
    );
    let expected = [
        (1001, "it->futex"),
        (1002, "it->pair.high"),
        // Which member of a union is meant is not known.
        (1003, "it->either"),
        (1004, "*it"),
        (1005, "it->slots[2]"),
        (1006, "it->slots[]"),
        (1007, "it->head->count"),
        (1008, "it->head->next->count"),
        (1009, "it->inner.count"),
        (1010, "table[].slots[]"),
        (1011, "table[1].slots[3]"),
        (1012, "global.pair.low"),
        (1013, "grid[][]"),
        (1014, "*numbers"),
        (1015, "numbers[]"),
        (1016, "numbers[2]"),
        (1017, "**indirect"),
        (1018, "(*indirect)[]"),
        (1019, "nodes[].count"),
        (1020, "nodes[2].count"),
    ];
    check(&run, &expected);
    check_owners(
        &run,
        &[(1001, "data"), (1007, "node"), (1012, ""), (1014, "")],
    );
}

#[test]
fn what_is_copied_as_a_whole_has_the_name_of_the_whole() {
    let run = Workbench::with_level("source").c(
        "whole",
        r#"
        #include <string.h>
        struct pair { long one, other, third; } from, to; struct { int number; struct pair pair; } outer;
        int main(void) { to = from; memset(&outer.pair, 0, sizeof outer.pair); return 0; }
        "#,
    );
    let events = run.events();
    let is_range = |kind| matches!(kind, Kind::RangeRead | Kind::RangeWrite);
    let ranges = events.iter().filter(|it| is_range(it.kind));
    let names: Vec<&str> = ranges.map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["from", "to", "outer.pair"]);
}

#[test]
fn cpp_classes_references_lambdas_and_containers() {
    let run = Workbench::with_level("source").cpp(
        "classes",
        r#"
        #include <atomic>
        #include <memory>
        #include <vector>
        struct Base { int id; static int total; }; int Base::total;
        struct Account : Base {
            std::atomic<int> state; long balance; void set() { balance = 1001; id = 1002; state = 1003; total = 1004; }
        };
        struct Bank { std::vector<Base> accounts; std::unique_ptr<Account> own; std::shared_ptr<Account> shared; };
        __attribute__((noinline)) void work(Bank &bank, Account *account, int at) {
            account->set(); account->balance = 1005; bank.accounts[at].id = 1006; bank.own->balance = 1007;
            bank.shared->balance = 1008; bank.own->state.store(1009);
            auto lambda = [&bank, account, at] { bank.own->balance = 1010; account->balance = 1011; };
            lambda();
        }
        int main(int count, char **arguments) {
            Bank bank; bank.accounts.resize(3); bank.own = std::make_unique<Account>();
            bank.shared = std::make_shared<Account>(); work(bank, new Account, count);
        }
        "#,
    );
    let expected = [
        (1001, "this->balance"),
        (1002, "this->id"),
        (1003, "this->state"),
        (1004, "total"),
        (1005, "account->balance"),
        (1006, "bank.accounts[].id"),
        (1007, "bank.own.balance"),
        (1008, "bank.shared.balance"),
        (1009, "bank.own.state"),
        (1010, "bank.own.balance"),
        (1011, "account->balance"),
    ];
    check(&run, &expected);
    check_owners(
        &run,
        &[
            (1001, "Account"),
            (1002, "Base"),
            (1004, ""),
            (1006, "Base"),
        ],
    );
}

#[test]
fn rust_fields_collections_atomics_and_captures() {
    let run = Workbench::with_level("source").rust(
        "fields",
        r#"
        use std::cell::UnsafeCell;
        use std::sync::atomic::{AtomicU64, Ordering::Release};
        use std::sync::{Arc, Mutex};
        struct Slot { full: AtomicU64, value: UnsafeCell<u64> }
        struct Inner { count: u64 }
        struct Queue { head: AtomicU64, slots: Vec<Slot>, inner: Mutex<Inner>, ring: [AtomicU64; 4], pair: (u64, u64) }
        static mut GLOBAL: (u64, [u64; 3]) = (0, [0; 3]);
        static COUNT: AtomicU64 = AtomicU64::new(0);
        struct Raw(*mut u64);
        impl Queue {
            #[inline(never)]
            fn push(&self, at: usize) {
                let slot = &self.slots[at];
                unsafe { *slot.value.get() = 1001 };
                slot.full.store(1002, Release);
                self.head.store(1003, Release);
                self.ring[2].store(1004, Release);
                self.ring[at].store(1005, Release);
                self.inner.lock().unwrap().count = 1006;
                unsafe { *self.slots[at].value.get() = 1007 };
            }
        }
        #[inline(never)]
        fn call(work: &mut dyn FnMut()) { work() }
        #[inline(never)]
        fn set(it: &mut Queue, number: &mut u64, shared: &AtomicU64) {
            it.pair.1 = 1008; *number = 1009; shared.store(1010, Release);
        }
        fn main() {
            let mut queue = Queue {
                head: AtomicU64::new(0),
                slots: (0..3).map(|_| Slot { full: AtomicU64::new(0), value: UnsafeCell::new(0) }).collect(),
                inner: Mutex::new(Inner { count: 0 }), ring: Default::default(), pair: (0, 0),
            };
            let mut number = 0;
            let shared = Arc::new((AtomicU64::new(0), Mutex::new(0u64)));
            queue.push(std::env::args().count());
            set(&mut queue, &mut number, &shared.0);
            let raw = Raw(&mut number);
            let again = shared.clone();
            let mut total = Box::new([0u64; 2]);
            call(&mut || { total[1] = 1011; again.0.store(1012, Release); *again.1.lock().unwrap() = 1013; });
            unsafe { *raw.0 = 1014; GLOBAL.0 = 1015; GLOBAL.1[2] = 1016; }
            COUNT.store(1017, Release);
            std::hint::black_box((&queue, &total));
        }
        "#,
    );
    let expected = [
        (1001, "slot.value"),
        (1002, "slot.full"),
        (1003, "self.head"),
        (1004, "self.ring[2]"),
        (1005, "self.ring[]"),
        (1006, "self.inner.count"),
        (1007, "self.slots[].value"),
        (1008, "it.pair.1"),
        (1009, "*number"),
        (1010, "shared"),
        (1011, "total[1]"),
        (1012, "again.0"),
        (1013, "again.1"),
        (1014, "number"),
        (1015, "GLOBAL.0"),
        (1016, "GLOBAL.1[2]"),
        (1017, "COUNT"),
    ];
    check(&run, &expected);
    let owners = [
        (1001, "Slot"),
        (1003, "Queue"),
        (1006, "Inner"),
        (1009, ""),
        (1017, ""),
    ];
    check_owners(&run, &owners);
}

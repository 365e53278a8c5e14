//! The first thing that is wrong with a witness, in a sentence.

use raddle_trace::ids::{EventIndex, ThreadId};

use crate::EventName;

/// Why a witness is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentences say what the fields are")]
#[non_exhaustive]
pub enum Objection {
    // The order.
    #[error("the witness names event {index}, and the trace has {events} events")]
    NoSuchEvent { index: EventIndex, events: usize },
    #[error("{event} is in the order twice")]
    Twice { event: EventName },
    #[error("{event} comes before {earlier}, which its thread executed first")]
    ProgramOrder {
        event: EventName,
        earlier: EventName,
    },
    #[error("{event} is in the order without {missing}, which its thread executes before it")]
    Gap {
        event: EventName,
        missing: EventName,
    },

    // Threads.
    #[error("{event} comes before its thread is created by {fork}")]
    NotCreated { event: EventName, fork: EventName },
    #[error("{event} comes before the end of {thread}")]
    NotEnded { event: EventName, thread: String },

    // Synchronisation.
    #[error("{event} is impossible while {holder} holds the lock since {since}")]
    LockHeld {
        event: EventName,
        holder: String,
        since: EventName,
    },
    #[error("{event} gives back a lock that its thread does not hold")]
    NotHeld { event: EventName },
    #[error("{event} did not get what it asked for in the trace, and would get it here")]
    TrySucceeds { event: EventName },
    #[error("{event} is the end of a wait that has not begun")]
    NotWaiting { event: EventName },
    #[error("{event} comes before a notification that could wake its thread")]
    NotNotified { event: EventName },
    #[error("{event} ends by itself, and every waiter has been woken by then")]
    WokenInstead { event: EventName },
    #[error("{event} woke another number of threads in the trace: here {now} are waiting")]
    OtherCountWoken { event: EventName, now: u64 },
    #[error("{event} takes from a semaphore that has none")]
    SemaphoreEmpty { event: EventName },
    #[error("{event} comes before {missing}, which its round of the barrier waits for")]
    BarrierIncomplete {
        event: EventName,
        missing: EventName,
    },
    #[error("{event} begins an initialiser that {thread} is still running")]
    OnceRuns { event: EventName, thread: String },
    #[error("{event} begins an initialiser that has been done")]
    OnceDoneAlready { event: EventName },
    #[error("{event} needs an initialiser that has not been run to its end")]
    OnceNotDone { event: EventName },
    #[error("{event} uses an object after {destroy}")]
    Destroyed {
        event: EventName,
        destroy: EventName,
    },
    #[error("{event} uses an object that exists only after {destroy} of the one before it")]
    NotYetMade {
        event: EventName,
        destroy: EventName,
    },
    #[error(
        "{event} is one that no rule explains, so {other}, which came after it in the trace, may not \
         come before it"
    )]
    Unexplained { event: EventName, other: EventName },
    #[error(
        "{event} is one that no rule explains, and {thread} has not come as far as in the trace"
    )]
    UnexplainedEarly { event: EventName, thread: String },

    // The heap.
    #[error("{event} touches memory before {alloc}")]
    NotAllocated { event: EventName, alloc: EventName },
    #[error("{event} touches memory after {free}")]
    Freed { event: EventName, free: String },
    #[error("{event} gives out memory that is in use since {alloc}")]
    AddressInUse { event: EventName, alloc: EventName },

    // Reads.
    #[error("{event} takes a value from {now}, and in the trace from {recorded}")]
    OtherWrite {
        event: EventName,
        recorded: String,
        now: String,
    },
    #[error("{event} would read {now:#x}")]
    OtherValue { event: EventName, now: u64 },
    #[error("{event} would read bytes of {from}, whose values the trace does not show")]
    UnknownValue { event: EventName, from: String },
    #[error("{event} would read other bytes of {from}")]
    OtherRange { event: EventName, from: String },
    #[error(
        "{event} shows a write that was not recorded, and {thread}, who may have done it, has not \
         come as far as in the trace"
    )]
    UnseenWrite { event: EventName, thread: String },
    #[error("{event} would find the word to be {now:#x}, and was answered otherwise in the trace")]
    FutexWord { event: EventName, now: u64 },
    #[error("the trace has no values: only the rule that reads take the same writes can be used")]
    NoValues,

    // Execution on the model.
    #[error("{event} reads another value, and without a program model nobody knows what follows")]
    NoModel { event: EventName },
    #[error("{thread} reads another value at {event}, and cannot be followed on the model: {why}")]
    Lost {
        thread: String,
        event: EventName,
        why: String,
    },
    #[error("{thread} goes the other way at branch {branch} ({position}), before {event}")]
    BranchDiffers {
        thread: String,
        branch: u64,
        position: String,
        event: EventName,
    },
    #[error("{thread} goes another way at a switch ({position}), before {event}")]
    SwitchDiffers {
        thread: String,
        position: String,
        event: EventName,
    },
    #[error("{event} would go to {now:#x}")]
    AddressDiffers { event: EventName, now: u64 },
    #[error("{event} would {now}, unlike in the trace")]
    OutcomeDiffers { event: EventName, now: &'static str },
    #[error("{event} depends on a value that cannot be computed: {why}")]
    Undecided { event: EventName, why: String },

    // The claim.
    #[error("{event} is not the next event of its thread: the witness ends {where_it_ends}")]
    NotNext {
        event: EventName,
        where_it_ends: String,
    },
    #[error("{event} is not in the order")]
    NotInOrder { event: EventName },
    #[error("{a} and {b} are of one thread")]
    SameThread { a: EventName, b: EventName },
    #[error("{event} is not such an access to memory")]
    NotAnAccess { event: EventName },
    #[error("{a} and {b} touch no byte in common")]
    NoOverlap { a: EventName, b: EventName },
    #[error("{a} and {b} only read")]
    BothRead { a: EventName, b: EventName },
    #[error("{a} and {b} are atomic operations")]
    BothAtomic { a: EventName, b: EventName },
    #[error("{first} comes after {second} in the order")]
    OtherOrder { first: EventName, second: EventName },
    #[error("{first} and {last} do not bound a region: {why}")]
    NotARegion {
        first: EventName,
        last: EventName,
        why: &'static str,
    },
    #[error("the accesses are serialisable: no cycle of conflicts joins their regions")]
    Serialisable,
    #[error("a cycle of {0} events is no deadlock")]
    ShortCycle(usize),
    #[error("{event} waits for nobody")]
    NotBlocking { event: EventName },
    #[error("{event} does not wait for {thread}")]
    NotWaitingFor { event: EventName, thread: String },
    #[error("{event} frees nothing")]
    NotAFree { event: EventName },
    #[error("{event} does not touch what {free} freed")]
    NotFreedThere { event: EventName, free: EventName },
    #[error("{event} finds its memory allocated")]
    StillAllocated { event: EventName },
    #[error("{event} read no pointer in the trace")]
    NoPointer { event: EventName },
    #[error("{event} would not read null")]
    NotNull { event: EventName },
    #[error("{access} does not follow the pointer that {read} read")]
    NotThrough { access: EventName, read: EventName },
    #[error("{event} would read what {by} wrote")]
    Initialised { event: EventName, by: String },
    #[error("{event} reads uninitialised memory in the trace too")]
    AlwaysUninitialised { event: EventName },
    #[error("{0} executes nothing in the trace")]
    NoSuchThread(ThreadId),
    #[error("{thread} takes branch {branch} as in the trace")]
    SameBranch { thread: String, branch: u64 },
    #[error(
        "branch {branch} of {thread} does not come between its last executed event and its next"
    )]
    BranchElsewhere { thread: String, branch: u64 },
}

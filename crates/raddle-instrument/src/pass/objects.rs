//! Calls by whose argument a lock, or memory that is freed, is known by name.
//!
//! The runtime stands in for these functions; what it records of a call is an address. A wait for a condition variable
//! names two objects, and has no row: other calls name them.

/// Functions with their first argument, and the bytes of what it points to in glibc on x86-64; none where the type says
/// it.
const OBJECTS: &[(&[&str], Option<u64>)] = &[
    (
        &[
            "pthread_mutex_lock",
            "pthread_mutex_trylock",
            "pthread_mutex_timedlock",
            "pthread_mutex_clocklock",
            "pthread_mutex_unlock",
            "mtx_lock",
            "mtx_trylock",
            "mtx_timedlock",
            "mtx_unlock",
        ],
        Some(40),
    ),
    (
        &[
            "pthread_rwlock_rdlock",
            "pthread_rwlock_wrlock",
            "pthread_rwlock_tryrdlock",
            "pthread_rwlock_trywrlock",
            "pthread_rwlock_timedrdlock",
            "pthread_rwlock_timedwrlock",
            "pthread_rwlock_clockrdlock",
            "pthread_rwlock_clockwrlock",
            "pthread_rwlock_unlock",
        ],
        Some(56),
    ),
    (
        &[
            "pthread_spin_lock",
            "pthread_spin_trylock",
            "pthread_spin_unlock",
        ],
        Some(4),
    ),
    (
        &[
            "pthread_cond_signal",
            "pthread_cond_broadcast",
            "cnd_signal",
            "cnd_broadcast",
        ],
        Some(48),
    ),
    (
        &[
            "pthread_barrier_wait",
            "sem_wait",
            "sem_trywait",
            "sem_timedwait",
            "sem_clockwait",
            "sem_post",
        ],
        Some(32),
    ),
    (&["free"], None),
];

/// How many bytes an object takes that a function is given by its first argument, if they are known; none if the
/// function has no row.
pub(super) fn object_size(function: &str) -> Option<Option<u64>> {
    let mut rows = OBJECTS.iter();
    let row = rows.find(|(functions, _)| functions.contains(&function));
    row.map(|(_, size)| *size)
}

//! Functions outside the traced code of which it is known what they mean to other threads.
//!
//! Those that the runtime stands in for leave marks of their own. Most of the C library computes, or keeps what it
//! shares behind locks of its own that no program may rely on. What is not listed may do anything.

use super::frames::unknown;

/// Beginnings of names whose functions order nothing, or leave marks.
const PREFIXES: &str = "
    pthread_ sem_ thrd_ mtx_ cnd_ tss_ call_once __cxa_ __raddle_
    _Unwind_ __gxx_ __gcc_ __clang_ __rust __mul __div __udiv __umod __mod __fix __float __add __sub __extend
    __trunc __pow __ubsan_ __stack_chk_
    _ZNSt _ZNKSt _ZSt _ZNSo _ZNSi _ZNSs _ZNSa _Zn _Zd _ZTv0_n _ZN9__gnu_cxx
    _ZN3std _ZN4core _ZN5alloc _ZN6memchr _ZN9hashbrown _RNv _RIN
    __ctype_ __isoc99_ss __isoc23_ss __isoc99_vs __isoc23_vs __isoc23_strto
";

/// Functions that order nothing, or leave marks.
const HARMLESS: &str = "
    memcpy mempcpy memmove memset memcmp memchr memrchr rawmemchr memmem __memcpy_chk __memmove_chk
    __memset_chk __mempcpy_chk strlen strnlen strcmp strncmp strcasecmp strncasecmp strcoll strxfrm strcpy
    strncpy stpcpy stpncpy strlcpy strlcat strcat strncat strchr strchrnul strrchr strstr strcasestr strpbrk
    strspn strcspn strtok strtok_r strsep strdup strndup strerror strerror_r strsignal strtol strtoul strtoll
    strtoull strtod strtof strtold strtoimax strtoumax strftime strptime __strcpy_chk __strncpy_chk
    __strcat_chk __strncat_chk isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace
    isupper isxdigit isatty toascii tolower toupper wcslen wcscmp wcscpy wcschr wmemcpy wmemset wmemchr
    wmemcmp mbstowcs wcstombs mbrtowc wcrtomb __isnan __isinf __finite rust_begin_unwind rust_eh_personality
    rust_panic
    malloc calloc realloc reallocarray free aligned_alloc posix_memalign valloc memalign malloc_usable_size
    bcmp bcopy bzero explicit_bzero
    abs labs llabs div ldiv lldiv atoi atol atoll atof rand srand rand_r random srandom drand48 lrand48
    mrand48 erand48 qsort qsort_r bsearch lfind ffs ffsl ffsll getrandom getentropy
    acos asin atan atan2 ceil cos cosh exp exp2 expm1 fabs floor fmod fmax fmin frexp hypot ldexp lgamma log
    log10 log1p log2 lrint lround llrint llround modf nearbyint pow remainder rint round sin sinh sincos sqrt
    cbrt tan tanh tgamma trunc erf erfc nan copysign scalbn fma fdim
    time clock clock_gettime clock_getres gettimeofday nanosleep clock_nanosleep usleep sleep sched_yield
    difftime mktime gmtime gmtime_r localtime localtime_r asctime ctime getpid getppid gettid getuid geteuid
    getgid getegid getenv secure_getenv sysconf getpagesize get_nprocs sched_getcpu sched_getaffinity
    sched_setaffinity getauxval gnu_get_libc_version uname getrlimit setrlimit getrusage prctl
    __errno_location perror __assert_fail __assert_perror_fail abort exit _exit _Exit quick_exit atexit
    at_quick_exit __xpg_strerror_r err errx warn warnx error _setjmp setjmp sigsetjmp __sigsetjmp longjmp
    siglongjmp _longjmp sigaction signal sigaltstack sigemptyset sigfillset sigaddset sigdelset sigismember
    sigprocmask backtrace dl_iterate_phdr dlsym __tls_get_addr __register_atfork setlocale localeconv
    nl_langinfo swab htons htonl ntohs ntohl getopt getopt_long mprotect madvise
    sprintf snprintf vsprintf vsnprintf asprintf vasprintf sscanf vsscanf __sprintf_chk __snprintf_chk
    __vsprintf_chk __vsnprintf_chk __asprintf_chk
    syscall main omp_get_thread_num omp_get_num_threads omp_get_max_threads omp_get_num_procs omp_get_wtime
";

/// Functions that write to streams: a thread that reads from one may learn of it.
const WRITES: &str = "
    printf fprintf vprintf vfprintf dprintf vdprintf puts fputs putc fputc putchar putchar_unlocked
    putc_unlocked fwrite fwrite_unlocked fflush __printf_chk __fprintf_chk __vprintf_chk __vfprintf_chk
    __dprintf_chk setvbuf setbuf write
";

/// Functions that read from streams.
const READS: &str = "
    getc fgetc getchar fgets gets getline getdelim fread ungetc scanf fscanf vscanf vfscanf __isoc99_scanf
    __isoc99_fscanf __isoc23_scanf __isoc23_fscanf __fgets_chk __fread_chk feof ferror rewind fseek ftell
";

/// What a function that is not traced may do.
pub(super) fn of(name: &str) -> u8 {
    if is_in(WRITES, name) {
        return unknown::GIVES;
    }
    if is_in(READS, name) {
        return unknown::TAKES;
    }
    // `sinf`, `sinl`.
    let whole = name.strip_suffix(['f', 'l']).unwrap_or(name);
    let is_known = is_in(HARMLESS, name)
        || is_in(HARMLESS, whole)
        || PREFIXES.split_whitespace().any(|it| name.starts_with(it));
    match is_known {
        true => 0,
        false => unknown::ALL,
    }
}

fn is_in(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|it| it == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_may_do_anything() {
        assert_eq!(of("__kmpc_barrier"), unknown::ALL);
        assert_eq!(of("omp_set_lock"), unknown::ALL);
        assert_eq!(of("mmap"), unknown::ALL);
        assert_eq!(of("read"), unknown::ALL);
        assert_eq!(of("_Z7my_lockv"), unknown::ALL);
        assert_eq!(of("printf"), unknown::GIVES);
        assert_eq!(of("fgets"), unknown::TAKES);
        for harmless in [
            "strlen",
            "sinf",
            "malloc",
            "pthread_mutex_lock",
            "_ZNSolsEi",
        ] {
            assert_eq!(of(harmless), 0, "{harmless}");
        }
    }
}

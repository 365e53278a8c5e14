//! The thread-locals that instrumented code writes, and its two cold entries.
//!
//! They live in assembly because stable Rust can neither export a thread-local nor choose its
//! model. Instrumented code calls `__raddle_branches` with LLVM's `preserve_most` convention: every
//! general register but r11 must survive, vector registers need not. It jumps to `__raddle_slow`, where all of them
//! must, and xmm0 to xmm11 as far as code without AVX sees them: `hooks.ll` says how.
//!
//! The runtime works on a stack of its own. What it would leave below the program's stack pointer
//! differs between a recording and a replay, and programs do read such leftovers: padding of a
//! structure that is copied, for one. A call would leave its return address there, too. The same goes for the
//! registers that hold arguments: a function with variable arguments saves them all, whatever is in them.

use core::arch::{asm, global_asm};
use core::mem::{ManuallyDrop, MaybeUninit};
use raddle_trace::wire::Slot;

use crate::interpose::jumps::Interrupted;
use crate::thread::Thread;

global_asm!(
    r#"
    .section .tbss,"awT",@nobits
    .globl __raddle_cur, __raddle_lim, __raddle_bits
    .type __raddle_cur,@object
    .size __raddle_cur,8
    .type __raddle_lim,@object
    .size __raddle_lim,8
    .type __raddle_bits,@object
    .size __raddle_bits,8
    .balign 8
    # Instrumented code reaches these three through the symbol of the first.
__raddle_cur: .zero 8
__raddle_lim: .zero 8
__raddle_bits: .zero 8
__raddle_self: .zero 8
__raddle_stack: .zero 8
__raddle_interrupted: .zero 8

    .macro raddle_save
    push rax
    push rcx
    push rdx
    push rsi
    push rdi
    push r8
    push r9
    .endm
    .macro raddle_restore
    pop r9
    pop r8
    pop rdi
    pop rsi
    pop rdx
    pop rcx
    pop rax
    .endm

    .macro raddle_save_arguments
    sub rsp, 128
    movups [rsp], xmm0
    movups [rsp + 16], xmm1
    movups [rsp + 32], xmm2
    movups [rsp + 48], xmm3
    movups [rsp + 64], xmm4
    movups [rsp + 80], xmm5
    movups [rsp + 96], xmm6
    movups [rsp + 112], xmm7
    .endm
    .macro raddle_restore_arguments
    movups xmm0, [rsp]
    movups xmm1, [rsp + 16]
    movups xmm2, [rsp + 32]
    movups xmm3, [rsp + 48]
    movups xmm4, [rsp + 64]
    movups xmm5, [rsp + 80]
    movups xmm6, [rsp + 96]
    movups xmm7, [rsp + 112]
    add rsp, 128
    .endm

    .text
    .globl __raddle_branches
    .type __raddle_branches,@function
__raddle_branches:
    .cfi_startproc
    mov r11, qword ptr [rip + __raddle_stack@GOTTPOFF]
    mov r11, qword ptr fs:[r11]
    test r11, r11
    jnz 1f
    lea r11, [rsp - 136]
1:
    xchg r11, rsp
    push r11
    raddle_save
    push r10
    sub rsp, 8
    raddle_save_arguments
    # The canonical frame address is 8 above the saved stack pointer, which is at rsp + 200.
    .cfi_escape 0x0f, 6, 0x77, 0xc8, 0x01, 0x06, 0x23, 0x08
    call raddle_branches_implementation
    raddle_restore_arguments
    add rsp, 8
    pop r10
    raddle_restore
    pop rsp
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
    .size __raddle_branches, .-__raddle_branches

    .globl __raddle_slow
    .type __raddle_slow,@function
__raddle_slow:
    .cfi_startproc
    .cfi_def_cfa rsp, 0
    .cfi_register rip, r11
    movq xmm15, r10
    mov r10, qword ptr [rip + __raddle_stack@GOTTPOFF]
    mov r10, qword ptr fs:[r10]
    test r10, r10
    jnz 1f
    # What lies right below the stack pointer is the program's.
    lea r10, [rsp - 144]
    and r10, -16
1:
    xchg r10, rsp
    push r10
    push r11
    raddle_save
    movq r10, xmm15
    push r10
    movq r11, xmm14
    push r11
    movq rdi, xmm12
    movq rsi, xmm13
    sub rsp, 72
    movups [rsp], xmm8
    movups [rsp + 16], xmm9
    movups [rsp + 32], xmm10
    movups [rsp + 48], xmm11
    raddle_save_arguments
    # The canonical frame address is the saved stack pointer, at rsp + 280; the return address is at rsp + 272.
    .cfi_escape 0x0f, 4, 0x77, 0x98, 0x02, 0x06
    .cfi_escape 0x10, 0x10, 3, 0x77, 0x90, 0x02
    call raddle_slow_implementation
    raddle_restore_arguments
    movups xmm8, [rsp]
    movups xmm9, [rsp + 16]
    movups xmm10, [rsp + 32]
    movups xmm11, [rsp + 48]
    add rsp, 72
    pop r11
    pop r10
    raddle_restore
    # The stack pointer is on top when this returns.
    .cfi_escape 0x0f, 3, 0x77, 0x08, 0x06
    .cfi_escape 0x10, 0x10, 2, 0x77, 0x00
    ret
    .cfi_endproc
    .size __raddle_slow, .-__raddle_slow

    .type raddle_switch_stack,@function
raddle_switch_stack:
    .cfi_startproc
    push rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    mov rbp, rsp
    .cfi_def_cfa_register rbp
    mov rsp, rdi
    mov rdi, rdx
    call rsi
    mov rsp, rbp
    pop rbp
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
    .size raddle_switch_stack, .-raddle_switch_stack
    "#
);

macro_rules! thread_local_word {
    ($get:ident, $set:ident, $symbol:literal, $type:ty, $doc:literal) => {
        #[doc = concat!("Reads ", $doc, ".")]
        #[inline(always)]
        pub fn $get() -> $type {
            let value: u64;
            // SAFETY: an initial-exec thread-local of eight bytes defined above.
            unsafe {
                asm!(
                    concat!("mov {t}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "mov {t}, qword ptr fs:[{t}]",
                    t = out(reg) value,
                    options(nostack, preserves_flags),
                );
            }
            value as $type
        }

        #[doc = concat!("Writes ", $doc, ".")]
        #[inline(always)]
        pub fn $set(value: $type) {
            // SAFETY: an initial-exec thread-local of eight bytes defined above.
            unsafe {
                asm!(
                    concat!("mov {t}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "mov qword ptr fs:[{t}], {v}",
                    t = out(reg) _,
                    v = in(reg) value as u64,
                    options(nostack, preserves_flags),
                );
            }
        }
    };
}

macro_rules! thread_local_address {
    ($address:ident, $symbol:literal, $type:ty, $doc:literal) => {
        #[doc = concat!("Where this thread keeps ", $doc, ".")]
        #[inline(always)]
        pub fn $address() -> *mut $type {
            let address: u64;
            // SAFETY: fs:0 holds the thread pointer itself on x86-64.
            unsafe {
                asm!(
                    concat!("mov {t}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "add {t}, qword ptr fs:[0]",
                    t = out(reg) address,
                    options(nostack),
                );
            }
            address as *mut $type
        }
    };
}

/// Stands for the record of a thread while it runs a signal handler, which is nobody's code.
pub const IN_HANDLER: *mut Thread = core::ptr::without_provenance_mut(1);

/// The thread's own record; null if the thread is not known or runs a signal handler.
#[inline(always)]
pub fn me() -> *mut Thread {
    let record = record();
    if record == IN_HANDLER {
        core::ptr::null_mut()
    } else {
        record
    }
}

unsafe extern "C" {
    fn raddle_switch_stack(top: u64, function: extern "C" fn(*mut u8), data: *mut u8);
}

/// Bytes of a thread's stack for the runtime.
pub const OWN_STACK_BYTES: u64 = 1 << 16;

/// Runs `f` on the thread's stack for the runtime, or in place where it is on it already.
pub fn on_own_stack<T>(f: impl FnOnce() -> T) -> T {
    let (top, here) = (stack_top(), crate::stack::frame());
    if top == 0 || top.wrapping_sub(here) <= OWN_STACK_BYTES {
        return f();
    }
    // SAFETY: the stack is this thread's own and unused: nothing that runs on it calls the program.
    unsafe { on_stack(top, f) }
}

/// Runs `f` on the stack that ends at `top`.
///
/// # Safety
/// The stack is aligned to 16 bytes, long enough and nobody else's.
#[inline(always)]
pub unsafe fn on_stack<T>(top: u64, f: impl FnOnce() -> T) -> T {
    /// On the program's stack. Nothing says which of the two is there: next to the byte that would say so there is padding, and
    /// what the compiler leaves in it is not the same in every run.
    struct Task<T, F> {
        f: ManuallyDrop<F>,
        result: MaybeUninit<T>,
    }
    extern "C" fn call<T, F: FnOnce() -> T>(data: *mut u8) {
        // SAFETY: `data` is the task below, which outlives this call, and this is its only call.
        unsafe {
            let task = &mut *data.cast::<Task<T, F>>();
            let f = ManuallyDrop::take(&mut task.f);
            task.result.write(f());
        }
    }
    fn entry<T, F: FnOnce() -> T>(_: &F) -> extern "C" fn(*mut u8) {
        call::<T, F>
    }
    let function = entry::<T, _>(&f);
    let mut task = Task {
        f: ManuallyDrop::new(f),
        result: MaybeUninit::uninit(),
    };
    // SAFETY: the caller vouches for the stack. `call` has taken the function and written the result when this returns.
    unsafe {
        raddle_switch_stack(top, function, (&raw mut task).cast());
        task.result.assume_init()
    }
}

/// Empties the registers that hold arguments, as a call of the program's ends: see above.
#[inline(always)]
pub fn forget_arguments() {
    // SAFETY: whoever calls a function expects nothing of these registers.
    unsafe {
        asm!(
            "xor edi, edi",
            "xor esi, esi",
            "xor edx, edx",
            "xor ecx, ecx",
            "xor r8d, r8d",
            "xor r9d, r9d",
            "pxor xmm0, xmm0",
            "pxor xmm1, xmm1",
            "pxor xmm2, xmm2",
            "pxor xmm3, xmm3",
            "pxor xmm4, xmm4",
            "pxor xmm5, xmm5",
            "pxor xmm6, xmm6",
            "pxor xmm7, xmm7",
            out("rdi") _, out("rsi") _, out("rdx") _, out("rcx") _, out("r8") _, out("r9") _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            options(nomem, nostack),
        );
    }
}

thread_local_word!(
    cur,
    set_cur,
    "__raddle_cur",
    *mut Slot,
    "the next free slot"
);
thread_local_word!(
    lim,
    set_lim,
    "__raddle_lim",
    *mut Slot,
    "the limit of events"
);
thread_local_word!(
    bits,
    set_bits,
    "__raddle_bits",
    u64,
    "pending branch outcomes"
);
thread_local_word!(
    record,
    set_me,
    "__raddle_self",
    *mut Thread,
    "the thread's own record"
);
thread_local_address!(cur_address, "__raddle_cur", *mut Slot, "the next free slot");
thread_local_address!(
    lim_address,
    "__raddle_lim",
    *mut Slot,
    "the limit of events"
);
thread_local_word!(
    stack_top,
    set_stack_top,
    "__raddle_stack",
    u64,
    "the end of the runtime's stack"
);
thread_local_word!(
    interrupted,
    set_interrupted,
    "__raddle_interrupted",
    *const Interrupted,
    "what the signal handlers that run have interrupted"
);

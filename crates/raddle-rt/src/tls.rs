//! The thread-locals that instrumented code writes, and its two cold entries.
//!
//! They live in assembly because stable Rust can neither export a thread-local nor choose its
//! model. Instrumented code calls the entries with LLVM's `preserve_most` convention: every
//! general register but r11 must survive, vector registers need not.

use core::arch::{asm, global_asm};
use raddle_trace::wire::Slot;

use crate::thread::Thread;

global_asm!(
    r#"
    .section .tbss,"awT",@nobits
    .globl __raddle_cur, __raddle_lim, __raddle_bits, __raddle_self
    .type __raddle_cur,@object
    .size __raddle_cur,8
    .type __raddle_lim,@object
    .size __raddle_lim,8
    .type __raddle_bits,@object
    .size __raddle_bits,8
    .type __raddle_self,@object
    .size __raddle_self,8
    .balign 8
__raddle_cur: .zero 8
__raddle_lim: .zero 8
__raddle_bits: .zero 8
__raddle_self: .zero 8

    .macro raddle_entry name, implementation
    .text
    .globl \name
    .type \name,@function
\name:
    .cfi_startproc
    push rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    mov rbp, rsp
    .cfi_def_cfa_register rbp
    push rax
    push rcx
    push rdx
    push rsi
    push rdi
    push r8
    push r9
    push r10
    and rsp, -16
    call \implementation
    lea rsp, [rbp - 64]
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    pop rdx
    pop rcx
    pop rax
    pop rbp
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
    .size \name, .-\name
    .endm
    raddle_entry __raddle_slow, raddle_slow_implementation
    raddle_entry __raddle_branches, raddle_branches_implementation
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

thread_local_word!(cur, set_cur, "__raddle_cur", *mut Slot, "the next free slot");
thread_local_word!(lim, set_lim, "__raddle_lim", *mut Slot, "the limit of events");
thread_local_word!(bits, set_bits, "__raddle_bits", u64, "pending branch outcomes");
thread_local_word!(me, set_me, "__raddle_self", *mut Thread, "the thread's own record");
thread_local_address!(cur_address, "__raddle_cur", *mut Slot, "the next free slot");
thread_local_address!(lim_address, "__raddle_lim", *mut Slot, "the limit of events");

; The hooks, as functions that are linked into every module, called at each site, and inlined.
; {SLOT}, {EXTRA}, {CLOBBERS} and the offsets are filled in from the shared layouts.

; Cursor, limit and branch outcomes. They are reached through the first one's symbol, which costs one register.
@__raddle_cur = external thread_local(initialexec) global { ptr, ptr, i64 }

; nonlazybind: the loader's lazy resolver does not keep r10, which preserve_mostcc promises to keep.
declare preserve_mostcc void @__raddle_branches() cold nounwind nonlazybind
declare void @__raddle_panic(i32, ptr) cold nounwind

; What follows comes twice. The hooks named `…_at` are inlined. They keep copies of the thread's cursor and
; branch outcomes in two stack slots of their function, which become registers: the thread-locals are
; written at each event, but read only where the runtime may have moved them. So one event need not wait
; until the store of the one before has come back from memory.

; The way to the runtime when the limit is reached. Limits are others in a replay than in the run that it repeats, so this
; must not show in what is left on the program's stack. A call would leave its return address there, and a general
; register that it takes may have to be saved there first. So all goes in vector registers: site, address and the
; program's r11, in whose place goes the address to return to. The runtime returns on its own stack, which has the
; program's stack pointer on top. CLOBBERS stands for what it does not keep, see hooks.rs.
define weak_odr hidden void @__raddle_reached(ptr %site, ptr %addr) alwaysinline nounwind {
  call void asm sideeffect "movq $0, %xmm12\0Amovq $1, %xmm13\0Amovq %r11, %xmm14\0Aleaq 1f(%rip), %r11\0Ajmpq *__raddle_slow@GOTPCREL(%rip)\0A1: popq %rsp", "r,r,{CLOBBERS}"(ptr %site, ptr %addr)
  ret void
}

; A slot for one event, after the limit check; its value is filled in by the caller.
define weak_odr hidden ptr @__raddle_event_at(ptr %cursor, ptr %bits, ptr %site, ptr %addr) alwaysinline nounwind {
entry:
  %first = load ptr, ptr %cursor, align 8
  %limit = load ptr, ptr getelementptr ({ ptr, ptr, i64 }, ptr @__raddle_cur, i64 0, i32 1), align 8
  %full = icmp uge ptr %first, %limit
  br i1 %full, label %slow, label %done, !prof !0
slow:
  call void @__raddle_reached(ptr %site, ptr %addr)
  call void @__raddle_reload(ptr %cursor, ptr %bits)
  %again = load ptr, ptr %cursor, align 8
  br label %done
done:
  %slot = phi ptr [ %first, %entry ], [ %again, %slow ]
  store ptr %site, ptr %slot, align 8
  %a = getelementptr i8, ptr %slot, i64 {ADDR}
  store ptr %addr, ptr %a, align 8
  %next = getelementptr i8, ptr %slot, i64 {SLOT}
  store ptr %next, ptr @__raddle_cur, align 8
  store ptr %next, ptr %cursor, align 8
  ret ptr %slot
}

define weak_odr hidden ptr @__raddle_event(ptr %site, ptr %addr) alwaysinline nounwind {
  %cursor = alloca ptr, align 8
  %bits = alloca i64, align 8
  %now = load ptr, ptr @__raddle_cur, align 8
  store ptr %now, ptr %cursor, align 8
  %slot = call ptr @__raddle_event_at(ptr %cursor, ptr %bits, ptr %site, ptr %addr)
  ret ptr %slot
}

; A further slot of the same access, which the slack behind the limit has room for.
define weak_odr hidden ptr @__raddle_next_at(ptr %cursor, ptr %bits, ptr %site, ptr %addr) alwaysinline nounwind {
  %slot = load ptr, ptr %cursor, align 8
  store ptr %site, ptr %slot, align 8
  %a = getelementptr i8, ptr %slot, i64 {ADDR}
  store ptr %addr, ptr %a, align 8
  %next = getelementptr i8, ptr %slot, i64 {SLOT}
  store ptr %next, ptr @__raddle_cur, align 8
  store ptr %next, ptr %cursor, align 8
  ret ptr %slot
}

define weak_odr hidden ptr @__raddle_next(ptr %site, ptr %addr) alwaysinline nounwind {
  %cursor = alloca ptr, align 8
  %bits = alloca i64, align 8
  %now = load ptr, ptr @__raddle_cur, align 8
  store ptr %now, ptr %cursor, align 8
  %slot = call ptr @__raddle_next_at(ptr %cursor, ptr %bits, ptr %site, ptr %addr)
  ret ptr %slot
}

; The second slot of a read-modify-write or compare-exchange.
define weak_odr hidden void @__raddle_extra_at(ptr %cursor, ptr %bits, ptr %slot) alwaysinline nounwind {
  %extra = getelementptr i8, ptr %slot, i64 {SLOT}
  store i64 {EXTRA}, ptr %extra, align 8
  %next = getelementptr i8, ptr %extra, i64 {SLOT}
  store ptr %next, ptr @__raddle_cur, align 8
  store ptr %next, ptr %cursor, align 8
  ret void
}

define weak_odr hidden void @__raddle_extra(ptr %slot) alwaysinline nounwind {
  %cursor = alloca ptr, align 8
  %bits = alloca i64, align 8
  call void @__raddle_extra_at(ptr %cursor, ptr %bits, ptr %slot)
  ret void
}

; One branch outcome.
define weak_odr hidden void @__raddle_branch_at(ptr %cursor, ptr %bits, i1 %taken) alwaysinline nounwind {
entry:
  %old = load i64, ptr %bits, align 8
  %shifted = shl i64 %old, 1
  %bit = zext i1 %taken to i64
  %new = or i64 %shifted, %bit
  store i64 %new, ptr getelementptr ({ ptr, ptr, i64 }, ptr @__raddle_cur, i64 0, i32 2), align 8
  store i64 %new, ptr %bits, align 8
  %full = icmp slt i64 %new, 0
  br i1 %full, label %flush, label %done, !prof !0
flush:
  call preserve_mostcc void @__raddle_branches()
  call void @__raddle_reload(ptr %cursor, ptr %bits)
  br label %done
done:
  ret void
}

define weak_odr hidden void @__raddle_branch(i1 %taken) alwaysinline nounwind {
  %cursor = alloca ptr, align 8
  %bits = alloca i64, align 8
  %now = load i64, ptr getelementptr ({ ptr, ptr, i64 }, ptr @__raddle_cur, i64 0, i32 2), align 8
  store i64 %now, ptr %bits, align 8
  call void @__raddle_branch_at(ptr %cursor, ptr %bits, i1 %taken)
  ret void
}

; Makes the copies true again, at the function's start and behind everything that may call the runtime.
define weak_odr hidden void @__raddle_reload(ptr %cursor, ptr %bits) alwaysinline nounwind {
  %now = load ptr, ptr @__raddle_cur, align 8
  store ptr %now, ptr %cursor, align 8
  %outcomes = load i64, ptr getelementptr ({ ptr, ptr, i64 }, ptr @__raddle_cur, i64 0, i32 2), align 8
  store i64 %outcomes, ptr %bits, align 8
  ret void
}

define weak_odr hidden void @__raddle_fill(ptr %slot, i64 %value) alwaysinline nounwind {
  %v = getelementptr i8, ptr %slot, i64 {VALUE}
  store i64 %value, ptr %v, align 8
  ret void
}

define weak_odr hidden void @__raddle_fill_extra(ptr %slot, i64 %new, i64 %stored) alwaysinline nounwind {
  %extra = getelementptr i8, ptr %slot, i64 {SLOT}
  %n = getelementptr i8, ptr %extra, i64 {ADDR}
  store i64 %new, ptr %n, align 8
  %s = getelementptr i8, ptr %extra, i64 {VALUE}
  store i64 %stored, ptr %s, align 8
  ret void
}

; An address that the code generator has computed by here, and computes nowhere else.
define weak_odr hidden ptr @__raddle_pin(ptr %address) alwaysinline nounwind {
  %pinned = call ptr asm sideeffect "", "=r,0,~{memory}"(ptr %address)
  ret ptr %pinned
}

; A step of a Rust panic.
define weak_odr hidden void @__raddle_panicked(i32 %stage, ptr %frame) alwaysinline nounwind {
  call void @__raddle_panic(i32 %stage, ptr %frame)
  ret void
}

!0 = !{!"branch_weights", i32 1, i32 100000}

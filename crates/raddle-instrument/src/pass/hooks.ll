; The hooks, as functions that are linked into every module, called at each site, and inlined.
; {SLOT}, {EXTRA} and the offsets are filled in from the shared layouts.

@__raddle_cur = external thread_local(initialexec) global ptr
@__raddle_lim = external thread_local(initialexec) global ptr
@__raddle_bits = external thread_local(initialexec) global i64

; nonlazybind: the loader's lazy resolver does not keep r10, which preserve_mostcc promises to keep.
declare preserve_mostcc void @__raddle_slow(ptr, ptr) cold nounwind nonlazybind
declare preserve_mostcc void @__raddle_branches() cold nounwind nonlazybind
declare void @__raddle_panic() cold nounwind

; A slot for one event, after the limit check; its value is filled in by the caller.
define weak_odr hidden ptr @__raddle_event(ptr %site, ptr %addr) alwaysinline nounwind {
entry:
  %first = load ptr, ptr @__raddle_cur, align 8
  %limit = load ptr, ptr @__raddle_lim, align 8
  %full = icmp uge ptr %first, %limit
  br i1 %full, label %slow, label %done, !prof !0
slow:
  call preserve_mostcc void @__raddle_slow(ptr %site, ptr %addr)
  %again = load ptr, ptr @__raddle_cur, align 8
  br label %done
done:
  %slot = phi ptr [ %first, %entry ], [ %again, %slow ]
  store ptr %site, ptr %slot, align 8
  %a = getelementptr i8, ptr %slot, i64 {ADDR}
  store ptr %addr, ptr %a, align 8
  %next = getelementptr i8, ptr %slot, i64 {SLOT}
  store ptr %next, ptr @__raddle_cur, align 8
  ret ptr %slot
}

; A further slot of the same access, which the slack behind the limit has room for.
define weak_odr hidden ptr @__raddle_next(ptr %site, ptr %addr) alwaysinline nounwind {
  %slot = load ptr, ptr @__raddle_cur, align 8
  store ptr %site, ptr %slot, align 8
  %a = getelementptr i8, ptr %slot, i64 {ADDR}
  store ptr %addr, ptr %a, align 8
  %next = getelementptr i8, ptr %slot, i64 {SLOT}
  store ptr %next, ptr @__raddle_cur, align 8
  ret ptr %slot
}

; The second slot of a read-modify-write or compare-exchange.
define weak_odr hidden void @__raddle_extra(ptr %slot) alwaysinline nounwind {
  %extra = getelementptr i8, ptr %slot, i64 {SLOT}
  store i64 {EXTRA}, ptr %extra, align 8
  %next = getelementptr i8, ptr %extra, i64 {SLOT}
  store ptr %next, ptr @__raddle_cur, align 8
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

; One branch outcome.
define weak_odr hidden void @__raddle_branch(i1 %taken) alwaysinline nounwind {
entry:
  %old = load i64, ptr @__raddle_bits, align 8
  %shifted = shl i64 %old, 1
  %bit = zext i1 %taken to i64
  %new = or i64 %shifted, %bit
  store i64 %new, ptr @__raddle_bits, align 8
  %full = icmp slt i64 %new, 0
  br i1 %full, label %flush, label %done, !prof !0
flush:
  call preserve_mostcc void @__raddle_branches()
  br label %done
done:
  ret void
}

; The start of a Rust panic.
define weak_odr hidden void @__raddle_panicked() alwaysinline nounwind {
  call void @__raddle_panic()
  ret void
}

!0 = !{!"branch_weights", i32 1, i32 100000}

; What stands in for the instructions that read the processor's counter of cycles, in each form in which they come.

declare i64 @__raddle_cycles() nounwind

define weak_odr hidden i64 @__raddle_counter() alwaysinline nounwind {
  %now = call i64 @__raddle_cycles()
  ret i64 %now
}

; With the number of the core, which is always the first.
define weak_odr hidden { i64, i32 } @__raddle_counter_and_core() alwaysinline nounwind {
  %now = call i64 @__raddle_cycles()
  %both = insertvalue { i64, i32 } zeroinitializer, i64 %now, 0
  ret { i64, i32 } %both
}

define weak_odr hidden { i32, i32 } @__raddle_halves() alwaysinline nounwind {
  %now = call i64 @__raddle_cycles()
  %low = trunc i64 %now to i32
  %shifted = lshr i64 %now, 32
  %high = trunc i64 %shifted to i32
  %one = insertvalue { i32, i32 } poison, i32 %low, 0
  %both = insertvalue { i32, i32 } %one, i32 %high, 1
  ret { i32, i32 } %both
}

define weak_odr hidden { i64, i64 } @__raddle_long_halves() alwaysinline nounwind {
  %now = call i64 @__raddle_cycles()
  %low = and i64 %now, 4294967295
  %high = lshr i64 %now, 32
  %one = insertvalue { i64, i64 } poison, i64 %low, 0
  %both = insertvalue { i64, i64 } %one, i64 %high, 1
  ret { i64, i64 } %both
}

define weak_odr hidden { i32, i32, i32 } @__raddle_halves_and_core() alwaysinline nounwind {
  %now = call i64 @__raddle_cycles()
  %low = trunc i64 %now to i32
  %shifted = lshr i64 %now, 32
  %high = trunc i64 %shifted to i32
  %one = insertvalue { i32, i32, i32 } zeroinitializer, i32 %low, 0
  %both = insertvalue { i32, i32, i32 } %one, i32 %high, 1
  ret { i32, i32, i32 } %both
}

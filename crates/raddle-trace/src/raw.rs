//! From the numbers in shared memory and in files back to the enums of [`crate::wire`].
//!
//! A number comes from another process or from a file, so every decoder is partial: `None` says
//! that no variant has this number.

use crate::wire::{
    DivergenceKind, Mark, Ordering, OutcomeKind, Role, SiteKind, StrategyKind, SwitchReason,
    ThreadState,
};

macro_rules! decoders {
    ($($enum:ident, $repr:ty, $from:ident: $($variant:ident)+;)+) => {$(
        impl $enum {
            /// Every variant, by number.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Does not compile while a variant is missing here.
            const _COMPLETE: fn(Self) = |variant| match variant {
                $(Self::$variant)|+ => {}
            };

            /// The variant with this number, if there is one.
            #[must_use]
            pub const fn $from(raw: $repr) -> Option<Self> {
                $(if raw == Self::$variant as $repr {
                    return Some(Self::$variant);
                })+
                None
            }
        }
    )+};
}

decoders! {
    SiteKind, u8, from_u8: Read Write AtomicLoad AtomicStore Rmw Cas Fence RangeRead RangeWrite
        Value Enter Exit;
    Ordering, u8, from_u8: Plain Relaxed Acquire Release AcqRel SeqCst;
    Role, u8, from_u8: None Lock Unlock ReadLock ReadUnlock WriteLock WriteUnlock Downgrade;
    Mark, u16, from_u16: Empty Extra Switch Branches Fork Begin End Join Lock Unlock ReadLock
        ReadUnlock WriteLock WriteUnlock CondWait CondWake CondNotify FutexWait FutexWake
        FutexNotify SemWait SemPost BarrierArrive BarrierLeave OnceStart OnceDone OncePass Alloc
        Free Input Block Unblock Yield Sleep Destroy Fail Exit Request Clock CopyFrom CopyTo;
    StrategyKind, u32, from_u32: RoundRobin Random Pct Pos Surw Dfs Replay Guide;
    SwitchReason, u32, from_u32: Preempted Blocked Yielded Ended Left Spins Held Stop;
    OutcomeKind, u32, from_u32: None Assertion Panic Deadlock Hang UseAfterFree DoubleFree
        InvalidFree Internal Surroundings Abort;
    DivergenceKind, u32, from_u32: None StoppedEarly NotEnabled NoSuchThread WrongThread Ended Input;
    ThreadState, u32, from_u32: None Ready Blocked Outside Spinning Sleeping Ended;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_leads_back_to_its_variant() {
        for &mark in Mark::ALL {
            assert_eq!(Mark::from_u16(mark as u16), Some(mark));
        }
        assert_eq!(Mark::from_u16(Mark::Branches as u16 + 1), None);
        assert_eq!(Mark::from_u16(u16::MAX), None);
        for raw in 0..=u8::MAX {
            assert_eq!(
                SiteKind::from_u8(raw).map(|kind| kind as u8),
                (raw < 12).then_some(raw)
            );
            assert_eq!(
                Role::from_u8(raw).map(|role| role as u8),
                (raw < 8).then_some(raw)
            );
            assert_eq!(
                Ordering::from_u8(raw).map(|order| order as u8),
                (raw < 6).then_some(raw)
            );
        }
    }
}

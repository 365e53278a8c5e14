//! A scalar: as it was in the trace, and what has become of it.

/// A scalar of at most 128 bits.
///
/// It may be unknown what it was, and known all the same that it has not changed: an operation whose operands are the
/// same gives the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<C> {
    /// Its bits in the trace, if they are known.
    pub recorded: Option<u128>,
    /// What has become of it, unless it is the same.
    pub change: Option<C>,
    /// Whether the bits stand for an address that is not the real one.
    pub is_made_up: bool,
}

impl<C> Value<C> {
    /// The same as in the trace, whatever that is.
    pub const SAME: Self = Self {
        recorded: None,
        change: None,
        is_made_up: false,
    };

    /// A number that has not changed.
    #[must_use]
    pub const fn known(bits: u128) -> Self {
        Self {
            recorded: Some(bits),
            ..Self::SAME
        }
    }

    /// What was this number in the trace, if that is known, and may be another one.
    #[must_use]
    pub const fn changed(recorded: Option<u128>, change: C) -> Self {
        Self {
            recorded,
            change: Some(change),
            is_made_up: false,
        }
    }

    /// Whether it is as in the trace.
    #[must_use]
    pub const fn is_same(&self) -> bool {
        self.change.is_none()
    }

    /// Its bits in the trace, if they are known and not made up.
    #[must_use]
    pub fn real(&self) -> Option<u128> {
        self.recorded.filter(|_| !self.is_made_up)
    }
}

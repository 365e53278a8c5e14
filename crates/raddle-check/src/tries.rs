//! How much is tried on the program.

/// How many more predictions are tried on the program. What is only suspected is tried less: it is plentiful,
/// and mostly harmless.
pub(crate) struct Tries {
    most: usize,
    left: usize,
    left_suspected: usize,
    refused: usize,
    out_of_time: bool,
}

impl Tries {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            left: most,
            left_suspected: most.div_ceil(4),
            refused: 0,
            out_of_time: false,
        }
    }

    /// Whether one more may be tried.
    pub(crate) fn take(&mut self, suspected: bool) -> bool {
        let may = self.left > 0 && (!suspected || self.left_suspected > 0);
        if may {
            self.left -= 1;
            self.left_suspected -= usize::from(suspected);
        } else {
            self.refused += 1;
        }
        may
    }

    /// Whether nothing more will be tried.
    pub(crate) fn are_over(&self) -> bool {
        self.left == 0
    }

    /// No more, for want of time.
    pub(crate) fn stop(&mut self) {
        self.left = 0;
        self.out_of_time = true;
    }

    pub(crate) fn note(&self) -> Option<String> {
        let enough = (self.most + self.refused) * 4;
        let how = match self.out_of_time {
            true => "for want of time (--time gives more)".to_owned(),
            false => format!("(--most-tries {enough} would)"),
        };
        let refused = self.refused;
        (refused > 0).then(|| format!("{refused} predictions were not tried on the program {how}"))
    }
}

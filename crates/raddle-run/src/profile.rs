//! Where a recorded run shows that preemptions can matter.

use std::path::Path;

use raddle_trace::file::TraceReader;
use raddle_trace::sharing::{Sharing, SiteSet};
use raddle_trace::wire::SiteRecord;

use crate::error::Error;

/// The sites that touch memory which threads share, in this run.
pub fn shared_sites(trace: &Path) -> Result<SiteSet, Error> {
    let reader = TraceReader::open(trace).map_err(Error::reading(trace))?;
    let mut sharing = Sharing::default();
    for event in reader {
        sharing.observe(&event.map_err(Error::reading(trace))?);
    }
    Ok(sharing.shared_sites().clone())
}

/// A set of sites as the runtime reads it, for a program with so many bytes of site records. The
/// runtime takes a site without a bit for visible, so all of them get one.
pub fn bits(visible: &SiteSet, sites_len: u64) -> Vec<u8> {
    let mut bits = visible.as_bytes().to_vec();
    let sites = sites_len as usize / size_of::<SiteRecord>();
    bits.resize(bits.len().max(sites / 8 + 1), 0);
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_trace::ids::SiteId;

    #[test]
    fn every_site_has_a_bit() {
        let mut set = SiteSet::default();
        assert_eq!(bits(&set, 0), [0]);
        set.insert(SiteId(1));
        assert_eq!(bits(&set, 17 * 8), [0b10, 0, 0]);
    }
}

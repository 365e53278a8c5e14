//! The site records that a program announced: from a slot's head to what its instruction does.

use std::collections::BTreeSet;
use std::fmt;

use crate::ids::{Address, SiteId};
use crate::wire::{
    Image, MODULE_MAGIC, ModuleHeader, Ordering, Role, SiteKind, SiteRecord, VOLATILE,
};

const RECORD_BYTES: usize = size_of::<SiteRecord>();
const RECORD_SHIFT: u32 = RECORD_BYTES.trailing_zeros();
const HEADER_BYTES: usize = size_of::<ModuleHeader>();

/// What an instruction does, decoded from its [`SiteRecord`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteShape {
    /// Kind of event.
    pub kind: SiteKind,
    /// Memory ordering.
    pub order: Ordering,
    /// Bytes accessed.
    pub size: u8,
    /// Part in an inlined lock.
    pub role: Role,
}

/// Where a site is in the program model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleSite {
    /// Content hash of the module.
    pub module: u64,
    /// Index in the module's array.
    pub index: u32,
}

/// All sites of a run, by number and by run-time address.
#[derive(Clone, Debug, Default)]
pub struct SiteTable {
    /// By start address.
    images: Vec<Image>,
    /// By first site number.
    modules: Vec<Module>,
    /// By site number; `None` where a header lies.
    shapes: Vec<Option<SiteShape>>,
    /// Sites of volatile accesses.
    volatile: BTreeSet<SiteId>,
}

/// The addresses of one image's records, kept from one look to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    start: u64,
    len: u64,
    /// Number of the first record.
    first: u64,
}

impl Window {
    /// The number of the site whose record is at this address, if that lies in the window.
    #[inline]
    pub(crate) fn number(&self, head: u64) -> Option<u32> {
        // An address between two records becomes one far behind the last.
        let record = head.wrapping_sub(self.start).rotate_right(RECORD_SHIFT);
        (record < self.len >> RECORD_SHIFT).then_some((self.first + record) as u32)
    }
}

#[derive(Clone, Copy, Debug)]
struct Module {
    first: u32,
    count: u32,
    id: u64,
}

/// The copied site records make no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "site records of the program, byte {offset}: {what}; rebuild it with this version of Raddle"
)]
pub struct BadSites {
    /// Where, in the copied records.
    pub offset: u64,
    /// What is wrong.
    pub what: BadSite,
}

/// What is wrong with site records.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSite {
    /// An image lies outside the copy, or is not aligned.
    #[error("an image of {len} bytes does not lie in the {available} bytes copied")]
    Image {
        /// Its length.
        len: u64,
        /// Bytes there are.
        available: u64,
    },
    /// An image lies in another one.
    #[error("an image starts before the one in front of it ends")]
    Overlap,
    /// A module header has another first word.
    #[error("expected a module header, found {found:#010x}")]
    Magic {
        /// The word found.
        found: u32,
    },
    /// A module claims more records than there are.
    #[error("a module of {count} records does not fit in the {available} bytes left of its image")]
    Count {
        /// Records claimed.
        count: u32,
        /// Bytes there are.
        available: u64,
    },
    /// A record has an unknown kind, ordering or role.
    #[error("record with kind {kind}, ordering {order}, role {role}")]
    Record {
        /// Its kind.
        kind: u8,
        /// Its ordering.
        order: u8,
        /// Its role.
        role: u8,
    },
}

impl SiteTable {
    /// Reads the records copied to `Control::sites`, of which `images` are parts.
    pub fn new(sites: &[u8], images: &[Image]) -> Result<Self, BadSites> {
        let mut table = Self {
            images: images.to_vec(),
            ..Self::default()
        };
        table.shapes.resize(sites.len() / RECORD_BYTES, None);
        table.images.sort_by_key(|image| image.offset);
        let mut end = 0;
        for image in &table.images.clone() {
            // Each part is read once, so that the table is no longer than the copy.
            if image.offset < end {
                return Err(BadSites {
                    offset: image.offset,
                    what: BadSite::Overlap,
                });
            }
            table.read_image(sites, image)?;
            end = image.offset + image.len;
        }
        table.images.sort_by_key(|image| image.start);
        table.modules.sort_by_key(|module| module.first);
        Ok(table)
    }

    /// The site whose record is at this address of the program, and what it does.
    #[must_use]
    pub fn resolve(&self, head: Address) -> Option<(SiteId, SiteShape)> {
        self.resolve_near(head, &mut Window::default())
    }

    /// The same, where the last site found was probably in the same image: its `window` is passed from call
    /// to call.
    #[inline]
    #[must_use]
    pub fn resolve_near(&self, head: Address, window: &mut Window) -> Option<(SiteId, SiteShape)> {
        if head.0.wrapping_sub(window.start) >= window.len {
            *window = self.window(head)?;
        }
        let inside = head.0.wrapping_sub(window.start);
        if inside >= window.len || !inside.is_multiple_of(RECORD_BYTES as u64) {
            return None;
        }
        let number = window.first + inside / RECORD_BYTES as u64;
        let site = SiteId(u32::try_from(number).ok()?);
        self.shape(site).map(|shape| (site, shape))
    }

    /// The last image that does not lie behind an address.
    #[cold]
    fn window(&self, head: Address) -> Option<Window> {
        let after = self.images.partition_point(|image| image.start <= head.0);
        let image = self.images[..after].last()?;
        Some(Window {
            start: image.start,
            len: image.len,
            first: image.offset / RECORD_BYTES as u64,
        })
    }

    /// What a site does.
    #[inline]
    #[must_use]
    pub fn shape(&self, site: SiteId) -> Option<SiteShape> {
        self.shapes.get(site.0 as usize).copied().flatten()
    }

    /// Where a site is in the program model.
    #[must_use]
    pub fn module_site(&self, site: SiteId) -> Option<ModuleSite> {
        let after = self
            .modules
            .partition_point(|module| module.first <= site.0);
        let module = self.modules[..after].last()?;
        let index = site.0 - module.first;
        (index < module.count).then_some(ModuleSite {
            module: module.id,
            index,
        })
    }

    /// Whether a site is a plain access that the program declares volatile.
    #[must_use]
    pub fn is_volatile(&self, site: SiteId) -> bool {
        self.volatile.contains(&site)
    }

    /// All sites, by number.
    pub fn iter(&self) -> impl Iterator<Item = (SiteId, SiteShape)> {
        let numbered = (0..).map(SiteId).zip(&self.shapes);
        numbered.filter_map(|(site, shape)| shape.map(|shape| (site, shape)))
    }

    /// One more than the greatest site number that could be: the bits of `Control::visible`.
    #[must_use]
    pub fn numbers(&self) -> usize {
        self.shapes.len()
    }

    fn read_image(&mut self, sites: &[u8], image: &Image) -> Result<(), BadSites> {
        let bad = |offset: usize, what| BadSites {
            offset: offset as u64,
            what,
        };
        let available = sites.len() as u64;
        let range = image
            .offset
            .checked_add(image.len)
            .filter(|end| *end <= available);
        let aligned = image.offset.is_multiple_of(RECORD_BYTES as u64);
        let (Some(end), true) = (range, aligned) else {
            let what = BadSite::Image {
                len: image.len,
                available,
            };
            return Err(BadSites {
                offset: image.offset,
                what,
            });
        };
        // Both fit: they were checked against the length of a slice.
        let (mut at, end) = (image.offset as usize, end as usize);
        while at < end {
            if end - at >= RECORD_BYTES && sites[at..at + RECORD_BYTES] == [0; RECORD_BYTES] {
                // The linker padded between two objects.
                at += RECORD_BYTES;
                continue;
            }
            if end - at < HEADER_BYTES {
                let what = BadSite::Count {
                    count: 0,
                    available: (end - at) as u64,
                };
                return Err(bad(at, what));
            }
            let magic = word(sites, at);
            if magic != MODULE_MAGIC {
                return Err(bad(at, BadSite::Magic { found: magic }));
            }
            let count = word(sites, at + 4);
            let id = u64::from(word(sites, at + 8)) | u64::from(word(sites, at + 12)) << 32;
            let records = at + HEADER_BYTES;
            let available = (end - records) as u64;
            if u64::from(count) * RECORD_BYTES as u64 > available {
                return Err(bad(at, BadSite::Count { count, available }));
            }
            // A site number is 32 bits wide; the region is far smaller than that allows.
            let first = (records / RECORD_BYTES) as u32;
            self.modules.push(Module { first, count, id });
            at = records;
            for _ in 0..count {
                let number = at / RECORD_BYTES;
                self.shapes[number] = Some(read_record(sites, at)?);
                if is_volatile(sites, at) {
                    self.volatile.insert(SiteId(number as u32));
                }
                at += RECORD_BYTES;
            }
        }
        Ok(())
    }
}

impl SiteShape {
    /// From the numbers of a [`SiteRecord`].
    #[must_use]
    pub fn from_raw(kind: u8, order: u8, size: u8, role: u8) -> Option<Self> {
        Some(Self {
            kind: SiteKind::from_u8(kind)?,
            order: Ordering::from_u8(order)?,
            size,
            role: Role::from_u8(role)?,
        })
    }
}

impl fmt::Display for ModuleSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}:{}", self.module, self.index)
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn is_volatile(sites: &[u8], at: usize) -> bool {
    sites[at + 1] & VOLATILE != 0
}

fn read_record(sites: &[u8], at: usize) -> Result<SiteShape, BadSites> {
    let [kind, order, size, role] = [sites[at], sites[at + 1], sites[at + 2], sites[at + 3]];
    SiteShape::from_raw(kind, order & !VOLATILE, size, role).ok_or(BadSites {
        offset: at as u64,
        what: BadSite::Record { kind, order, role },
    })
}

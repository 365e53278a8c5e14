//! Slots: events come back from shared memory, and nonsense is an error that says where.

use proptest::collection::vec;
use proptest::prelude::*;

use raddle_trace::action::{Action, RawAction};
use raddle_trace::decode::{BadSlot, SlotDecoder, slots};
use raddle_trace::event::{Access, Event, EventKind, LockChange, LockMode, Outcomes};
use raddle_trace::file::{BlockBuilder, EventBlock, Header, TraceReader, TraceWriter, Trailer};
use raddle_trace::ids::{Address, SiteId, ThreadId, Tick};
use raddle_trace::sharing::Private;
use raddle_trace::sifting::SiftedBlock;
use raddle_trace::sites::{BadSite, ModuleSite, SiteTable};
use raddle_trace::used::Used;
use raddle_trace::wire::{Image, MODULE_MAGIC, Mark, Ordering, Role, SLOT_BYTES, SiteKind, Slot};

use crate::common;

const IMAGE: u64 = 0x5555_0000_0000;

fn module(id: u64, records: &[[u8; 4]]) -> Vec<u8> {
    let mut bytes = MODULE_MAGIC.to_le_bytes().to_vec();
    bytes.extend((records.len() as u32).to_le_bytes());
    bytes.extend(id.to_le_bytes());
    for (index, record) in records.iter().enumerate() {
        bytes.extend(record);
        bytes.extend((index as u32).to_le_bytes());
    }
    bytes
}

fn record(kind: SiteKind, role: Role) -> [u8; 4] {
    [kind as u8, Ordering::SeqCst as u8, 8, role as u8]
}

/// Two modules in one image, then one in another: sites 2, 3, 4; 7; 10.
fn site_bytes() -> (Vec<u8>, Vec<Image>) {
    let read = record(SiteKind::Read, Role::None);
    let lock = record(SiteKind::Cas, Role::Lock);
    let add = record(SiteKind::Rmw, Role::None);
    let mut bytes = module(0xa, &[read, lock, add]);
    bytes.extend(module(0xb, &[record(SiteKind::Write, Role::None)]));
    let len = bytes.len() as u64;
    bytes.extend(module(0xc, &[record(SiteKind::Enter, Role::None)]));
    let images = vec![
        Image {
            start: IMAGE,
            len,
            offset: 0,
        },
        Image {
            start: 0x4444_0000_0000,
            len: bytes.len() as u64 - len,
            offset: len,
        },
    ];
    (bytes, images)
}

fn table() -> SiteTable {
    let (bytes, images) = site_bytes();
    SiteTable::new(&bytes, &images).unwrap()
}

fn slot(head: u64, addr: u64, value: u64) -> Slot {
    Slot { head, addr, value }
}

fn site(number: u64, addr: u64, value: u64) -> Slot {
    slot(IMAGE + number * 8, addr, value)
}

fn mark(mark: Mark, addr: u64, value: u64) -> Slot {
    slot(mark as u64, addr, value)
}

fn decode(slots: &[Slot]) -> Result<Vec<Event>, BadSlot> {
    let mut events = Vec::new();
    let decoded = SlotDecoder::new().decode(&table(), slots.iter().copied(), &mut events);
    decoded.map(|()| events).map_err(|error| error.what)
}

#[test]
fn a_head_leads_to_its_site_and_module() {
    let table = table();
    let resolve = |address| table.resolve(Address(address)).map(|(site, _)| site);
    assert_eq!(resolve(IMAGE + 16), Some(SiteId(2)));
    assert_eq!(resolve(IMAGE + 8 * 7), Some(SiteId(7)));
    assert_eq!(resolve(0x4444_0000_0010), Some(SiteId(10)));
    assert_eq!(
        table.module_site(SiteId(4)),
        Some(ModuleSite {
            module: 0xa,
            index: 2
        })
    );
    assert_eq!(
        table.module_site(SiteId(7)),
        Some(ModuleSite {
            module: 0xb,
            index: 0
        })
    );
    assert_eq!(
        table.module_site(SiteId(10)),
        Some(ModuleSite {
            module: 0xc,
            index: 0
        })
    );
    for between in [
        IMAGE,
        IMAGE + 8,
        IMAGE + 17,
        IMAGE + 8 * 5,
        IMAGE + 8 * 8,
        IMAGE - 8,
        0,
    ] {
        assert_eq!(resolve(between), None, "{between:#x}");
    }
    assert_eq!(table.module_site(SiteId(5)), None);
    assert_eq!(table.module_site(SiteId(0)), None);
    assert_eq!(
        table.iter().map(|(site, _)| site.0).collect::<Vec<_>>(),
        [2, 3, 4, 7, 10]
    );
}

#[test]
fn bad_records_are_named() {
    let (bytes, images) = site_bytes();
    let message = |at: usize, with: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = with;
        SiteTable::new(&bytes, &images).unwrap_err().to_string()
    };
    let hint = "; rebuild it with this version of Raddle";
    let expected = "byte 0: expected a module header, found 0x484d4400";
    assert_eq!(
        message(0, 0),
        format!("site records of the program, {expected}{hint}")
    );
    let expected = "byte 24: record with kind 99, ordering 5, role 1";
    assert_eq!(
        message(24, 99),
        format!("site records of the program, {expected}{hint}")
    );
    let expected = "byte 40: a module of 200 records does not fit in the 8 bytes left of its image";
    assert_eq!(
        message(44, 200),
        format!("site records of the program, {expected}{hint}")
    );
    assert!(SiteTable::new(&bytes[..8], &images).is_err());
    let twice = SiteTable::new(&bytes, &[images[0], images[0]]).unwrap_err();
    assert_eq!(twice.what, BadSite::Overlap);
}

#[test]
fn ticks_count_every_slot_but_switches() {
    let events = decode(&[
        mark(Mark::Switch, 1, 100),
        site(2, 0x40, 5),
        site(3, 0x80, 0),
        mark(Mark::Extra, 1, 1),
        mark(Mark::Branches, 0, 0b110),
        mark(Mark::Lock, 0x90, 0),
        mark(Mark::Extra, 0x1234, 0),
        site(7, 0x40, 6),
        mark(Mark::Switch, 2, 7),
        site(2, 0x40, 6),
    ])
    .unwrap();
    let moments: Vec<_> = events
        .iter()
        .map(|event| (event.thread.0, event.tick.0))
        .collect();
    assert_eq!(
        moments,
        [(1, 100), (1, 101), (1, 103), (1, 104), (1, 106), (2, 7)]
    );
    let lock = events[1].lock_action().unwrap();
    assert_eq!(
        (lock.lock.0, lock.change),
        (0x80, LockChange::Acquire(LockMode::Exclusive))
    );
    assert_eq!(
        events[2].kind,
        EventKind::Branches(Outcomes::from_sentinel(0b110).unwrap())
    );
    let action = Action::Lock {
        lock: Address(0x90),
        tried: false,
    };
    assert_eq!(
        events[3].kind,
        EventKind::Action {
            pc: Address(0x1234),
            action
        }
    );
    let access = Access {
        site: SiteId(7),
        addr: Address(0x40),
        size: 8,
        value: 6,
    };
    assert_eq!(events[4].kind, EventKind::Write(access));
}

#[test]
fn an_event_may_lie_across_two_chunks_and_end_with_the_program() {
    let table = table();
    let (mut decoder, mut events) = (SlotDecoder::new(), Vec::new());
    let first = [
        mark(Mark::Switch, 3, 0),
        site(4, 0x40, 1),
        Slot::default(),
        site(2, 0, 0),
    ];
    decoder.decode(&table, first, &mut events).unwrap();
    assert!(events.is_empty());
    decoder
        .decode(
            &table,
            [mark(Mark::Extra, 2, 1), site(3, 0x40, 2)],
            &mut events,
        )
        .unwrap();
    assert!(matches!(
        events[..],
        [Event {
            kind: EventKind::Rmw { new: 2, .. },
            ..
        }]
    ));
    assert_eq!(decoder.current(), (ThreadId(3), Tick(2)));
    let note = decoder.finish().unwrap().to_string();
    assert_eq!(
        note,
        "the program stopped in the middle of event T3@2, which is left out"
    );
}

#[test]
fn nonsense_is_an_error() {
    let switch = mark(Mark::Switch, 1, 0);
    assert_eq!(decode(&[slot(9, 0, 0)]), Err(BadSlot::UnknownMark(9)));
    assert_eq!(
        decode(&[slot(0xffff, 0, 0)]),
        Err(BadSlot::UnknownMark(0xffff))
    );
    assert_eq!(
        decode(&[site(1, 0, 0)]),
        Err(BadSlot::UnknownSite(Address(IMAGE + 8)))
    );
    assert_eq!(
        decode(&[switch, mark(Mark::Extra, 0, 0)]),
        Err(BadSlot::LoneExtra)
    );
    assert_eq!(decode(&[site(3, 0, 0), switch]), Err(BadSlot::MissingExtra));
    assert_eq!(
        decode(&[mark(Mark::Switch, 1 << 40, 0)]),
        Err(BadSlot::Thread(1 << 40))
    );
    assert_eq!(
        decode(&[mark(Mark::Branches, 0, 0)]),
        Err(BadSlot::NoSentinel)
    );
    let fail = [mark(Mark::Fail, 0, 77), mark(Mark::Extra, 0, 0)];
    assert!(matches!(decode(&fail), Err(BadSlot::Action(_))));

    let mut decoder = SlotDecoder::new();
    let slots = [mark(Mark::Switch, 4, 9), site(2, 0, 0), slot(9, 0, 0)];
    let error = decoder
        .decode(&table(), slots, &mut Vec::new())
        .unwrap_err();
    assert_eq!(error.to_string(), "slot 2 (T4@10): unknown mark 9");
}

/// Records of every kind: sites 2 to 13, and again.
fn every_kind() -> SiteTable {
    use SiteKind::{AtomicLoad, AtomicStore, Cas, Fence, Rmw};
    let records = SiteKind::ALL.iter().map(|kind| {
        let [kind_number, order, size, role] = record(*kind, Role::None);
        let is_atomic = matches!(kind, AtomicLoad | AtomicStore | Rmw | Cas | Fence);
        [kind_number, if is_atomic { order } else { 0 }, size, role]
    });
    let records: Vec<[u8; 4]> = records.collect();
    let bytes = module(1, &records.repeat(40));
    let image = Image {
        start: IMAGE,
        len: bytes.len() as u64,
        offset: 0,
    };
    SiteTable::new(&bytes, &[image]).unwrap()
}

/// Slots of a program whose loops, of one to four accesses each, are regular or not.
fn loops(random: impl Fn(u64) -> u64, sites: u64) -> Vec<Slot> {
    let kind = |site: u64| SiteKind::ALL[(site - 2) as usize % SiteKind::ALL.len()];
    let (mut slots, mut seed) = (vec![mark(Mark::Switch, 1, 0)], 0);
    let mut random = |below: u64| {
        seed += 1;
        random(seed) % below
    };
    let mut tick = 0;
    while slots.len() < 20_000 {
        let body: Vec<u64> = (0..=random(4)).map(|_| 2 + random(sites)).collect();
        let (step, noise, base) = (random(17), random(3), random(u64::MAX));
        for round in 0..random(60) {
            for &at in &body {
                let noise = random(1 << (noise * 31)) * (noise & 1);
                let addr = base.wrapping_add(at << 12).wrapping_add(round * step);
                let value = (at << 40) + round * 3 + noise;
                let has_value = !matches!(kind(at), SiteKind::Exit | SiteKind::Fence);
                let has_addr = kind(at) != SiteKind::Fence;
                let or_none = |number, keep| if keep { number } else { 0 };
                slots.push(site(
                    at,
                    or_none(addr + noise, has_addr),
                    or_none(value, has_value),
                ));
                tick += 1;
                if matches!(kind(at), SiteKind::Rmw | SiteKind::Cas) {
                    slots.push(mark(Mark::Extra, value + 1, noise & 1));
                    tick += 1;
                }
            }
            if random(63) == 0 {
                slots.push(mark(Mark::Branches, 0, 1 << 63 | random(1 << 62)));
                tick += 1;
            }
        }
        match random(6) {
            0 => {
                const MARKS: [Mark; 5] = [
                    Mark::Lock,
                    Mark::Unlock,
                    Mark::ReadLock,
                    Mark::WriteUnlock,
                    Mark::Alloc,
                ];
                let kind = MARKS[random(5) as usize];
                slots.push(mark(kind, base + random(2), random(2)));
                slots.push(mark(Mark::Extra, random(100), random(20) / 19));
                tick += 2;
            }
            1 => slots.push(mark(Mark::Switch, 1 + random(3), tick)),
            _ => {}
        }
    }
    slots
}

/// The events of such a program, and their slots.
fn run_of_loops(table: &SiteTable, seed: u64, sites: u64) -> (Vec<Event>, Vec<u8>) {
    let random = |at: u64| {
        let mixed = (at ^ seed << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
    };
    let slots = loops(random, sites);
    let mut events = Vec::new();
    let decoded = SlotDecoder::new().decode(table, slots.iter().copied(), &mut events);
    decoded.unwrap();
    let numbers = slots.iter().flat_map(|it| [it.head, it.addr, it.value]);
    (events, numbers.flat_map(u64::to_le_bytes).collect())
}

#[test]
fn many_slots_at_a_time_make_the_same_block_as_event_after_event() {
    let table = every_kind();
    for (seed, sites) in [(1_u64, 3), (2, 12), (3, 100), (4, 400)] {
        let (events, bytes) = run_of_loops(&table, seed, sites);
        let mut singly = Vec::new();
        let mut writer = TraceWriter::new(&mut singly, &Header::default()).unwrap();
        events.iter().for_each(|event| writer.push(event).unwrap());
        writer.finish(&Trailer::default()).unwrap();

        let (mut builder, mut block) = (BlockBuilder::new(), EventBlock::default());
        let mut decoder = SlotDecoder::new();
        decoder.decode_bytes(&table, &bytes, &mut builder).unwrap();
        builder.finish(&mut block).unwrap();
        let mut together = Vec::new();
        let mut writer = TraceWriter::new(&mut together, &Header::default()).unwrap();
        writer.append(&block).unwrap();
        writer.finish(&Trailer::default()).unwrap();
        assert!(together == singly, "seed {seed}");

        assert!(events_of(&block) == events);
        let last = events.iter().rev().find(|it| it.site().is_some()).unwrap();
        let (thread, tick, parts) = block.last.unwrap();
        let kind = parts.join();
        assert_eq!(Event { thread, tick, kind }, *last);
        let mut used = Used::default();
        used.observe_block(&block);
        let mut expected = Used::default();
        events.iter().for_each(|event| expected.observe(event));
        assert_eq!(used.sites, expected.sites);
        assert_eq!(used.pcs, expected.pcs);
    }
}

/// A block as a file, read again.
fn events_of(block: &EventBlock) -> Vec<Event> {
    let mut file = Vec::new();
    let mut writer = TraceWriter::new(&mut file, &Header::default()).unwrap();
    writer.append(block).unwrap();
    writer.finish(&Trailer::default()).unwrap();
    let read = TraceReader::new(std::io::Cursor::new(&file)).unwrap();
    read.map(Result::unwrap).collect()
}

#[test]
fn a_sifted_block_lacks_private_events_only() {
    let table = every_kind();
    for (seed, sites) in [(1_u64, 3), (2, 12), (3, 100), (4, 400)] {
        let (events, bytes) = run_of_loops(&table, seed, sites);
        let mut private = Private::default();
        for event in &events {
            let is_plain = matches!(event.kind, EventKind::Read(_) | EventKind::Exit { .. });
            if let Some(site) = event.site().filter(|it| is_plain && it.0 % 3 > 0) {
                private.sites.insert(site);
            }
            if let Some(site) = event.site().filter(|it| it.0 % 7 == 0) {
                private.hidden.insert(site);
            }
        }
        let (mut builder, mut block) = (BlockBuilder::new(), EventBlock::default());
        let mut sifted_block = SiftedBlock {
            builder: &mut builder,
            private: &private,
        };
        let mut decoder = SlotDecoder::new();
        decoder
            .decode_bytes(&table, &bytes, &mut sifted_block)
            .unwrap();
        builder.finish(&mut block).unwrap();

        let sifted = events_of(&block);
        // All that is not private is there, in order, with its ticks.
        let is_private = |it: &Event| it.site().is_some_and(|it| private.sites.contains(it));
        let mut left = sifted.iter();
        for (at, event) in events.iter().enumerate() {
            let is_wanted = !is_private(event) && !matches!(event.kind, EventKind::Branches(_));
            if is_wanted {
                assert!(left.any(|it| it == event), "seed {seed}, event {at}");
            }
        }
        // Much of the rest is not.
        let is_rest = |it: &&Event| is_private(it) || matches!(it.kind, EventKind::Branches(_));
        let (all, kept) = (
            events.iter().filter(is_rest).count(),
            sifted.iter().filter(is_rest).count(),
        );
        assert!(
            all == 0 || kept * 4 < all * 3,
            "seed {seed}: {kept} of {all}"
        );
        let last = events.iter().rev().find(|it| it.site().is_some()).unwrap();
        let (thread, tick, parts) = block.last.unwrap();
        let kind = parts.join();
        assert_eq!(Event { thread, tick, kind }, *last);
    }
}

proptest! {
    #[test]
    fn actions_come_back(action in common::action(), pc: u64) {
        let RawAction { mark: kind, object, argument, second } = action.into();
        let slots = [mark(kind, object, argument), mark(Mark::Extra, pc, second)];
        let events = decode(&slots).unwrap();
        let kind = EventKind::Action { pc: Address(pc), action };
        prop_assert_eq!(events, [Event { thread: ThreadId(0), tick: Tick(0), kind }]);
    }

    #[test]
    fn any_slots_are_events_or_an_error(
        slots in vec((prop_oneof![0..60_u64, IMAGE..IMAGE + 96, any::<u64>()], any::<u64>(), any::<u64>()), 0..20),
    ) {
        let slots: Vec<Slot> = slots.into_iter().map(|(head, addr, value)| slot(head, addr, value)).collect();
        let _ = decode(&slots);
    }

    #[test]
    fn any_slots_are_the_same_many_at_a_time(
        seed in 0..20_u64,
        slots in vec((prop_oneof![0..60_u64, IMAGE..IMAGE + 512, any::<u64>()], 0..3_u64, 0..3_u64), 0..20),
    ) {
        let table = every_kind();
        let (mut events, mut bytes) = run_of_loops(&table, seed, 12);
        let (thread, tick) = events.last().map(|it| (it.thread, it.next_tick())).unwrap();
        let first = mark(Mark::Switch, thread.0.into(), tick.0);
        let slots = slots.into_iter().map(|(head, addr, value)| slot(head, addr, value));
        let slots: Vec<Slot> = [first].into_iter().chain(slots).collect();
        let position = (bytes.len() / SLOT_BYTES) as u64;
        let mut decoder = SlotDecoder::at(thread, tick, position);
        let singly = decoder.decode(&table, slots.iter().copied(), &mut events);

        let numbers = slots.iter().flat_map(|it| [it.head, it.addr, it.value]);
        bytes.extend(numbers.flat_map(u64::to_le_bytes));
        let (mut builder, mut block) = (BlockBuilder::new(), EventBlock::default());
        let together = SlotDecoder::new().decode_bytes(&table, &bytes, &mut builder);
        prop_assert_eq!(singly, together);
        builder.finish(&mut block).unwrap();
        prop_assert!(events_of(&block) == events);
    }

    #[test]
    fn any_site_records_are_a_table_or_an_error(damage in vec((0..200_usize, any::<u8>()), 1..9), offset: u64, len: u64) {
        let (mut bytes, mut images) = site_bytes();
        for (at, with) in damage {
            let at = at % bytes.len();
            bytes[at] = with;
        }
        let _ = SiteTable::new(&bytes, &images);
        images.push(Image { start: u64::MAX - 3, len, offset });
        let _ = SiteTable::new(&bytes, &images).map(|table| table.resolve(Address(u64::MAX)));
    }

    #[test]
    fn slots_are_24_bytes(numbers: [u64; 3]) {
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.extend([1; 23]);
        let [head, addr, value] = numbers;
        prop_assert_eq!(slots(&bytes).collect::<Vec<_>>(), [slot(head, addr, value)]);
    }
}

// A triple buffer: the writer fills a frame of its own, and swaps it with the middle one; the reader swaps the
// middle one for its own if it is new. Frames may be skipped, but are whole and never go back.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;

const NEW: u8 = 4;

#[derive(Clone, Default)]
struct Frame {
    number: u32,
    lines: [u32; 4],
}

struct Buffer {
    frames: [UnsafeCell<Frame>; 3],
    middle: AtomicU8,
    is_over: AtomicBool,
}

// SAFETY: each frame belongs to the writer, to the reader, or is in the middle; swaps hand them over.
unsafe impl Sync for Buffer {}

struct Writer<'a> {
    buffer: &'a Buffer,
    own: u8,
}

struct Reader<'a> {
    buffer: &'a Buffer,
    own: u8,
}

impl Buffer {
    fn new() -> Self {
        Self { frames: Default::default(), middle: AtomicU8::new(1), is_over: AtomicBool::new(false) }
    }

    fn split(&mut self) -> (Writer<'_>, Reader<'_>) {
        let buffer = &*self;
        (Writer { buffer, own: 0 }, Reader { buffer, own: 2 })
    }
}

impl Writer<'_> {
    /// Whether the frame before was skipped by the reader.
    fn publish(&mut self, number: u32) -> bool {
        // SAFETY: the frame is the writer's own.
        let frame = unsafe { &mut *self.buffer.frames[usize::from(self.own)].get() };
        frame.number = number;
        frame.lines = [number, number + 1, number + 2, number + 3];
        let before = self.buffer.middle.swap(self.own | NEW, Ordering::AcqRel);
        self.own = before & !NEW;
        before & NEW != 0
    }
}

impl Reader<'_> {
    fn latest(&mut self) -> Option<&Frame> {
        if self.buffer.middle.load(Ordering::Relaxed) & NEW == 0 {
            return None;
        }
        let before = self.buffer.middle.swap(self.own, Ordering::AcqRel);
        self.own = before & !NEW;
        // SAFETY: the frame is the reader's own now.
        Some(unsafe { &*self.buffer.frames[usize::from(self.own)].get() })
    }
}

fn main() {
    let mut buffer = Buffer::new();
    let (mut writer, mut reader) = buffer.split();
    let (skipped, shown, looks) = thread::scope(|scope| {
        let writing = scope.spawn(move || {
            let skipped = (1..=5).filter(|&number| writer.publish(number)).count();
            writer.buffer.is_over.store(true, Ordering::Release);
            skipped
        });
        let reading = scope.spawn(move || {
            let (mut last, mut shown, mut looks) = (0, 0, 0u32);
            loop {
                let is_over = reader.buffer.is_over.load(Ordering::Acquire);
                match reader.latest() {
                    Some(frame) => {
                        assert!(frame.number > last);
                        assert!((0..4).all(|i| frame.lines[i as usize] == frame.number + i));
                        last = frame.number;
                        shown += 1;
                    }
                    None if is_over => break,
                    None => {
                        looks += 1;
                        thread::yield_now();
                    }
                }
            }
            assert_eq!(last, 5);
            (shown, looks)
        });
        let (shown, looks) = reading.join().unwrap();
        (writing.join().unwrap(), shown, looks)
    });
    assert_eq!(skipped + shown, 5);
    println!("shown {shown}, skipped {skipped}, looked in vain {looks} times");
}

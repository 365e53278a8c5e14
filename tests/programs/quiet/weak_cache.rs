// A cache that does not keep its entries alive: names that are in use are shared, others are made anew.
// What is dropped at the same time as it is looked up may be found or not.
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;

static ALIVE: AtomicU32 = AtomicU32::new(0);

struct Font {
    name: &'static str,
    glyphs: Vec<u32>,
    cache: Weak<Fonts>,
}

#[derive(Default)]
struct Fonts {
    entries: Mutex<BTreeMap<&'static str, Weak<Font>>>,
    loaded: AtomicU32,
    shared: AtomicU32,
}

impl Fonts {
    fn get(self: &Arc<Self>, name: &'static str) -> Arc<Font> {
        let mut entries = self.entries.lock().unwrap();
        if let Some(font) = entries.get(name).and_then(Weak::upgrade) {
            self.shared.fetch_add(1, Ordering::Relaxed);
            return font;
        }
        self.loaded.fetch_add(1, Ordering::Relaxed);
        ALIVE.fetch_add(1, Ordering::Relaxed);
        let font = Arc::new(Font {
            name,
            glyphs: name.chars().map(u32::from).collect(),
            cache: Arc::downgrade(self),
        });
        entries.insert(name, Arc::downgrade(&font));
        font
    }
}

impl Drop for Font {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
        let Some(cache) = self.cache.upgrade() else { return };
        let mut entries = cache.entries.lock().unwrap();
        // Another one of the same name may have taken the place already.
        if entries.get(self.name).is_some_and(|entry| entry.strong_count() == 0) {
            entries.remove(self.name);
        }
    }
}

fn draw(fonts: &Arc<Fonts>, names: [&'static str; 3]) -> usize {
    let mut width = 0;
    let mut last = None;
    for name in names {
        let font = fonts.get(name);
        assert_eq!(font.name, name);
        width += font.glyphs.len();
        // The one before is dropped here.
        last = Some(font);
    }
    drop(last);
    width
}

fn main() {
    let fonts = Arc::new(Fonts::default());
    let names = [["serif", "mono", "serif"], ["mono", "serif", "mono"], ["serif", "serif", "mono"]];
    let threads: Vec<_> = names
        .into_iter()
        .map(|names| {
            let fonts = fonts.clone();
            thread::spawn(move || draw(&fonts, names))
        })
        .collect();
    let widths: Vec<_> = threads.into_iter().map(|it| it.join().unwrap()).collect();
    assert_eq!(widths, [14, 13, 14]);
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
    assert!(fonts.entries.lock().unwrap().is_empty());
    let (loaded, shared) = (fonts.loaded.load(Ordering::Relaxed), fonts.shared.load(Ordering::Relaxed));
    assert_eq!(loaded + shared, 9);
    println!("{loaded} loaded, {shared} shared");
}

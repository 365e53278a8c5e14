fn main() {
    assert!(cfg!(corner), "the configuration's flags are kept");
    assert_eq!(macros::seven!(), 7);
    assert_eq!(env!("SHOP"), "corner");
    let steps = if cfg!(feature = "double") { 2 } else { 1 };
    let work = move || (0..steps).for_each(|_| engine::add());
    let other = std::thread::spawn(work);
    work();
    other.join().unwrap();
    assert_eq!(engine::total(), 2 * steps, "lost in the engine");
}

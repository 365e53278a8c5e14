//! Integration tests run in the package's directory, with Cargo's variables.

#[test]
fn surroundings() {
    assert!(std::path::Path::new("tests/whole.rs").exists());
    let dir = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    assert_eq!(std::env::current_dir().unwrap(), std::path::Path::new(&dir));
    assert_eq!(std::env::var("CARGO_PKG_VERSION_MINOR").unwrap(), "2");
}

#[test]
fn counts() {
    assert_eq!(app::count(true), 2);
}

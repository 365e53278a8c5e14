//! Readable names for Rust and C++ symbols.

/// A symbol as its programmer would write it; unknown manglings stay as they are.
pub(crate) fn readable(symbol: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(symbol) {
        return format!("{rust:#}");
    }
    if symbol.starts_with("_Z")
        && let Ok(parsed) = cpp_demangle::Symbol::new(symbol)
        && let Ok(text) = parsed.demangle()
    {
        return text;
    }
    symbol.to_owned()
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn rust_cpp_and_c() {
        assert_eq!(
            readable("_ZN3std2rt10lang_start17h0123456789abcdefE"),
            "std::rt::lang_start"
        );
        assert_eq!(readable("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(readable("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(readable("pthread_create"), "pthread_create");
    }
}

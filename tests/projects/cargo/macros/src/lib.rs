use proc_macro::TokenStream;

/// Seven, counted by a thread of the compiler's.
#[proc_macro]
pub fn seven(_: TokenStream) -> TokenStream {
    let seven = std::thread::spawn(|| 3 + 4).join().unwrap();
    seven.to_string().parse().unwrap()
}

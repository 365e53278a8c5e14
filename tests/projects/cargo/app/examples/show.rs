fn main() {
    println!("{}", app::count(true));
}

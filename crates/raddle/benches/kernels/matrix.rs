//! Matrix multiplication, the rows shared out among the threads.

const SIZE: usize = 200;

type Matrix = Vec<[f64; SIZE]>;

fn filled(number: impl Fn(usize, usize) -> f64) -> Matrix {
    let row = |i| std::array::from_fn(|j| number(i, j));
    (0..SIZE).map(row).collect()
}

fn main() {
    let a = filled(|i, j| (i + j) as f64);
    let b = filled(|i, j| i as f64 - j as f64);
    let mut c = filled(|_, _| 0.0);
    std::thread::scope(|scope| {
        for (rows, left) in c.chunks_mut(SIZE / 2).zip(a.chunks(SIZE / 2)) {
            let b = &b;
            scope.spawn(move || {
                for (row, left) in rows.iter_mut().zip(left) {
                    for (column, place) in row.iter_mut().enumerate() {
                        *place = (0..SIZE).map(|k| left[k] * b[k][column]).sum();
                    }
                }
            });
        }
    });
    println!("{}", (0..SIZE).map(|i| c[i][i]).sum::<f64>());
}

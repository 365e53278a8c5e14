// A matrix is multiplied by scoped threads that claim rows from a counter and write them into parts that `split_at_mut`
// has given out; the rows' owners differ from run to run, the product does not.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

const SIZE: usize = 4;
type Row = [i64; SIZE];

fn multiply_row(row: &Row, right: &[Row; SIZE]) -> Row {
    let mut result = [0; SIZE];
    for (column, cell) in result.iter_mut().enumerate() {
        *cell = (0..SIZE).map(|i| row[i] * right[i][column]).sum();
    }
    result
}

/// Rows are claimed one by one; each is behind a lock of its own that is taken once.
fn by_claims(left: &[Row; SIZE], right: &[Row; SIZE]) -> ([Row; SIZE], Vec<usize>) {
    let next = AtomicUsize::new(0);
    let rows: [Mutex<Row>; SIZE] = Default::default();
    let counts = thread::scope(|scope| {
        let work = || {
            let mut count = 0;
            loop {
                let row = next.fetch_add(1, Ordering::Relaxed);
                if row >= SIZE {
                    return count;
                }
                *rows[row].lock().unwrap() = multiply_row(&left[row], right);
                count += 1;
            }
        };
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|it| it.join().unwrap()).collect()
    });
    (rows.map(|row| row.into_inner().unwrap()), counts)
}

/// Halves are given out in turn, down to single rows.
fn by_halves(left: &[Row], right: &[Row; SIZE], result: &mut [Row]) {
    if let ([row], [place]) = (left, &mut *result) {
        *place = multiply_row(row, right);
        return;
    }
    let middle = left.len() / 2;
    let (upper, lower) = left.split_at(middle);
    let (upper_result, lower_result) = result.split_at_mut(middle);
    thread::scope(|scope| {
        scope.spawn(|| by_halves(upper, right, upper_result));
        by_halves(lower, right, lower_result);
    });
}

fn main() {
    let mut left = [[0; SIZE]; SIZE];
    let mut right = [[0; SIZE]; SIZE];
    for (i, (a, b)) in left.iter_mut().zip(&mut right).enumerate() {
        for k in 0..SIZE {
            a[k] = (i * SIZE + k) as i64;
            b[k] = if k <= i { 1 } else { 0 };
        }
    }
    let expected: Vec<Row> = left.iter().map(|row| multiply_row(row, &right)).collect();
    let (claimed, counts) = by_claims(&left, &right);
    assert_eq!(claimed[..], expected[..]);
    assert_eq!(counts.iter().sum::<usize>(), SIZE);
    let mut halves = [[0; SIZE]; SIZE];
    by_halves(&left, &right, &mut halves);
    assert_eq!(halves[..], expected[..]);
    println!("rows of each: {counts:?}");
}

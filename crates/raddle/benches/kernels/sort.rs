//! Merge sort: each thread sorts its part, then the parts are merged.

const PART: usize = 150_000;

fn merge(from: &[u32], half: usize, to: &mut [u32]) {
    let (mut left, mut right) = (0, half);
    for place in to {
        let take_left = right == from.len() || (left < half && from[left] <= from[right]);
        let at = if take_left { &mut left } else { &mut right };
        *place = from[*at];
        *at += 1;
    }
}

fn sort(numbers: &mut [u32], spare: &mut [u32]) {
    if numbers.len() < 2 {
        return;
    }
    let half = numbers.len() / 2;
    sort(&mut numbers[..half], &mut spare[..half]);
    sort(&mut numbers[half..], &mut spare[half..]);
    merge(numbers, half, spare);
    numbers.copy_from_slice(spare);
}

fn main() {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let mut numbers: Vec<u32> = (0..2 * PART).map(|_| next()).collect();
    let mut spare = vec![0; 2 * PART];
    std::thread::scope(|scope| {
        for (part, spare) in numbers.chunks_mut(PART).zip(spare.chunks_mut(PART)) {
            scope.spawn(move || sort(part, spare));
        }
    });
    merge(&numbers, PART, &mut spare);
    assert!(spare.is_sorted());
    println!("{}", spare[PART]);
}

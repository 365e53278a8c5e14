//! Lists of things for each chain, by position.

use super::place::Place;

/// A list for each chain, of items by position.
pub(super) type ByPlace<T> = Vec<Vec<(u32, T)>>;

pub(super) fn insert<T: Copy + Ord>(lists: &mut ByPlace<T>, place: Place, item: T) {
    let chain = place.chain as usize;
    if lists.len() <= chain {
        lists.resize_with(chain + 1, Vec::new);
    }
    let list = &mut lists[chain];
    let at = list.partition_point(|other| *other < (place.pos, item));
    list.insert(at, (place.pos, item));
}

pub(super) fn remove<T: Copy + Ord>(lists: &mut ByPlace<T>, place: Place, item: T) {
    let list = &mut lists[place.chain as usize];
    let at = list.partition_point(|other| *other < (place.pos, item));
    list.remove(at);
}

/// The items of a chain.
pub(super) fn of_chain<T>(lists: &ByPlace<T>, chain: u32) -> &[(u32, T)] {
    lists.get(chain as usize).map_or(&[], Vec::as_slice)
}

/// The items from position `first` to `last`.
pub(super) fn within<T: Copy>(
    list: &[(u32, T)],
    first: u32,
    last: u32,
) -> impl Iterator<Item = T> + '_ {
    let begin = list.partition_point(|(pos, _)| *pos < first);
    list[begin..]
        .iter()
        .take_while(move |(pos, _)| *pos <= last)
        .map(|(_, item)| *item)
}

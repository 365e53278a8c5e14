static int store;

int store_add(int amount) {
    store += amount;
    return store;
}

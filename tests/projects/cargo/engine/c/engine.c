static int total;

void engine_add(void) {
    total = total + 1;
}

int engine_total(void) {
    return total;
}

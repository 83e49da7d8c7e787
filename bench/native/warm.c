/* warm MIB: writes to so much memory and gives it back.
 *
 * Where machines share a host, free memory goes back to the host within seconds, and the next program that
 * touches it waits for the host to find it again: up to some ten microseconds a page, ten times as long as the
 * page itself takes. Programs that start anew for every run would pay for that, programs that hold their data
 * would not. So this runs before everybody's every run. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int count, char **words) {
    const size_t page = 4096;
    const size_t size = count == 2 ? (size_t)strtoul(words[1], NULL, 10) << 20 : 0;
    if (size == 0) {
        fprintf(stderr, "usage: warm MIB\n");
        return 2;
    }
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    madvise(memory, size, MADV_HUGEPAGE);
    for (size_t at = 0; at < size; at += page) ((volatile char *)memory)[at] = 1;
    return 0;
}

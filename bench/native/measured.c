/* measured REPORT COMMAND...: runs a command and writes how long it took, how much memory it held at
 * most, and how it ended to the file REPORT, as JSON.
 *
 * Linux counts the memory of whoever starts a process as the first of its own. The comparison itself
 * is large, this program is not: what it starts begins with almost nothing. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec + 1e-9 * (double)moment.tv_nsec;
}

int main(int count, char **words) {
    if (count < 3) {
        fprintf(stderr, "usage: measured REPORT COMMAND...\n");
        return 2;
    }
    const double start = now();
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        execvp(words[2], words + 2);
        perror(words[2]);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child) return 1;
    const double seconds = now() - start;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    const double processor = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                             1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    FILE *report = fopen(words[1], "w");
    if (!report) return 1;
    fprintf(report, "{\"seconds\": %.6f, \"cpu\": %.6f, \"peak_kib\": %ld, \"exit\": %d}\n", seconds, processor,
            usage.ru_maxrss, code);
    return fclose(report) == 0 ? 0 : 1;
}

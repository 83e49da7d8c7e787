/* Preloaded into the unchanged liblinear-train tool: notes when it enters and leaves the library's
 * train(), and says at the end how long reading the file, training and saving took. The tool's own
 * reader is timed this way, not an imitation of it. Answers on the file that LINSEP_PHASES names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double started, entered, left;

static double now(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec + 1e-9 * (double)moment.tv_nsec;
}

__attribute__((constructor)) static void begin(void) { started = now(); }

void *train(const void *problem, const void *parameter) {
    void *(*library_train)(const void *, const void *);
    *(void **)&library_train = dlsym(RTLD_NEXT, "train");
    entered = now();
    void *model = library_train(problem, parameter);
    left = now();
    return model;
}

__attribute__((destructor)) static void end(void) {
    if (entered == 0) return; /* some other program that was started on the way */
    const char *path = getenv("LINSEP_PHASES");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out) return;
    fprintf(out, "{\"load\": %.6f, \"train\": %.6f, \"write\": %.6f}\n", entered - started, left - entered,
            now() - left);
    fclose(out);
}

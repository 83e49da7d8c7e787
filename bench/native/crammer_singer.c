/* The reference dual of the Crammer-Singer machine, for the judge of the quality.
 *
 *   crammer_singer FOLDER ROWS FEATURES CLASSES GAP
 *
 * FOLDER holds values.npy, indices.npy, starts.npy and labels.npy (labels 0..CLASSES-1). With C = 1,
 *
 *   P(W) = 1/2 sum |w_k|^2 + sum_i max_k ([k != y_i] + w_k.x_i - w_{y_i}.x_i)
 *   D(a) = -1/2 sum |w_k|^2 - sum_i sum_{k != y_i} a_ik,   w_k = sum_i a_ik x_i,
 *          sum_k a_ik = 0,  a_ik <= [k = y_i]
 *
 * Dual ascent, one row at a time: all a_ik of a row are set to their optimum given the others, which is
 * a projection that sorting solves exactly. Rows that did not move rest until a pass over all rows. Ends
 * when (P - D)/D, both computed anew from a, is at most GAP. Prints {"dual", "gap", "passes"}, and on stderr
 * how far it is. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 64, MOST_PASSES = 2000000 };

static int rows, features, classes;
static double *values, *labels, *weights, *alpha, *squares;
static int32_t *indices, *starts;

static void *load(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    FILE *file = fopen(path, "rb");
    unsigned char head[10];
    if (!file || fread(head, 1, 10, file) != 10) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    long offset = 10 + head[8] + 256L * head[9];
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file) - offset;
    fseek(file, offset, SEEK_SET);
    void *block = malloc((size_t)bytes);
    if (!block || fread(block, 1, (size_t)bytes, file) != (size_t)bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return block;
}

static void scores_of(int row, double *scores) {
    memset(scores, 0, sizeof(double) * (size_t)classes);
    for (int32_t at = starts[row]; at < starts[row + 1]; at++) {
        const double *column = weights + (size_t)indices[at] * (size_t)classes;
        for (int k = 0; k < classes; k++) scores[k] += values[at] * column[k];
    }
}

/* Sets the row's variables to their optimum; returns how far the furthest moved. */
static double improve(int row) {
    double scores[MOST_CLASSES], target[MOST_CLASSES], sorted[MOST_CLASSES];
    const double square = squares[row];
    if (square <= 0) return 0;
    const int own = (int)labels[row];
    double *mine = alpha + (size_t)row * (size_t)classes;
    scores_of(row, scores);
    /* Minimise sum_k square/2 (a_k - target_k)^2 subject to sum a = 0 and a_k <= [k = own]. The shift b
     * solves sum_k min(target_k + b - bound_k, 0) + 1 = 0. */
    for (int k = 0; k < classes; k++) {
        target[k] = mine[k] - (scores[k] + (k != own)) / square - (k == own);
        double value = target[k];
        int at = k;
        for (; at > 0 && sorted[at - 1] > value; at--) sorted[at] = sorted[at - 1];
        sorted[at] = value;
    }
    /* With the lowest m free: b = (-1 - sum of them) / m, valid while the next is above -b. */
    double sum = 0, shift = 0;
    for (int m = 1; m <= classes; m++) {
        sum += sorted[m - 1];
        shift = (-1.0 - sum) / m;
        if (m == classes || sorted[m] + shift >= 0) break;
    }
    double furthest = 0, moves[MOST_CLASSES];
    for (int k = 0; k < classes; k++) {
        const double value = fmin(target[k] + shift, 0.0) + (k == own);
        moves[k] = value - mine[k];
        mine[k] = value;
        furthest = fmax(furthest, fabs(moves[k]));
    }
    if (furthest > 0)
        for (int32_t at = starts[row]; at < starts[row + 1]; at++) {
            double *column = weights + (size_t)indices[at] * (size_t)classes;
            for (int k = 0; k < classes; k++) column[k] += values[at] * moves[k];
        }
    return furthest * sqrt(square);
}

static void measure(double *primal, double *dual) {
    memset(weights, 0, sizeof(double) * (size_t)features * (size_t)classes);
    double linear = 0, scores[MOST_CLASSES];
    for (int row = 0; row < rows; row++) {
        const double *mine = alpha + (size_t)row * (size_t)classes;
        for (int k = 0; k < classes; k++) linear += k == (int)labels[row] ? 0 : mine[k];
        for (int32_t at = starts[row]; at < starts[row + 1]; at++)
            for (int k = 0; k < classes; k++)
                weights[(size_t)indices[at] * (size_t)classes + (size_t)k] += values[at] * mine[k];
    }
    double square = 0, loss = 0;
    for (size_t at = 0; at < (size_t)features * (size_t)classes; at++) square += weights[at] * weights[at];
    for (int row = 0; row < rows; row++) {
        scores_of(row, scores);
        const int own = (int)labels[row];
        double worst = 0;
        for (int k = 0; k < classes; k++)
            if (k != own) worst = fmax(worst, 1 + scores[k] - scores[own]);
        loss += worst;
    }
    *primal = square / 2 + loss;
    *dual = -square / 2 - linear;
}

static uint64_t state = 88172645463325252ull;

static int below(int bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)bound);
}

int main(int count, char **words) {
    if (count != 6) {
        fprintf(stderr, "usage: crammer_singer FOLDER ROWS FEATURES CLASSES GAP\n");
        return 2;
    }
    rows = atoi(words[2]);
    features = atoi(words[3]);
    classes = atoi(words[4]);
    const double wanted = atof(words[5]);
    if (rows < 1 || features < 1 || classes < 2 || classes > MOST_CLASSES) {
        fprintf(stderr, "cannot work on %d rows, %d features, %d classes\n", rows, features, classes);
        return 2;
    }
    values = load(words[1], "values");
    labels = load(words[1], "labels");
    indices = load(words[1], "indices");
    starts = load(words[1], "starts");
    weights = calloc((size_t)features * (size_t)classes, sizeof(double));
    alpha = calloc((size_t)rows * (size_t)classes, sizeof(double));
    squares = calloc((size_t)rows, sizeof(double));
    int *order = malloc(sizeof(int) * (size_t)rows);
    if (!weights || !alpha || !squares || !order) return 1;
    for (int row = 0; row < rows; row++) {
        order[row] = row;
        for (int32_t at = starts[row]; at < starts[row + 1]; at++) squares[row] += values[at] * values[at];
    }
    int active = rows;
    double primal = 0, dual = 0, gap = INFINITY, largest = INFINITY;
    for (int pass = 1; pass <= MOST_PASSES; pass++) {
        for (int at = active - 1; at > 0; at--) {
            const int other = below(at + 1), kept = order[at];
            order[at] = order[other];
            order[other] = kept;
        }
        /* A row that moves by a small share of the largest move rests; it goes behind the active ones. */
        const double rest = 1e-3 * largest;
        double furthest = 0;
        int end = active;
        for (int at = 0; at < end;) {
            const double moved = improve(order[at]);
            furthest = fmax(furthest, moved);
            if (pass > 1 && moved <= rest && isfinite(largest)) {
                const int kept = order[at];
                order[at] = order[--end];
                order[end] = kept;
            } else {
                at++;
            }
        }
        largest = furthest;
        active = end;
        if (pass % 20 == 0 || active == 0) {
            active = rows;
        }
        if (pass % 40 == 0) {
            measure(&primal, &dual);
            gap = (primal - dual) / dual;
            fprintf(stderr, "pass %d: dual %.17g, gap %.3e\n", pass, dual, gap);
            if (gap <= wanted) {
                printf("{\"dual\": %.17g, \"gap\": %.3e, \"passes\": %d}\n", dual, gap, pass);
                return 0;
            }
        }
    }
    fprintf(stderr, "the gap is still %.1e after %d passes\n", gap, MOST_PASSES);
    return 1;
}

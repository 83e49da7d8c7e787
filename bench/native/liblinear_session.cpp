// LIBLINEAR's library as its Python package ships it (the package has no command-line tools), driven in
// two ways:
//
//   liblinear_session serve DATA FEATURES     reads once, then trains on request (training-only rows)
//   liblinear_session train SOLVER EPS DATA MODEL   reads, trains, saves (file-to-model rows)
//
// `serve` reads requests from stdin, a line "SOLVER EPS OUT" each, and answers with a line of JSON; the
// weights go to OUT as raw doubles in LIBLINEAR's order. C is 1, or what stands behind the solver, as in
// "3:1e6", and there is no bias.
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "linear.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of all threads; on a busy machine it says more than the time on the wall.
double processor_seconds() {
    timespec moment{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &moment);
    return static_cast<double>(moment.tv_sec) + 1e-9 * static_cast<double>(moment.tv_nsec);
}

// Not getrusage: that counts the memory of whoever started this process.
long peak_kib() {
    FILE *status = std::fopen("/proc/self/status", "r");
    char line[256];
    long peak = 0;
    while (status && std::fgets(line, sizeof line, status))
        if (!std::strncmp(line, "VmHWM:", 6)) peak = std::atol(line + 6);
    if (status) std::fclose(status);
    return peak;
}

struct Data {
    std::vector<double> labels;
    std::vector<feature_node> nodes;  // every row ends with the index -1
    std::vector<feature_node *> rows;
    problem view{};
};

void read_svmlight(const char *path, int features, Data &data) {
    FILE *file = std::fopen(path, "r");
    if (!file) throw std::runtime_error(std::string("cannot open ") + path);
    std::vector<size_t> starts;
    char *line = nullptr;
    size_t capacity = 0;
    int largest = 0;
    while (getline(&line, &capacity, file) > 0) {
        char *at = line;
        char *end = nullptr;
        const double label = std::strtod(at, &end);
        if (end == at) continue;  // an empty line
        data.labels.push_back(label);
        starts.push_back(data.nodes.size());
        for (at = end;; at = end) {
            const long index = std::strtol(at, &end, 10);
            if (end == at || *end != ':') break;
            at = end + 1;
            data.nodes.push_back({static_cast<int>(index), std::strtod(at, &end)});
            if (index > largest) largest = static_cast<int>(index);
        }
        data.nodes.push_back({-1, 0.0});
    }
    std::free(line);
    std::fclose(file);
    for (size_t start : starts) data.rows.push_back(&data.nodes[start]);
    data.view.l = static_cast<int>(data.labels.size());
    data.view.n = features > largest ? features : largest;
    data.view.y = data.labels.data();
    data.view.x = data.rows.data();
    data.view.bias = -1;
}

parameter parameters(int solver, double eps, double c) {
    parameter chosen{};
    chosen.solver_type = solver;
    chosen.eps = eps;
    chosen.C = c;
    chosen.p = 0.1;
    chosen.nu = 0.5;
    chosen.regularize_bias = 1;
    return chosen;
}

void write_weights(const char *path, const model *learned, int planes) {
    FILE *file = std::fopen(path, "wb");
    if (!file) throw std::runtime_error(std::string("cannot write ") + path);
    const size_t count = static_cast<size_t>(planes) * learned->nr_feature;
    const bool whole = std::fwrite(learned->w, sizeof(double), count, file) == count;
    if (std::fclose(file) != 0 || !whole) throw std::runtime_error(std::string("cannot write ") + path);
}

void serve(const char *path, int features) {
    Data data;
    const auto start = Clock::now();
    read_svmlight(path, features, data);
    std::printf("{\"load\": %.6f, \"cpu\": %.6f, \"peak_kib\": %ld}\n", seconds_since(start), processor_seconds(),
                peak_kib());
    std::fflush(stdout);
    double eps;
    char word[64], out[4096];
    while (std::scanf("%63s %lf %4095s", word, &eps, out) == 3) {
        const int solver = std::atoi(word);
        const char *c = std::strchr(word, ':');
        const parameter chosen = parameters(solver, eps, c ? std::atof(c + 1) : 1);
        const auto begin = Clock::now();
        const double before = processor_seconds();
        model *learned = train(&data.view, &chosen);
        const double seconds = seconds_since(begin);
        const double processor = processor_seconds() - before;
        const int planes = learned->nr_class == 2 && solver != MCSVM_CS ? 1 : learned->nr_class;
        write_weights(out, learned, planes);
        std::printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"peak_kib\": %ld, \"planes\": %d, \"labels\": [",
                    seconds, processor, peak_kib(), planes);
        for (int k = 0; k < learned->nr_class; k++)
            std::printf("%s%d", k ? ", " : "", learned->label[k]);
        std::printf("]}\n");
        std::fflush(stdout);
        free_and_destroy_model(&learned);
    }
}

void train_file(int solver, double eps, const char *data_path, const char *model_path) {
    Data data;
    const auto start = Clock::now();
    read_svmlight(data_path, 0, data);
    const double load = seconds_since(start);
    const parameter chosen = parameters(solver, eps, 1);
    const auto begin = Clock::now();
    model *learned = train(&data.view, &chosen);
    const double seconds = seconds_since(begin);
    const auto saving = Clock::now();
    if (save_model(model_path, learned) != 0) throw std::runtime_error("cannot save the model");
    std::printf("{\"load\": %.6f, \"train\": %.6f, \"write\": %.6f}\n", load, seconds, seconds_since(saving));
}

void silent(const char *) {}

}  // namespace

int main(int count, char **words) {
    set_print_string_function(silent);
    try {
        if (count == 4 && !std::strcmp(words[1], "serve")) {
            serve(words[2], std::atoi(words[3]));
        } else if (count == 6 && !std::strcmp(words[1], "train")) {
            train_file(std::atoi(words[2]), std::atof(words[3]), words[4], words[5]);
        } else {
            std::fprintf(stderr, "usage: liblinear_session serve DATA FEATURES | train SOLVER EPS DATA MODEL\n");
            return 2;
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}

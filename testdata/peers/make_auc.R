# Writes what pROC says of the rows of metrics.json: areas, DeLong's intervals, DeLong's paired test.
#
#     Rscript testdata/peers/make_auc.R
#
# Packages r-base-core and r-cran-proc of Debian. JSON is read by a pattern, so that no other package is needed.
suppressMessages(library(pROC))
folder <- "testdata/peers"
lines <- readLines(file.path(folder, "metrics.json"), warn = FALSE)
lines <- lines[startsWith(lines, '{"truth"')]
numbers <- function(line, name) {
  found <- regmatches(line, regexpr(sprintf('"%s": \\[[^]]*\\]', name), line))
  as.numeric(strsplit(gsub('.*\\[|\\]', "", found), ", ")[[1]])
}
out <- c("case\tauc\tlow\thigh\tother\tp")
case <- 0
for (line in lines) {
  if (grepl('"other"', line)) {
    truth <- numbers(line, "truth")
    # Pairs of probabilities: every second number is that of the second class.
    all <- regmatches(line, regexpr('"probabilities": \\[\\[.*?\\]\\]', line, perl = TRUE))
    all <- as.numeric(strsplit(gsub('"probabilities": |\\[|\\]', "", all), ", ")[[1]])
    p <- all[seq(2, length(all), 2)]
    other <- numbers(line, "other")
    a <- roc(truth, p, direction = "<", quiet = TRUE)
    b <- roc(truth, other, direction = "<", quiet = TRUE)
    ends <- ci.auc(a, method = "delong")
    test <- roc.test(a, b, method = "delong", paired = TRUE)
    row <- c(auc(a), ends[1], ends[3], auc(b), test$p.value)
    out <- c(out, paste(c(case, sprintf("%.15g", row)), collapse = "\t"))
  }
  case <- case + 1
}
writeLines(c(sprintf("# pROC %s, R %s.%s", packageVersion("pROC"), R.version$major, R.version$minor), out),
           file.path(folder, "auc.tsv"))

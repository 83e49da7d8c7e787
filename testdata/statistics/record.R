# Records answers of R for the tests: Rscript record.R > recorded.json
# Debian 12: r-base-core 4.2.2, r-cran-nnet 7.3-18, r-cran-mass 7.3-58.2, r-cran-brglm2 0.9.
suppressMessages({library(nnet); library(brglm2); library(MASS)})
number <- function(x) ifelse(is.na(x), "null", formatC(x, digits = 15, format = "g", width = 1))
list_of <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
rows_of <- function(m) paste0("[", paste(apply(m, 1, list_of), collapse = ", "), "]")
field <- function(name, value) paste0('"', name, '": ', value)
object <- function(...) paste0("{", paste(c(...), collapse = ",\n  "), "}")
words <- function(x) paste0("[", paste0('"', x, '"', collapse = ", "), "]")

alligators <- read.csv("alligators.csv", stringsAsFactors = TRUE)
formula <- foodchoice ~ lake + gender + size
ml <- multinom(formula, alligators, weights = freq, trace = FALSE, maxit = 10000, reltol = 1e-16, abstol = 1e-14)
exact <- brmultinom(formula, alligators, weights = freq, type = "ML", ref = 1, epsilon = 1e-12, maxit = 500)
reduced <- brmultinom(formula, alligators, weights = freq, type = "AS_mean", ref = 1, epsilon = 1e-12, maxit = 500)
stopifnot(max(abs(coef(ml) - coef(exact))) < 1e-5)
multinomial <- object(
  field("classes", words(levels(alligators$foodchoice))), field("names", words(colnames(coef(ml)))),
  field("multinom_coef", rows_of(coef(ml))), field("multinom_se", rows_of(summary(ml)$standard.errors)),
  field("coef", rows_of(coef(exact))), field("se", rows_of(summary(exact)$standard.errors)),
  field("deviance", number(deviance(ml))), field("aic", number(AIC(ml))),
  field("firth_coef", rows_of(coef(reduced))), field("firth_se", rows_of(summary(reduced)$standard.errors)))

# Bliss 1935: beetles and carbon disulphide.
dose <- c(1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839)
died <- c(6, 13, 18, 28, 52, 53, 61, 60); all <- c(59, 60, 62, 56, 63, 59, 62, 60)
beetles <- glm(cbind(died, all - died) ~ dose, family = binomial, epsilon = 1e-14)
grouped <- object(
  field("dose", list_of(dose)), field("died", list_of(died)), field("survived", list_of(all - died)),
  field("coef", list_of(coef(beetles))), field("se", list_of(sqrt(diag(vcov(beetles))))),
  field("deviance", number(deviance(beetles))), field("null_deviance", number(beetles$null.deviance)),
  field("aic", number(AIC(beetles))), field("bic", number(BIC(beetles))),
  field("deviance_residuals", list_of(residuals(beetles))), field("pearson", list_of(residuals(beetles, "pearson"))),
  field("leverage", list_of(hatvalues(beetles))), field("cook", list_of(cooks.distance(beetles))))

infert <- read.csv("infert.csv")
shifted <- glm(case ~ spontaneous + offset(0.3 * induced - 0.5), binomial, infert, epsilon = 1e-14)
u <- model.matrix(shifted) * (infert$case - fitted(shifted))
robust <- vcov(shifted) %*% crossprod(u) %*% vcov(shifted)
offset <- object(
  field("coef", list_of(coef(shifted))), field("se", list_of(sqrt(diag(vcov(shifted))))),
  field("robust_se", list_of(sqrt(diag(robust)))), field("deviance", number(deviance(shifted))),
  field("null_deviance", number(shifted$null.deviance)))
# Ends of profiles, solved. confint() interpolates a spline between points of the profile and is off by up to 3e-4.
ends_of <- function(file, formula, names) {
  data <- read.csv(file, stringsAsFactors = TRUE)
  frame <- model.frame(as.formula(formula), data)
  y <- model.response(frame); y <- as.numeric(if (is.factor(y)) y != levels(y)[1] else y)
  for (k in names(frame)) if (is.logical(frame[[k]])) frame[[k]] <- factor(frame[[k]])
  table <- lapply(data, function(x) if (is.factor(x)) as.character(x) else x)
  column <- function(name) {
    if (name == "(Intercept)") return(rep(1, nrow(data)))
    if (name %in% names(data) && is.numeric(data[[name]])) return(data[[name]])
    if (name %in% names(data) && is.logical(data[[name]])) return(as.numeric(data[[name]]))
    factor <- Filter(function(k) startsWith(name, k), names(data))
    factor <- factor[which.max(nchar(factor))]
    as.numeric(as.character(data[[factor]]) == substring(name, nchar(factor) + 1))
  }
  x <- sapply(names, column)
  fit <- function(x, offset) suppressWarnings(glm.fit(x, y, offset = offset, family = binomial(), control = list(epsilon = 1e-13, maxit = 300)))
  full <- fit(x, rep(0, length(y))); se <- sqrt(diag(chol2inv(full$qr$qr[seq_along(names), , drop = FALSE])))
  se <- se[order(full$qr$pivot)]
  sapply(seq_along(names), function(j) {
    over <- function(b) fit(x[, -j, drop = FALSE], b * x[, j])$deviance - full$deviance - qchisq(0.95, 1)
    infinite <- se[j] > 100 * max(abs(full$coefficients[j]), 1) || abs(full$coefficients[j]) > 20
    solve <- function(from, to) uniroot(over, sort(c(from, to)), tol = 1e-12, extendInt = "yes")$root
    if (infinite) return(c(solve(-5, 8), NA))
    c(solve(full$coefficients[j], full$coefficients[j] - 4 * se[j]), solve(full$coefficients[j], full$coefficients[j] + 4 * se[j]))
  })
}
sets <- list(
  endometrial = list("endometrial.csv", "HG ~ NV + PI + EH", c("(Intercept)", "NV", "PI", "EH")),
  sex2 = list("sex2.csv", "case ~ age + oc + vic + vicl + vis + dia", c("(Intercept)", "age", "oc", "vic", "vicl", "vis", "dia")),
  birthwt = list("birthwt.csv", "low ~ age", c("(Intercept)", "age", "lwt", "raceblack", "raceother", "smoke", "ptdTRUE", "ht", "ui", "ftv1", "ftv2+")),
  infert = list("infert.csv", "case ~ induced", c("(Intercept)", "spontaneous", "induced")),
  SAheart = list("SAheart.csv", "chd ~ sbp", c("(Intercept)", "sbp", "tobacco", "ldl", "famhistPresent", "obesity", "alcohol", "age")),
  Default = list("Default.csv.gz", "default ~ balance", c("(Intercept)", "balance", "income", "studentYes")))
ends <- sapply(names(sets), function(k) field(k, rows_of(t(do.call(ends_of, sets[[k]])))))
# Discriminant axes; the label is the last column, the tables are those of the examples.
axes_of <- function(file, label) {
  data <- read.csv(file.path("../../examples", file))
  x <- as.matrix(data[setdiff(names(data), label)])
  fit <- lda(x, grouping = factor(data[[label]]), tol = 1e-10)
  object(
    field("file", paste0('"', file, '"')), field("classes", words(fit$lev)), field("features", words(colnames(x))),
    field("scaling", rows_of(t(fit$scaling))), field("svd", list_of(fit$svd)),
    field("proportion_of_trace", list_of(fit$svd^2 / sum(fit$svd^2))),
    field("first_row", list_of(predict(fit, x)$x[1, ])), field("last_row", list_of(predict(fit, x)$x[nrow(x), ])))
}
lda_axes <- object(field("iris", axes_of("iris.csv", "species")), field("wine", axes_of("wine.csv", "label")),
  field("breast_cancer", axes_of("breast_cancer.csv", "label")))
cat(object(field("profile_ends", object(ends)), field("alligators", multinomial), field("beetles", grouped), field("offset", offset), field("lda", lda_axes)), "\n")

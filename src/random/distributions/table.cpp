#include "random/distributions/table.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "core/threads/interrupt.h"
#include "random/distributions/python.h"
#include "random/distributions/real.h"
#include "random/distributions/whole.h"
#include "weft/errors.h"

namespace weft::distributions {

namespace {

using enum Constraint;

template <class Draw, class T>
void fill(Bits& bits, const Draw& draw, std::span<T> out) {
    PausePoints pauses;
    for (T& each : out) {
        each = draw(bits);
        pauses.next_iteration();
    }
}

// A function of the bits and real parameters.
template <auto kFunction>
struct Function {
    static auto draw(Bits& bits, const Numbers& numbers) {
        const auto& [a, b, c] = numbers.real;
        using F = decltype(kFunction);
        if constexpr (std::is_invocable_v<F, Bits&>) {
            return kFunction(bits);
        } else if constexpr (std::is_invocable_v<F, Bits&, double>) {
            return kFunction(bits, a);
        } else if constexpr (std::is_invocable_v<F, Bits&, double, double>) {
            return kFunction(bits, a, b);
        } else {
            return kFunction(bits, a, b, c);
        }
    }
    template <class T>
    static void fill_all(Bits& bits, const Numbers& numbers, std::span<T> out) {
        const Numbers own = numbers;  // which no write to `out` changes
        fill(bits, [&own](Bits& from) { return draw(from, own); }, out);
    }
};

// What is computed of the parameters alone is so once for many numbers.
template <class Prepared, int kCount>
struct Prepare {
    static Prepared of(const Numbers& numbers) {
        if constexpr (kCount == 1) {
            return Prepared(numbers.real[0]);
        } else {
            return Prepared(numbers.real[0], numbers.real[1]);
        }
    }
    static auto draw(Bits& bits, const Numbers& numbers) { return of(numbers)(bits); }
    template <class T>
    static void fill_all(Bits& bits, const Numbers& numbers, std::span<T> out) {
        fill(bits, of(numbers), out);
    }
};

template <Binomial::Of kOf>
struct Trials {
    static Binomial of(const Numbers& numbers) { return Binomial(kOf, numbers.whole[0], numbers.real[1]); }
    static int64_t draw(Bits& bits, const Numbers& numbers) { return of(numbers)(bits); }
    static void fill_all(Bits& bits, const Numbers& numbers, std::span<int64_t> out) {
        fill(bits, of(numbers), out);
    }
};

template <auto kFunction>
struct Urn {
    static int64_t draw(Bits& bits, const Numbers& numbers) {
        return kFunction(bits, numbers.whole[0], numbers.whole[1], numbers.whole[2]);
    }
    static void fill_all(Bits& bits, const Numbers& numbers, std::span<int64_t> out) {
        fill(bits, [numbers](Bits& from) { return draw(from, numbers); }, out);
    }
};

template <class Way, class... Parameters>
constexpr Distribution real(std::string_view name, Parameters... parameters) {
    return {name,
            false,
            sizeof...(parameters),
            {parameters...},
            Way::draw,
            [](Bits& bits, const Numbers& n, std::span<double> out) { Way::fill_all(bits, n, out); }};
}

template <class Way, class... Parameters>
constexpr Distribution whole(std::string_view name, Parameters... parameters) {
    return {name,
            true,
            sizeof...(parameters),
            {parameters...},
            nullptr,
            nullptr,
            Way::draw,
            [](Bits& bits, const Numbers& n, std::span<int64_t> out) { Way::fill_all(bits, n, out); }};
}

// The largest mean whose numbers fit int64, ten deviations off.
const double kLargestMean = 0x1p63 - std::sqrt(0x1p63) * 10;

// What is wrong with a number, after its name; null if nothing is. Of arrays NumPy says it in other words.
const char* fault(Constraint constraint, double value, bool of_array) {
    const auto text = [of_array](const char* number, const char* array) { return of_array ? array : number; };
    switch (constraint) {
        case Constraint::kNone: break;
        case Constraint::kNonNegative:
            if (!std::isnan(value) && std::signbit(value)) return " < 0";
            break;
        case Constraint::kPositiveNotNan:
            if (std::isnan(value)) return " must not be NaN";
            [[fallthrough]];
        case Constraint::kPositive:
            if (value <= 0) return " <= 0";
            break;
        case Constraint::kUpToOne:
            if (!(value >= 0 && value <= 1))
                return text(" < 0, {} > 1 or {} is NaN", " < 0, {} > 1 or {} contains NaNs");
            break;
        case Constraint::kAboveZeroToOne:
            if (!(value > 0 && value <= 1)) return " <= 0, {} > 1 or {} contains NaNs";
            break;
        case Constraint::kBelowOne:
            if (!(value >= 0 && value < 1))
                return text(" < 0, {} >= 1 or {} is NaN", " < 0, {} >= 1 or {} contains NaNs");
            break;
        case Constraint::kAboveOne:
            if (!(value > 1)) return text(" <= 1 or {} is NaN", " <= 1 or {} contains NaNs");
            break;
        case Constraint::kAtLeastOne:
            if (!(value >= 1)) return text(" < 1 or {} is NaN", " < 1 or {} contains NaNs");
            break;
        case Constraint::kPoisson:
            if (of_array && !(value <= kLargestMean)) return " value too large";
            if (!(value >= 0)) return text(" < 0 or {} is NaN", " < 0 or {} contains NaNs");
            if (!(value <= kLargestMean)) return " value too large";
            break;
    }
    return nullptr;
}

using New = Modern<double>;
constexpr Parameter kLoc = {"loc"}, kScale = {"scale", kNonNegative}, kDf = {"df", kPositive},
                    kDfnum = {"dfnum", kPositive}, kDfden = {"dfden", kPositive},
                    kNonc = {"nonc", kNonNegative}, kShape = {"shape", kNonNegative}, kA = {"a", kPositive},
                    kMu = {"mu"}, kSigma = {"sigma"}, kAlpha = {"alpha"}, kBeta = {"beta"};

double legacy_standard_exponential(Bits& bits) { return Legacy::exponential(bits); }
double legacy_standard_normal(Bits& bits) { return Legacy::normal(bits); }
double exponential_by_log(Bits& bits) { return -std::log1p(-bits.next_double()); }
double standard_uniform(Bits& bits) { return bits.next_double(); }
int64_t positive_integer(Bits& bits) { return static_cast<int64_t>(bits.next64() >> 1); }

constexpr std::array kAll = {
    real<Function<standard_uniform>>("random"),
    real<Function<New::normal>>("standard_normal"),
    real<Function<New::exponential>>("standard_exponential"),
    real<Function<uniform>>("uniform", Parameter{"low"}, Parameter{"high - low", kNonNegative}),
    real<Function<normal<New>>>("normal", kLoc, kScale),
    real<Function<exponential<New>>>("exponential", kScale),
    real<Prepare<StandardGamma<double, New>, 1>>("standard_gamma", kShape),
    real<Prepare<Gamma<New>, 2>>("gamma", kShape, kScale),
    real<Function<beta>>("beta", kA, Parameter{"b", kPositive}),
    real<Function<chisquare<New>>>("chisquare", kDf),
    real<Function<f<New>>>("f", kDfnum, kDfden),
    real<Function<noncentral_chisquare<New>>>("noncentral_chisquare", kDf, kNonc),
    real<Function<noncentral_f<New>>>("noncentral_f", kDfnum, kDfden, kNonc),
    real<Function<standard_cauchy<New>>>("standard_cauchy"),
    real<Function<standard_t<New>>>("standard_t", kDf),
    real<Function<vonmises>>("vonmises", Parameter{"mu"}, Parameter{"kappa", kNonNegative}),
    real<Function<pareto>>("pareto", kA),
    real<Function<weibull<New>>>("weibull", Parameter{"a", kNonNegative}),
    real<Function<power>>("power", kA),
    real<Function<laplace>>("laplace", kLoc, kScale),
    real<Function<gumbel>>("gumbel", kLoc, kScale),
    real<Function<logistic>>("logistic", kLoc, kScale),
    real<Function<lognormal<New>>>("lognormal", Parameter{"mean"}, Parameter{"sigma", kNonNegative}),
    real<Function<rayleigh>>("rayleigh", kScale),
    real<Function<wald>>("wald", Parameter{"mean", kPositive}, Parameter{"scale", kPositive}),
    real<Function<triangular>>("triangular", Parameter{"left"}, Parameter{"mode"}, Parameter{"right"}),
    whole<Trials<Binomial::Of::kGenerator>>("binomial", Parameter{"n", kNonNegative, true},
                                            Parameter{"p", kUpToOne}),
    whole<Function<negative_binomial<New>>>("negative_binomial", Parameter{"n", kPositiveNotNan},
                                            Parameter{"p", kAboveZeroToOne}),
    whole<Prepare<Poisson, 1>>("poisson", Parameter{"lam", kPoisson}),
    whole<Function<zipf>>("zipf", Parameter{"a", kAboveOne}),
    whole<Function<geometric>>("geometric", Parameter{"p", kAboveZeroToOne}),
    whole<Urn<hypergeometric>>("hypergeometric", Parameter{"ngood", kNonNegative, true},
                               Parameter{"nbad", kNonNegative, true},
                               Parameter{"nsample", kNonNegative, true}),
    whole<Function<logseries>>("logseries", Parameter{"p", kBelowOne}),

    real<Function<legacy_standard_normal>>("legacy_standard_normal"),
    real<Function<legacy_standard_exponential>>("legacy_standard_exponential"),
    real<Function<uniform>>("legacy_uniform", Parameter{"low"}, Parameter{"high - low"}),
    real<Function<normal<Legacy>>>("legacy_normal", kLoc, kScale),
    real<Function<exponential<Legacy>>>("legacy_exponential", kScale),
    real<Prepare<StandardGamma<double, Legacy>, 1>>("legacy_standard_gamma", kShape),
    real<Prepare<Gamma<Legacy>, 2>>("legacy_gamma", kShape, kScale),
    real<Function<legacy_beta>>("legacy_beta", kA, Parameter{"b", kPositive}),
    real<Function<chisquare<Legacy>>>("legacy_chisquare", kDf),
    real<Function<f<Legacy>>>("legacy_f", kDfnum, kDfden),
    real<Function<noncentral_chisquare<Legacy>>>("legacy_noncentral_chisquare", kDf, kNonc),
    real<Function<noncentral_f<Legacy>>>("legacy_noncentral_f", kDfnum, kDfden, kNonc),
    real<Function<standard_cauchy<Legacy>>>("legacy_standard_cauchy"),
    real<Function<standard_t<Legacy>>>("legacy_standard_t", kDf),
    real<Function<legacy_vonmises>>("legacy_vonmises", Parameter{"mu"}, Parameter{"kappa", kNonNegative}),
    real<Function<legacy_pareto>>("legacy_pareto", kA),
    real<Function<weibull<Legacy>>>("legacy_weibull", Parameter{"a", kNonNegative}),
    real<Function<legacy_power>>("legacy_power", kA),
    real<Function<laplace>>("legacy_laplace", kLoc, kScale),
    real<Function<gumbel>>("legacy_gumbel", kLoc, kScale),
    real<Function<logistic>>("legacy_logistic", kLoc, kScale),
    real<Function<lognormal<Legacy>>>("legacy_lognormal", Parameter{"mean"},
                                      Parameter{"sigma", kNonNegative}),
    real<Function<legacy_rayleigh>>("legacy_rayleigh", kScale),
    real<Function<legacy_wald>>("legacy_wald", Parameter{"mean", kPositive}, Parameter{"scale", kPositive}),
    real<Function<triangular>>("legacy_triangular", Parameter{"left"}, Parameter{"mode"}, Parameter{"right"}),
    whole<Function<positive_integer>>("legacy_tomaxint"),
    whole<Trials<Binomial::Of::kRandomState>>("legacy_binomial", Parameter{"n", kNonNegative, true},
                                              Parameter{"p", kUpToOne}),
    whole<Function<negative_binomial<Legacy>>>("legacy_negative_binomial", Parameter{"n", kPositive},
                                               Parameter{"p", kUpToOne}),
    whole<Prepare<Poisson, 1>>("legacy_poisson", Parameter{"lam", kPoisson}),
    whole<Function<legacy_zipf>>("legacy_zipf", Parameter{"a", kAboveOne}),
    whole<Function<legacy_geometric>>("legacy_geometric", Parameter{"p", kAboveZeroToOne}),
    whole<Urn<legacy_hypergeometric>>("legacy_hypergeometric", Parameter{"ngood", kNonNegative, true},
                                      Parameter{"nbad", kNonNegative, true},
                                      Parameter{"nsample", kAtLeastOne, true}),
    whole<Function<legacy_logseries>>("legacy_logseries", Parameter{"p", kBelowOne}),

    real<Function<python::uniform>>("python_uniform", Parameter{"a"}, Parameter{"b"}),
    real<Function<python::triangular>>("python_triangular", Parameter{"low"}, Parameter{"high"},
                                       Parameter{"mode"}),
    real<Function<python::symmetric>>("python_symmetric", Parameter{"low"}, Parameter{"high"}),
    real<Function<python::normalvariate>>("python_normalvariate", kMu, kSigma),
    real<Function<python::gauss>>("python_gauss", kMu, kSigma),
    real<Function<python::lognormvariate>>("python_lognormvariate", kMu, kSigma),
    real<Function<python::expovariate>>("python_expovariate", Parameter{"lambd"}),
    real<Function<python::vonmisesvariate>>("python_vonmisesvariate", kMu, Parameter{"kappa"}),
    real<Function<python::gammavariate>>("python_gammavariate", kAlpha, kBeta),
    real<Function<python::betavariate>>("python_betavariate", kAlpha, kBeta),
    real<Function<python::paretovariate>>("python_paretovariate", kAlpha),
    real<Function<python::weibullvariate>>("python_weibullvariate", kAlpha, kBeta),
    real<Function<exponential_by_log>>("exponential_by_log"),
};

}  // namespace

std::span<const Distribution> all() { return kAll; }

void check(const Parameter& parameter, double value, bool of_array) {
    const char* found = fault(parameter.constraint, value, of_array);
    if (found == nullptr) return;
    std::string text = std::string(parameter.name) + found;
    for (size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}"))
        text.replace(at, 2, parameter.name);
    throw ValueError(text);
}

const Distribution* find(std::string_view name) {
    const auto* found = std::ranges::find(kAll, name, &Distribution::name);
    return found == kAll.end() ? nullptr : found;
}

float standard_gamma32(Bits& bits, float shape) { return StandardGamma<float, Modern<float>>(shape)(bits); }

void fill_standard_gamma32(Bits& bits, float shape, std::span<float> out) {
    fill(bits, StandardGamma<float, Modern<float>>(shape), out);
}

}  // namespace weft::distributions

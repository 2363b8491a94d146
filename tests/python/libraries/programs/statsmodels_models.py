"""statsmodels: regressions, time series and tests of arrays."""

import warnings

import numpy as np
import pandas
import statsmodels.api as sm
import statsmodels.formula.api as smf

k = np.arange(60)
x = np.stack([np.sin(k * 0.7), np.cos(k * 1.3)], axis=1)
e = np.sin(k * 3.1) * 0.5 + np.cos(k * 7.7) * 0.3
y = x @ np.array([1.0, -2.0]) + 0.5 + e
X = sm.add_constant(x)


def least_squares():
    fit = sm.OLS(y, X).fit()
    yield X
    yield from (fit.params, fit.rsquared, fit.bse, fit.resid[:5], fit.predict(X[:3]), fit.conf_int())
    yield fit.f_test(np.eye(3)[1:]).fvalue
    yield fit.t_test(np.array([0, 1, 0.0])).tvalue
    yield fit.get_prediction(X[:2]).summary_frame().to_numpy()
    yield fit.get_influence().cooks_distance[0][:3]
    yield [line for line in str(fit.summary()).splitlines() if "Date" not in line and "Time" not in line]
    yield sm.WLS(y, X, weights=np.linspace(1, 2, 60)).fit().params
    yield sm.GLS(y, X, sigma=np.eye(60) + 0.1).fit().params
    yield sm.RLM(y, X).fit().params
    yield sm.QuantReg(y, X).fit().params


def likelihoods():
    yield sm.GLM(np.abs(y), X, family=sm.families.Gaussian()).fit().params
    yield sm.GLM((e > 0).astype(float), X, family=sm.families.Binomial()).fit().params
    yield sm.Logit((e > 0).astype(int), X).fit(disp=0).params
    yield sm.Probit(e > 0, X).fit(disp=0).params
    yield sm.Poisson(np.abs(y).round(), X).fit(disp=0).params


def formulas():
    frame = pandas.DataFrame({"y": y, "a": x[:, 0], "b": x[:, 1]})
    yield smf.ols("y ~ a + b", frame).fit().params.to_numpy()
    yield smf.ols("y ~ a + np.exp(b)", frame).fit().params.to_numpy()
    yield smf.ols("y ~ a + b", {"y": y, "a": x[:, 0], "b": x[:, 1]}).fit().params.to_numpy()


def series():
    yield sm.tsa.acf(y, nlags=4)
    yield sm.tsa.pacf(y, nlags=3)
    yield sm.tsa.AutoReg(y, 2).fit().params
    yield sm.tsa.VAR(x).fit(1).params
    yield sm.tsa.adfuller(np.cumsum(e) + np.sin(k * k), maxlag=2)[0]
    yield sm.tsa.filters.hpfilter(y)[0][:4]
    yield sm.tsa.seasonal_decompose(y, period=6).trend[5:8]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield np.round(sm.tsa.ARIMA(y, order=(1, 0, 0)).fit().params, 2)


def tests():
    yield sm.stats.durbin_watson(e)
    yield sm.stats.multipletests(np.array([0.01, 0.02, 0.5]))[1]
    yield sm.stats.ztest(y)
    yield sm.stats.DescrStatsW(y, weights=np.ones(60)).mean
    yield sm.nonparametric.lowess(y, x[:, 0])[:3]
    density = sm.nonparametric.KDEUnivariate(y)
    density.fit()
    yield density.density[:3]
    yield sm.distributions.ECDF(y)(np.array([0.0, 1.0]))
    yield sm.stats.proportion_confint(np.int64(20), np.int64(50))

"""Whole numbers, and roots of functions."""

import math

import numpy as np


def only(size):
    return (size,)


def collatz(limit):
    longest, best = 0, 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > longest:
            longest, best = steps, start
    return best, longest


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def coprime_pairs(n):
    count = 0
    for a in range(1, n):
        for b in range(a + 1, n):
            if gcd(a, b) == 1:
                count += 1
    return count


def sieve(is_prime):
    n = len(is_prime)
    is_prime[0] = is_prime[1] = False
    i = 2
    while i * i < n:
        if is_prime[i]:
            for k in range(i * i, n, i):
                is_prime[k] = False
        i += 1
    count = 0
    for flag in is_prime:
        if flag:
            count += 1
    return count


def sieve_arguments(size):
    return (np.ones(size, np.bool_),)


def power_modulo(base, exponent, modulus):
    result = 1
    base %= modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


def is_probable_prime(n):
    if n < 2:
        return False
    for p in (2, 3, 5, 7):
        if n % p == 0:
            return n == p
    d, r = n - 1, 0
    while d % 2 == 0:
        d //= 2
        r += 1
    for witness in (2, 3, 5, 7):
        x = power_modulo(witness, d, n)
        if x == 1 or x == n - 1:
            continue
        for _ in range(r - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def miller_rabin(limit):
    count, last = 0, 0
    for n in range(1_000_000_001, 1_000_000_001 + limit, 2):
        if is_probable_prime(n):
            count += 1
            last = n
    return count, last


def newton(limit):
    total = 0.0
    for k in range(1, limit):
        x = float(k)
        while True:
            better = 0.5 * (x + k / x)
            if abs(better - x) <= 1e-12 * x:
                break
            x = better
        total += better
    return total


def kepler(eccentricity, anomaly):
    low, high = anomaly - 1.0, anomaly + 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle - eccentricity * math.sin(middle) < anomaly:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def bisection(limit):
    total = 0.0
    for k in range(limit):
        total += kepler(0.3, k / limit)
    return total


def monte_carlo_pi(samples, seed):
    state, inside = seed, 0
    for _ in range(samples):
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        x = state / 2147483648.0
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        y = state / 2147483648.0
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / samples


def monte_carlo_pi_arguments(size):
    return size, 42


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


PROGRAMS = {
    "collatz": (collatz, only, 60, 300_000),
    "coprime_pairs": (coprime_pairs, only, 30, 1_500),
    "sieve": (sieve, sieve_arguments, 300, 3_000_000),
    "miller_rabin": (miller_rabin, only, 100, 60_000),
    "newton": (newton, only, 50, 300_000),
    "bisection": (bisection, only, 8, 20_000),
    "monte_carlo_pi": (monte_carlo_pi, monte_carlo_pi_arguments, 500, 5_000_000),
    "fibonacci": (fibonacci, only, 10, 30),
}

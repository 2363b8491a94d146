// Pointers, references, structures and cases that run on, in kernels in C++: what the front end makes of them
// is what the compiler of this file does.
#include <utility>

#include "lang/c_source_bodies.h"

namespace weft::lang::c_source {
namespace {

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wimplicit-fallthrough"
#pragma clang diagnostic ignored "-Wsign-compare"
#pragma clang diagnostic ignored "-Wmissing-field-initializers"
#pragma clang diagnostic ignored "-Wunused-but-set-variable"

// NOLINTBEGIN
#define TEXT_AND_CODE(NAME, ...)           \
    const char* const NAME = #__VA_ARGS__; \
    __VA_ARGS__

TEXT_AND_CODE(
    kFunctions,
    double sum(const double* p, int n) {
        double s = 0;
        for (const double* q = p; q != p + n; ++q) s += *q;
        return s;
    } void sort(double* a, int n) {
        for (int i = 1; i < n; i++) {
            double v = a[i];
            int j = i;
            while (j > 0 && a[j - 1] > v) {
                a[j] = a[j - 1];
                j--;
            }
            a[j] = v;
        }
    } int find(const int a[], int n, int wanted) {
        for (int k = 0; k < n; ++k) {
            if (a[k] == wanted) return k;
            if (a[k] < 0) break;
        }
        return -1;
    } void both(int* a, int& b, int v) {
        if (v > 3) {
            *a += v;
            return;
        }
        b += v;
    } const int* later(const int* p, int n) { return p + n; } template <class T>
    T largest(const T* p, int n) {
        T result = p[0];
        for (int k = 1; k < n; ++k) {
            if (result < p[k]) result = p[k];
        }
        return result;
    } template <int N>
    int times(int v) {
        int result = 0;
        for (int k = 0; k < N; ++k) result += v;
        return result;
    } int with_default(int a, int b = 7) { return a * 10 + b; })

TEST(CSource, PointersLeadIntoArrays) {
    const auto* const with = kFunctions;
    SAME_WITH(with, int32_t, int32_t, double, double a[4] = {3, double(x & 255), 1, double(z & 255)};
              sort(a, 4); y = a[0] + 1000 * a[1] + sum(a + 1, 3));
    SAME_WITH(with, int32_t, int32_t, int32_t, int a[5] = {1, 7, x, -1, 7};
              y = find(a, 5, 7) + 10 * find(&a[2], 3, 7) + 100 * find(a, 2, z));
    SAME_WITH(with, int32_t, int32_t, int32_t, int a[3] = {1, 2, 3}; int* p = a; *p++ = x & 15; *p += 5;
              p[1] -= 1; --p; y = a[0] + 100 * a[1] + 10000 * a[2] + 1000000 * int(p == a));
    SAME_WITH(with, int32_t, int32_t, int32_t, int a = x & 15, b = z & 15; both(&a, b, x & 7); both(&b, a, 2);
              y = a * 1000 + b);
    SAME_WITH(with, int32_t, int32_t, int32_t, int a[4] = {4, 5, 6, 7}; const int* p = later(a, x & 3);
              y = *p * 10 + int(p - a) + largest(a, 3));
    SAME_WITH(with, int32_t, int32_t, int32_t, int a[2][3] = {{1, 2, 3}, {4, 5, 6}};
              y = find(a[1], 3, 5) + 10 * largest(a[x & 1], 3) + (*(a[1] + 2)) * 100);
    SAME_WITH(with, int32_t, int32_t, int32_t, int a[3] = {1, 2, 3}; const int* p = (x & 1) ? a : a + 1;
              int s = 0; while (p < a + 3) s = s * 10 + *p++; y = s);
}

TEST(CSource, PointersAndReferencesAreOtherNamesOfVariables) {
    const auto* const with = kFunctions;
    SAME_WITH(with, int32_t, int32_t, int32_t, int a = x & 15; int* p = &a; if (z > 0)* p += 100; else a -= 1;
              y = *p);
    SAME_WITH(
        with, int32_t, int32_t, int32_t, int a = 1; for (int k = 0; k < 4; ++k) {
            int& r = a;
            r += (x & 3) + k;
            int* p = &r;
            if (k == 2) {
                *p *= 2;
                continue;
            }
            (*p)++;
        } y = a);
    SAME_WITH(with, int32_t, int32_t, int32_t, int a[3] = {1, 2, 3}; int& r = a[x & 1]; r = 9;
              const int& c = a[0]; y = c * 100 + a[1] * 10 + r);
    SAME_WITH(with, int32_t, int32_t, int32_t, int a = x & 7, b = 3; both(&a, a, b); both(&b, b, 5);
              y = a * 100 + b);
    SAME_WITH(with, int32_t, int32_t, int32_t,
              y = with_default(x & 7) + with_default(1, 2) + times<3>(z & 7));
    SAME_WITH(with, int32_t, int32_t, bool, int a = 0; int* p = &a; bool b = x > 0 && (*p = 5) > 2;
              y = b && a == 5);
}

TEXT_AND_CODE(
    kStructures,
    struct Vector {
        double x;
        double y;
    };
    struct Body {
        Vector place;
        double mass;
        int tags[3];
    };
    typedef struct {
        int at;
        unsigned int key[4];
    } State;
    struct Sum {
        int total;
        int count;
        Sum() : total(0), count(0) {}
        explicit Sum(int first) : total(first), count(1) {}
        void add(int v) {
            total += v;
            ++count;
            if (total > 1000) reset();
        }
        void reset() { total = -1; }
        int mean() const { return count == 0 ? 0 : total / count; }
    };
    Vector operator+(const Vector& a, const Vector& b) {
        return {a.x + b.x, a.y + b.y};
    } Vector operator*(double s, Vector v) {
        v.x *= s;
        v.y *= s;
        return v;
    } double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y; } Vector larger(Vector a, Vector b) {
        if (dot(a, a) > dot(b, b)) return a;
        return b;
    } void next(State* s) {
        s->at = (s->at + 1) % 4;
        s->key[s->at] ^= s->key[(s->at + 3) % 4] << 1;
    } void push(Body* bodies, int n, double by) {
        for (Body* b = bodies; b < bodies + n; ++b) {
            b->place.x += by / b->mass;
            b->tags[1] += n;
        }
    } template <class T>
    T either(bool first, T a, T b) { return first ? a : b; } enum Kind{kNone, kOne = 5, kTwo};)

TEST(CSource, StructuresAreVariables) {
    const auto* const with = kStructures;
    SAME_WITH(with, int32_t, int32_t, double, Vector v = {double(x & 7), 2}; Vector w = v; w.x += 1;
              v = 2 * v + w; y = v.x * 100 + v.y);
    SAME_WITH(with, int32_t, int32_t, double, Vector v{1}; if (x > 0) v.y = 3; else v = Vector{5, 6};
              y = v.x * 10 + v.y);
    SAME_WITH(with, int32_t, int32_t, double, Vector a = {double(x & 7), 1}, b = {double(z & 7), 2};
              Vector c = larger(a, b); y = c.x * 10 + c.y + larger(a, Vector{3, 3}).x * 1000);
    SAME_WITH(with, int32_t, int32_t, double, Vector a = {1, 2}, b = {3, 4}; Vector c = x > 0 ? a : b + a;
              y = c.x * 10 + either(z > 0, a, b).y);
    SAME_WITH(with, int32_t, int32_t, double, Body b[2] = {{{1, 2}, 2, {1, 2, 3}}, {{3, 4}, 4}};
              push(b, 2, x & 7); Body c = b[1]; c.tags[0] = 7;
              y = b[0].place.x + 10 * b[1].place.x + 100 * c.tags[1] + b[1].tags[0]);
    SAME_WITH(with, int32_t, int32_t, uint32_t, State s; s.at = 0;
              for (int k = 0; k < 4; ++k) s.key[k] = x + k; for (int k = 0; k < 5; ++k) next(&s);
              y = s.key[s.at] + s.at);
    SAME_WITH(with, int32_t, int32_t, int32_t, Sum s; s.add(x & 15); s.add(z & 15); Sum t(5); t.add(2000);
              y = s.mean() * 100 + t.total + t.count);
    SAME_WITH(with, int32_t, int32_t, int32_t, Kind k = kTwo; y = k * 10 + kOne + kNone);
    SAME_WITH(with, int32_t, int32_t, int64_t,
              y = sizeof(Body) * 100 + sizeof(State) + sizeof(Vector) * 10000);
}

TEST(CSource, CasesRunOnIntoTheNext) {
    SAME(
        int32_t, int32_t, int32_t, switch (x & 7) {
            case 0: y = 1;
            case 1: y += 10; break;
            case 2:
            case 3:
                y = 7;
                if (z > 0) break;
            default: y += 100;
            case 6: y += 1000;
        });
    SAME(
        int32_t, int32_t, int32_t, for (int k = 0; k < 8; ++k) {
            switch (k & 3) {
                default: y += 1;
                case 1:
                    y *= 3;
                    if (k > 5) continue;
                    break;
                case 2:
                    for (;;) {
                        if (++y & 1) break;
                    }
            }
            y += 5;
        });
    SAME(
        int32_t, int32_t, int32_t, switch (x) {
            case 1: {
                y = 4;
                break;
            }
            case 2: y = 5;
        });
}

TEST(CSource, TypesAndConditionsOfStatements) {
    SAME(int32_t, double, double, typedef double real; using whole = long long; real a = x; whole b = 3;
         y = a / b);
    const auto value = [](const std::string& body, const std::string& preamble) {
        ElementSource source = source_of(body);
        source.preamble.text = preamble;
        source.value = ScalarType::kInt64;
        return run(lower_elements("value", source), {})[0].as<int64_t>();
    };
    EXPECT_EQ(value("a",
                    "#define N 3\n#if N > 5 || !defined(N)\nconst int a = 1;\n#elif N * 2 == 6\n"
                    "const int a = 2;\n#else\nconst int a = 3;\n#endif"),
              2);
    EXPECT_EQ(value("JOIN(a, 1)", "#define JOIN(x, y) x##y\nconst int a1 = 9;"), 9);
    EXPECT_EQ(value("inner::f(2) + g()",
                    "namespace inner { int f(int v) { return v + 1; } }\n"
                    "namespace { int g() { return 10; } }"),
              13);
    EXPECT_EQ(
        value("f(1)", "extern \"C\" { __device__ int f(int v) { return v + 41; } }\nstatic_assert(1, \"\");"),
        42);
    EXPECT_EQ(value("std::numeric_limits<int>::max() - 1", ""), INT32_MAX - 1);
    EXPECT_EQ(value("__clz(1) + 100 * __ffs(8) + 10000 * (__brev(1u) >> 31) + 100000 * __clz(0)", ""),
              3210431);
    EXPECT_EQ(
        value("t(2)", "__constant__ int w[3] = {5, 6, 7};\nint t(int k) { const int* p = w; return p[k]; }"),
        7);
    EXPECT_EQ(
        value("f(20)", "int f(int n) { int e; double m = frexp(n, &e); return e * 1000 + int(m * 64); }"),
        5040);
}

// NOLINTEND
#pragma clang diagnostic pop

}  // namespace
}  // namespace weft::lang::c_source

// Engines: LLVM's contexts with what is dear to make in them, kept for the next compilation. One compilation
// uses an engine at a time.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "codegen/runtime/llvm_guard.h"
#include "weft/errors.h"

namespace weft::codegen {

template <class Engine>
class EnginePool {
public:
    // work(engine), and what it gives. An engine is given up where weft or LLVM met a fault, since it may be
    // in disorder, and where it has memory of the reserve; `copy` makes a result anew, outside of the
    // reserve.
    template <class Work, class Copy>
    auto run(Work work, Copy copy) {
        Pooled engine;
        decltype(work(engine->engine)) result;
        try {
            const bool from_reserve = run_llvm([&] {
                engine = take();
                try {
                    result = work(engine->engine);
                } catch (const InternalError&) {
                    engine.reset();
                    throw;
                }
            });
            if (!from_reserve) {
                give_back(std::move(engine));
                return result;
            }
            run_llvm([&] { engine.reset(); });
        } catch (const LlvmGaveUp& failure) {
            (void)engine.release();  // whatever it is by now
            failure.throw_as_error();
        } catch (...) {
            if (engine != nullptr) give_back(std::move(engine));
            throw;
        }
        return copy(result);
    }

private:
    // A context never forgets types, constants and metadata: after so many kernels it is given up.
    static constexpr int kKernelsPerEngine = 2000;

    struct Counted {
        Engine engine;
        int kernels = 0;
    };
    using Pooled = std::unique_ptr<Counted>;

    Pooled take() {
        {
            const std::lock_guard lock(mutex_);
            if (!engines_.empty()) {
                Pooled engine = std::move(engines_.back());
                engines_.pop_back();
                return engine;
            }
        }
        return std::make_unique<Counted>();
    }

    void give_back(Pooled engine) {
        if (++engine->kernels < kKernelsPerEngine) {
            try {
                const std::lock_guard lock(mutex_);
                engines_.push_back(std::move(engine));
                return;
            } catch (const std::bad_alloc&) {  // then it is made anew
            }
        }
        run_llvm([&] { engine.reset(); });
    }

    std::mutex mutex_;
    std::vector<Pooled> engines_;
};

}  // namespace weft::codegen

// An object that each thread has of its own, made at its first use there and destroyed with the thread.
// Unlike a thread_local variable with a destructor, for which libc ends the process where it has no memory to
// register that.
#pragma once

#include <pthread.h>

#include <memory>

#include "weft/errors.h"

namespace weft {

// Instances are static. Tag: a type that tells two of the same T apart.
template <class T, class Tag = T>
class ThreadOwned {
public:
    // The calling thread's. Throws std::bad_alloc where it cannot be made; then the next call tries again.
    static T& get() {
        if (own_ == nullptr) [[unlikely]]
            make();
        return *own_;
    }

private:
    [[gnu::noinline]] static void make() {
        auto made = std::make_unique<T>();
        if (pthread_setspecific(key(), made.get()) != 0) throw std::bad_alloc();
        own_ = made.release();
    }

    static pthread_key_t key() {
        static const pthread_key_t made = [] {
            pthread_key_t fresh = 0;
            const auto destroy = [](void* object) {
                own_ = nullptr;
                delete static_cast<T*>(object);
            };
            if (pthread_key_create(&fresh, destroy) != 0)
                throw RuntimeError("the process has no thread-specific key left (pthread_key_create)");
            return fresh;
        }();
        return made;
    }

    static inline thread_local constinit T* own_ = nullptr;
};

}  // namespace weft

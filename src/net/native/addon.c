// The native kernels for Node: which variants run here, and engines that run lists of tasks on plain threads over the memory they are given.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "napi.h"
#include "structs.h"

#if defined(__x86_64__)
#define PAUSE() __builtin_ia32_pause()
extern const Kernels kernels_avx512, kernels_avx2, kernels_fma;
static int hasFma(void) { return __builtin_cpu_supports("avx") && __builtin_cpu_supports("fma"); }
static int hasAvx2(void) { return hasFma() && __builtin_cpu_supports("avx2"); }
static int hasAvx512(void) {
  return hasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw");
}
static const struct { const Kernels *kernels; int (*runs)(void); } variants[] = {
    {&kernels_avx512, hasAvx512}, {&kernels_avx2, hasAvx2}, {&kernels_fma, hasFma}};
#else
#define PAUSE() __asm__ __volatile__("yield")
extern const Kernels kernels_neon;
static int always(void) { return 1; }
static const struct { const Kernels *kernels; int (*runs)(void); } variants[] = {{&kernels_neon, always}};
#endif
#define VARIANTS ((int)(sizeof variants / sizeof variants[0]))

#define MOST_THREADS 8
// A thread that has found nothing to do for so long sleeps: it stays awake between the steps of a rollout and of an update.
#define SPIN_NANOSECONDS 3000000
// Turns of the main thread's wait before it lets others run.
#define PATIENT_TURNS 4096

typedef struct {
  char *memory;
  const Kernels *kernels;
  int workers;
  // The list at work: tasks are taken from its end, by whoever comes first. Each writes to places of its own, so that who takes it changes nothing.
  atomic_int remaining, done, sleeping, closing;
  address table, scratch[MOST_THREADS];
  pthread_t threads[MOST_THREADS];
  pthread_mutex_t lock;
  pthread_cond_t wake;
} Engine;

typedef struct {
  Engine *engine;
  int number;
} Worker;

static int takeTask(Engine *engine, int number) {
  const int left = atomic_fetch_sub(&engine->remaining, 1);
  if (left <= 0) return 0;
  engine->kernels->task(engine->memory, engine->table + (address)(left - 1) * sizeof(Task), engine->scratch[number]);
  atomic_fetch_add(&engine->done, 1);
  return 1;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void *serve(void *data) {
  const Worker worker = *(Worker *)data;
  Engine *engine = worker.engine;
  free(data);
  int64_t since = now();
  for (unsigned turn = 1; !atomic_load(&engine->closing); turn++) {
    if (atomic_load(&engine->remaining) > 0) {
      if (takeTask(engine, worker.number)) since = now();
      continue;
    }
    PAUSE();
    if (turn % 64 || now() - since < SPIN_NANOSECONDS) continue;
    pthread_mutex_lock(&engine->lock);
    atomic_fetch_add(&engine->sleeping, 1);
    while (atomic_load(&engine->remaining) <= 0 && !atomic_load(&engine->closing)) pthread_cond_wait(&engine->wake, &engine->lock);
    atomic_fetch_sub(&engine->sleeping, 1);
    pthread_mutex_unlock(&engine->lock);
    since = now();
  }
  return 0;
}

static void wakeAll(Engine *engine) {
  pthread_mutex_lock(&engine->lock);
  pthread_cond_broadcast(&engine->wake);
  pthread_mutex_unlock(&engine->lock);
}

// Ends the threads. The few bytes of the engine itself stay, because functions that JavaScript may still hold point to it.
static void closeEngine(void *data) {
  Engine *engine = data;
  if (atomic_exchange(&engine->closing, 1)) return;
  wakeAll(engine);
  for (int i = 0; i < engine->workers; i++) pthread_join(engine->threads[i], 0);
}

static Engine *engineOf(napi_env env, napi_callback_info info, uint32_t *numbers, size_t count) {
  napi_value values[4];
  void *engine = 0;
  size_t got = count;
  napi_get_cb_info(env, info, &got, values, 0, &engine);
  for (size_t i = 0; i < count; i++)
    if (i >= got || napi_get_value_uint32(env, values[i], &numbers[i])) {
      napi_throw_error(env, 0, "A native kernel was called without the numbers it needs.");
      return 0;
    }
  return engine;
}

// run(table, count): every task of the list, on all threads; returns when all are done.
static napi_value run(napi_env env, napi_callback_info info) {
  uint32_t numbers[2];
  Engine *engine = engineOf(env, info, numbers, 2);
  if (!engine) return 0;
  const int count = (int)numbers[1];
  engine->table = numbers[0];
  if (!engine->workers || count == 1) {
    for (int i = count - 1; i >= 0; i--) engine->kernels->task(engine->memory, engine->table + (address)i * sizeof(Task), engine->scratch[0]);
    return 0;
  }
  atomic_store(&engine->done, 0);
  atomic_store(&engine->remaining, count);
  if (atomic_load(&engine->sleeping)) wakeAll(engine);
  while (takeTask(engine, 0)) {}
  for (unsigned turn = 1; atomic_load(&engine->done) != count; turn++) {
    PAUSE();
    if (turn > PATIENT_TURNS) sched_yield();
  }
  return 0;
}

// scratch(number, address): where a thread's working memory lies.
static napi_value setScratch(napi_env env, napi_callback_info info) {
  uint32_t numbers[2];
  Engine *engine = engineOf(env, info, numbers, 2);
  if (engine && numbers[0] < MOST_THREADS) engine->scratch[numbers[0]] = numbers[1];
  return 0;
}

#define ONE(name) \
  static napi_value name(napi_env env, napi_callback_info info) { \
    uint32_t numbers[1]; \
    Engine *engine = engineOf(env, info, numbers, 1); \
    if (engine) engine->kernels->name(engine->memory, numbers[0]); \
    return 0; \
  }
#define TWO(name) \
  static napi_value name(napi_env env, napi_callback_info info) { \
    uint32_t numbers[2]; \
    Engine *engine = engineOf(env, info, numbers, 2); \
    if (engine) engine->kernels->name(engine->memory, numbers[0], numbers[1]); \
    return 0; \
  }
TWO(task)
ONE(passReduce)
TWO(adamStep)
ONE(pack)
TWO(exponentials)
TWO(logarithms)
TWO(tangents)

static napi_value dispose(napi_env env, napi_callback_info info) {
  Engine *engine = engineOf(env, info, 0, 0);
  if (engine) closeEngine(engine);
  return 0;
}

static void setFunction(napi_env env, napi_value object, const char *name, napi_callback call, void *data) {
  napi_value function;
  if (!napi_create_function(env, name, strlen(name), call, data, &function)) napi_set_named_property(env, object, name, function);
}

// open(memory as Uint8Array, threads, variant): an engine over memory that must not move. Its maker keeps the memory as long as it calls the engine.
static napi_value openEngine(napi_env env, napi_callback_info info) {
  napi_value values[3];
  size_t count = 3, length = 0;
  void *memory = 0;
  uint32_t threads = 1;
  char name[16] = "";
  napi_get_cb_info(env, info, &count, values, 0, 0);
  if (count < 3 || napi_get_typedarray_info(env, values[0], 0, &length, &memory, 0, 0) || napi_get_value_uint32(env, values[1], &threads) ||
      napi_get_value_string_utf8(env, values[2], name, sizeof name, 0) || !memory || threads < 1 || threads > MOST_THREADS) {
    napi_throw_error(env, 0, "A native engine needs its memory, a number of threads from 1 to 8, and a variant.");
    return 0;
  }
  const Kernels *kernels = 0;
  for (int i = 0; i < VARIANTS; i++)
    if (!strcmp(variants[i].kernels->name, name) && variants[i].runs()) kernels = variants[i].kernels;
  Engine *engine = kernels ? calloc(1, sizeof *engine) : 0;
  if (!engine) {
    napi_throw_error(env, 0, "This variant of the native kernels does not run here.");
    return 0;
  }
  engine->memory = memory;
  engine->kernels = kernels;
#ifdef MADV_HUGEPAGE
  // Rows are gathered from all over the memory: with large pages the processor keeps all of their addresses at hand.
  madvise(memory, (size_t)1 << 32, MADV_HUGEPAGE);
#endif
  pthread_mutex_init(&engine->lock, 0);
  pthread_cond_init(&engine->wake, 0);
  for (int i = 0; i + 1 < (int)threads; i++) {
    Worker *worker = malloc(sizeof *worker);
    if (worker) *worker = (Worker){engine, i + 1};
    if (!worker || pthread_create(&engine->threads[i], 0, serve, worker)) {
      free(worker);
      closeEngine(engine);
      napi_throw_error(env, 0, "No thread could be started for the native engine; set threads to 1.");
      return 0;
    }
    engine->workers++;
  }
  // Also where nobody disposes of it: code that may be unloaded with a Node worker must have no thread left in it.
  napi_add_env_cleanup_hook(env, closeEngine, engine);
  napi_value result, width;
  napi_create_object(env, &result);
  napi_create_int32(env, kernels->width, &width);
  napi_set_named_property(env, result, "width", width);
  static const struct { const char *name; napi_callback call; } functions[] = {
      {"run", run}, {"scratch", setScratch}, {"task", task}, {"passReduce", passReduce}, {"adamStep", adamStep}, {"pack", pack},
      {"exponentials", exponentials}, {"logarithms", logarithms}, {"tangents", tangents}, {"dispose", dispose}};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) setFunction(env, result, functions[i].name, functions[i].call, engine);
  return result;
}

__attribute__((visibility("default"))) int32_t node_api_module_get_api_version_v1(void) { return 8; }

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  napi_value names;
  napi_create_array(env, &names);
  for (int i = 0, n = 0; i < VARIANTS; i++) {
    napi_value name;
    if (!variants[i].runs()) continue;
    napi_create_string_utf8(env, variants[i].kernels->name, strlen(variants[i].kernels->name), &name);
    napi_set_element(env, names, (uint32_t)n++, name);
  }
  napi_set_named_property(env, exports, "variants", names);
  setFunction(env, exports, "open", openEngine, 0);
  return exports;
}

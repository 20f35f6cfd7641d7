// One PPO update of two small networks as a native AVX2 program does it: the limit that our share is measured against.
// update ROWS HIDDEN REPEAT prints the median seconds of an optimiser step on two threads, then the loss before and after the run.
//
// Activations lie in panels of 16 columns: [columns / 16][rows of the block][16]. The micro-kernels read and write panels only, so no
// product needs its operands packed, apart from the weights, which are packed once per step.
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

using Floats = std::vector<float>;
constexpr int kInputs = 64, kActions = 9, kBlock = 96, kLayers = 3;
static int padded(int n) { return (n + 15) / 16 * 16; }

struct Layer {
  int in, out;          // padded to panels
  Floats weight, bias;  // weight is [in][out]
  Floats forward;       // [out / 16][in][16]
  Floats backward;      // [in / 16][out][16]
  Floats first, second, firstBias, secondBias;
  Layer(int from, int to, int realOut, float gain, std::mt19937& random) : in(padded(from)), out(padded(to)) {
    std::normal_distribution<float> normal(0, gain / std::sqrt(float(from)));
    weight.assign(in * out, 0);
    for (int i = 0; i < from; i++)
      for (int j = 0; j < realOut; j++) weight[i * out + j] = normal(random);
    bias.assign(out, 0);
    forward = backward = first = second = weight;
    std::fill(first.begin(), first.end(), 0.f);
    second = first;
    firstBias = secondBias = bias;
  }
  void pack() {
    for (int p = 0; p < out / 16; p++)
      for (int k = 0; k < in; k++) std::copy_n(&weight[k * out + p * 16], 16, &forward[(p * in + k) * 16]);
    for (int p = 0; p < in / 16; p++)
      for (int k = 0; k < out; k++)
        for (int i = 0; i < 16; i++) backward[(p * out + k) * 16 + i] = weight[(p * 16 + i) * out + k];
  }
};

static inline __m256 tanhOf(__m256 x) {
  // 1 - 2 / (exp(2x) + 1), with exp by a polynomial after taking whole powers of two away.
  const __m256 one = _mm256_set1_ps(1);
  __m256 y = _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(-9)), _mm256_set1_ps(9));
  y = _mm256_mul_ps(y, _mm256_set1_ps(2 * 1.44269504f));
  const __m256 whole = _mm256_round_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m256 f = _mm256_sub_ps(y, whole);
  __m256 e = _mm256_set1_ps(1.54035304e-4f);
  for (float c : {1.33335581e-3f, 9.61812911e-3f, 5.55041087e-2f, 2.40226507e-1f, 6.93147181e-1f, 1.f})
    e = _mm256_fmadd_ps(e, f, _mm256_set1_ps(c));
  const __m256i scale = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(127)), 23);
  e = _mm256_mul_ps(e, _mm256_castsi256_ps(scale));
  return _mm256_sub_ps(one, _mm256_div_ps(_mm256_set1_ps(2), _mm256_add_ps(e, one)));
}

// out[6 rows][16] of panel p, from activations in panels and weights packed as [k][16].
template <typename Finish>
static inline void rows6(const float* x, int in, const float* packed, const float* start, float* out, int row, Finish finish) {
  __m256 sum[6][2];
  for (auto& s : sum) s[0] = start ? _mm256_loadu_ps(start) : _mm256_setzero_ps(), s[1] = start ? _mm256_loadu_ps(start + 8) : _mm256_setzero_ps();
  for (int panel = 0; panel < in / 16; panel++) {
    const float* a = x + (panel * kBlock + row) * 16;
    const float* w = packed + panel * 256;
    for (int k = 0; k < 16; k++, a++, w += 16) {
      const __m256 low = _mm256_loadu_ps(w), high = _mm256_loadu_ps(w + 8);
#pragma GCC unroll 6
      for (int r = 0; r < 6; r++) {
        const __m256 value = _mm256_broadcast_ss(a + r * 16);
        sum[r][0] = _mm256_fmadd_ps(value, low, sum[r][0]);
        sum[r][1] = _mm256_fmadd_ps(value, high, sum[r][1]);
      }
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < 6; r++)
    for (int h = 0; h < 2; h++) _mm256_storeu_ps(out + r * 16 + h * 8, finish(sum[r][h], (row + r) * 16 + h * 8));
}

// gradient[in][out] += x^T y over the block.
static void addOuter(const float* x, int in, const float* y, int out, float* gradient) {
  for (int p = 0; p < out / 16; p++)
    for (int k = 0; k < in; k += 4) {
      const float* a = x + (k / 16 * kBlock) * 16 + k % 16;
      const float* b = y + p * kBlock * 16;
      __m256 sum[4][2] = {};
      for (int r = 0; r < kBlock; r++, a += 16, b += 16) {
        const __m256 low = _mm256_loadu_ps(b), high = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
          const __m256 value = _mm256_broadcast_ss(a + i);
          sum[i][0] = _mm256_fmadd_ps(value, low, sum[i][0]);
          sum[i][1] = _mm256_fmadd_ps(value, high, sum[i][1]);
        }
      }
      for (int i = 0; i < 4; i++)
        for (int h = 0; h < 2; h++) {
          float* to = gradient + (k + i) * out + p * 16 + h * 8;
          _mm256_storeu_ps(to, _mm256_add_ps(_mm256_loadu_ps(to), sum[i][h]));
        }
    }
}

struct Network {
  std::vector<Layer> layers;
  Network(int hidden, int outputs, float gain, std::mt19937& random) {
    layers.emplace_back(kInputs, hidden, hidden, 1.4f, random);
    layers.emplace_back(hidden, hidden, hidden, 1.4f, random);
    layers.emplace_back(hidden, outputs, outputs, gain, random);
  }
};

// What one thread works with on one network.
struct Work {
  std::vector<Floats> activation, weightGradient, biasGradient;
  Floats delta[2];
  explicit Work(const Network& network) {
    int widest = kInputs;
    for (const Layer& layer : network.layers) {
      activation.emplace_back(kBlock * layer.out);
      weightGradient.emplace_back(layer.in * layer.out);
      biasGradient.emplace_back(layer.out);
      widest = std::max(widest, layer.out);
    }
    delta[0].resize(kBlock * widest);
    delta[1].resize(kBlock * widest);
  }
  void clear() {
    for (auto* gradients : {&weightGradient, &biasGradient})
      for (Floats& g : *gradients) std::fill(g.begin(), g.end(), 0.f);
  }
};

static const float* forwardPass(const Network& network, Work& work, const float* input) {
  const float* x = input;
  for (int l = 0; l < kLayers; l++) {
    const Layer& layer = network.layers[l];
    float* out = work.activation[l].data();
    for (int p = 0; p < layer.out / 16; p++)
      for (int row = 0; row < kBlock; row += 6) {
        const float* packed = &layer.forward[p * layer.in * 16];
        float* to = out + (p * kBlock + row) * 16;
        if (l + 1 < kLayers) rows6(x, layer.in, packed, &layer.bias[p * 16], to, row, [](__m256 v, int) { return tanhOf(v); });
        else rows6(x, layer.in, packed, &layer.bias[p * 16], to, row, [](__m256 v, int) { return v; });
      }
    x = out;
  }
  return x;
}

// delta[0] holds the gradient by the outputs.
static void backwardPass(const Network& network, Work& work, const float* input) {
  float *delta = work.delta[0].data(), *next = work.delta[1].data();
  for (int l = kLayers - 1; l >= 0; l--) {
    const Layer& layer = network.layers[l];
    const float* x = l > 0 ? work.activation[l - 1].data() : input;
    addOuter(x, layer.in, delta, layer.out, work.weightGradient[l].data());
    for (int p = 0; p < layer.out / 16; p++)
      for (int r = 0; r < kBlock; r++)
        for (int i = 0; i < 16; i++) work.biasGradient[l][p * 16 + i] += delta[(p * kBlock + r) * 16 + i];
    if (l == 0) return;
    for (int p = 0; p < layer.in / 16; p++)
      for (int row = 0; row < kBlock; row += 6) {
        const float* y = x + p * kBlock * 16;
        rows6(delta, layer.out, &layer.backward[p * layer.out * 16], nullptr, next + (p * kBlock + row) * 16, row, [y](__m256 v, int at) {
          const __m256 h = _mm256_loadu_ps(y + at);
          return _mm256_mul_ps(v, _mm256_fnmadd_ps(h, h, _mm256_set1_ps(1)));
        });
      }
    std::swap(delta, next);
  }
}

struct Rows {
  Floats obs, advantage, returns, oldLogp;
  std::vector<unsigned char> legal;
};

struct Thread {
  Work actor, critic;
  Floats input;
  double loss = 0;
  Thread(const Network& a, const Network& c) : actor(a), critic(c), input(kBlock * kInputs) {}

  void run(const Network& actorNet, const Network& criticNet, const Rows& rows, const std::vector<int>& order, int from, int to, int total) {
    actor.clear();
    critic.clear();
    loss = 0;
    for (int at = from; at < to; at += kBlock) {
      const int count = std::min(kBlock, to - at);
      for (int r = 0; r < kBlock; r++) {
        const float* obs = &rows.obs[order[at + std::min(r, count - 1)] * kInputs];
        for (int p = 0; p < kInputs / 16; p++) std::copy_n(obs + p * 16, 16, &input[(p * kBlock + r) * 16]);
      }
      const float* logits = forwardPass(actorNet, actor, input.data());
      for (int r = 0; r < kBlock; r++) {
        float* gradient = &actor.delta[0][r * 16];
        std::fill_n(gradient, 16, 0.f);
        if (r < count) policyRow(rows, order[at + r], logits + r * 16, gradient, total);
      }
      backwardPass(actorNet, actor, input.data());
      const float* values = forwardPass(criticNet, critic, input.data());
      for (int r = 0; r < kBlock; r++) {
        float* gradient = &critic.delta[0][r * 16];
        std::fill_n(gradient, 16, 0.f);
        if (r >= count) continue;
        const float error = values[r * 16] - rows.returns[order[at + r]];
        gradient[0] = error / total;
        loss += 0.5 * error * error / total;
      }
      backwardPass(criticNet, critic, input.data());
    }
  }

  // The first action was taken; clip 0.2, entropy 0.01.
  void policyRow(const Rows& rows, int row, const float* logits, float* gradient, int total) {
    const unsigned char* legal = &rows.legal[row * kActions];
    float most = -1e30f, sum = 0, p[kActions], entropy = 0;
    for (int i = 0; i < kActions; i++) most = legal[i] ? std::max(most, logits[i]) : most;
    for (int i = 0; i < kActions; i++) sum += p[i] = legal[i] ? std::exp(logits[i] - most) : 0;
    const float logSum = std::log(sum) + most;
    for (int i = 0; i < kActions; i++) {
      p[i] /= sum;
      if (legal[i]) entropy -= p[i] * (logits[i] - logSum);
    }
    const float advantage = rows.advantage[row], ratio = std::exp(logits[0] - logSum - rows.oldLogp[row]);
    const float clipped = std::min(std::max(ratio, 0.8f), 1.2f);
    const bool cut = clipped * advantage < ratio * advantage;
    loss -= ((cut ? clipped : ratio) * advantage + 0.01 * entropy) / total;
    const float push = cut ? 0 : -ratio * advantage / total;
    for (int i = 0; i < kActions; i++)
      if (legal[i]) gradient[i] = push * ((i == 0) - p[i]) + 0.01f * p[i] * (logits[i] - logSum + entropy) / total;
  }
};

static void adam(float* value, const float* gradient, float* first, float* second, int count, float scale, float rate, float correction) {
  for (int i = 0; i < count; i++) {
    const float g = gradient[i] * scale;
    first[i] = 0.9f * first[i] + 0.1f * g;
    second[i] = 0.999f * second[i] + 0.001f * g * g;
    value[i] -= rate * first[i] / (std::sqrt(second[i]) * correction + 1e-5f);
  }
}

static void step(Network& network, Work& work, float scale, float rate, float correction) {
  for (int l = 0; l < kLayers; l++) {
    Layer& layer = network.layers[l];
    adam(layer.weight.data(), work.weightGradient[l].data(), layer.first.data(), layer.second.data(), layer.weight.size(), scale, rate, correction);
    adam(layer.bias.data(), work.biasGradient[l].data(), layer.firstBias.data(), layer.secondBias.data(), layer.bias.size(), scale, rate, correction);
  }
}

static double addInto(Work& into, const Work& from) {
  double squares = 0;
  for (int l = 0; l < kLayers; l++)
    for (auto part : {&Work::weightGradient, &Work::biasGradient}) {
      Floats& mine = (into.*part)[l];
      const Floats& theirs = (from.*part)[l];
      float sum = 0;
      for (size_t i = 0; i < mine.size(); i++) {
        mine[i] += theirs[i];
        sum += mine[i] * mine[i];
      }
      squares += sum;
    }
  return squares;
}

int main(int, char** args) {
  const int size = std::atoi(args[1]), hidden = std::atoi(args[2]), repeat = std::atoi(args[3]);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  Network actor(hidden, kActions, 0.01f, random), critic(hidden, 1, 1.f, random);
  Rows rows;
  const int pool = 4 * size;
  for (int i = 0; i < pool * kInputs; i++) rows.obs.push_back(normal(random));
  for (int i = 0; i < pool; i++) rows.advantage.push_back(normal(random)), rows.returns.push_back(normal(random)), rows.oldLogp.push_back(-2);
  for (int i = 0; i < pool * kActions; i++) rows.legal.push_back(i % kActions == 0 || random() % 4 != 0);
  std::vector<int> order(pool);
  for (int i = 0; i < pool; i++) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);

  Thread mine(actor, critic), other(actor, critic);
  std::atomic<int> asked{0}, answered{0};
  int begin = 0;
  const int half = std::min(size, (size / 2 + kBlock - 1) / kBlock * kBlock);
  std::thread helper([&] {
    for (int turn = 1;; turn++) {
      while (asked.load(std::memory_order_acquire) < turn) std::this_thread::yield();
      if (asked.load() > 1 << 29) return;
      other.run(actor, critic, rows, order, begin + half, begin + size, size);
      answered.store(turn, std::memory_order_release);
    }
  });
  std::vector<double> times;
  double firstLoss = 0, lastLoss = 0;
  for (int turn = 1; turn <= repeat + 2; turn++) {
    begin = (turn % 4) * size;
    const auto begun = std::chrono::steady_clock::now();
    for (Network* network : {&actor, &critic})
      for (Layer& layer : network->layers) layer.pack();
    asked.store(turn, std::memory_order_release);
    mine.run(actor, critic, rows, order, begin, begin + half, size);
    while (answered.load(std::memory_order_acquire) < turn) std::this_thread::yield();
    const double squares = addInto(mine.actor, other.actor) + addInto(mine.critic, other.critic);
    const float scale = std::min(1.0, 0.5 / (std::sqrt(squares) + 1e-6));
    const float rate = 1e-3 / (1 - std::pow(0.9, turn)), correction = 1 / std::sqrt(1 - std::pow(0.999, turn));
    step(actor, mine.actor, scale, rate, correction);
    step(critic, mine.critic, scale, rate, correction);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    lastLoss = mine.loss + other.loss;
    if (turn == 1) firstLoss = lastLoss;
    if (turn > 2) times.push_back(seconds);
  }
  asked.store(1 << 30);
  helper.join();
  std::sort(times.begin(), times.end());
  std::printf("%.9f %.6f %.6f\n", times[times.size() / 2], firstLoss, lastLoss);
}

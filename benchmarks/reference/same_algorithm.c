/* The sampler of riskgrad.episodes written in C: the same tables, the same numbers, the same five episodes in flight.
 *
 * It takes what TabularSource.returns takes after its checks: parameters of tabular Gibbs policies, one key per policy and
 * the alias tables of the model. It gives the same returns and lengths, which the benchmark checks; only exp may differ in
 * its last digit, and with it one number in about 10^15.
 * Build: gcc -O3 -march=native -shared -fPIC same_algorithm.c -lm
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define PLACES 5
#define GOLDEN 0x9E3779B97F4A7C15ull
#define ENDS (1u << 31)
#define NEVER (1ull << 62)

typedef struct {
    int64_t states, actions, stride, width, start_first, start_width, horizon;
    double discount;
    const uint32_t *accept, *target;
    const double *reward;
} Model;

static inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static void place_thresholds(const double *theta, uint64_t *out, const Model *model) {
    double sums[256];
    for (int64_t s = 0; s < model->states; s++) {
        const double *h = theta + s * model->actions;
        uint64_t *row = out + s * model->stride;
        double top = h[0], total = 0.0;
        for (int64_t a = 1; a < model->actions; a++) top = h[a] > top ? h[a] : top;
        for (int64_t a = 0; a < model->actions; a++) sums[a] = total += exp(h[a] - top);
        int64_t last = model->actions - 1;
        while (last > 0 && sums[last - 1] == total) last--;
        double scale = 4611686018427387904.0 / total;
        for (int64_t a = 0; a < last; a++) row[a] = (uint64_t)(int64_t)(sums[a] * scale);
        for (int64_t a = last; a < model->stride; a++) row[a] = NEVER;
    }
}

typedef struct {
    uint64_t state, born;
    const uint64_t *policy;
    uint32_t code;
    double total, factor;
    int64_t item;
} Place;

static inline void begin(Place *place, uint64_t key, int64_t episode, const Model *model) {
    place->state = mix(key + (uint64_t)(episode + 1) * GOLDEN);
    if (model->start_width == 1) {
        place->code = model->target[2 * model->start_first];
        return;
    }
    place->state += GOLDEN;
    uint64_t scaled = (mix(place->state) & 0xFFFFFFFFull) * (uint64_t)model->start_width;
    uint64_t slot = (uint64_t)model->start_first + (scaled >> 32);
    place->code = model->target[2 * slot + ((uint32_t)scaled >= model->accept[slot])];
}

/* LEVELS is 2 for up to four actions: the search is unrolled, as the compiled kernel's is. */
#define LEVELS 2
#define STEP(k)                                                                             \
    do {                                                                                    \
        x##k += GOLDEN;                                                                     \
        uint64_t number = mix(x##k), code = s##k;                                           \
        for (int level = LEVELS - 1; level >= 0; level--) {                                 \
            uint64_t half = 1ull << level;                                                  \
            code += half * (uint64_t)((number >> 2) >= p##k[code + half - 1]);              \
        }                                                                                   \
        uint64_t scaled = ((code << 32) | (number & 0xFFFFFFFFull)) * width;                \
        uint64_t slot = scaled >> 32;                                                       \
        uint64_t outcome = 2 * slot + ((uint32_t)scaled >= accept[slot]);                   \
        s##k = target[outcome];                                                             \
        v##k += f##k * reward[outcome];                                                     \
        f##k *= discount;                                                                   \
    } while (0)
#define LOAD(k)                                                                             \
    uint64_t x##k = places[k].state, s##k = places[k].code;                                 \
    const uint64_t *p##k = places[k].policy;                                                \
    double v##k = places[k].total, f##k = places[k].factor
#define STORE(k)                                                                            \
    places[k].state = x##k, places[k].code = (uint32_t)s##k;                                \
    places[k].total = v##k, places[k].factor = f##k

/* Returns 0, or 1 when the model has more actions than the search is unrolled for. */
int sample(const Model *model, const double *thetas, const uint64_t *keys, int64_t policies, int64_t episodes,
           double *values, int64_t *lengths) {
    if (model->stride != 1 << LEVELS) return 1;
    const int64_t size = model->states * model->stride, all = policies * episodes;
    uint64_t *thresholds = malloc(sizeof(uint64_t) * (size_t)(size * policies));
    for (int64_t p = 0; p < policies; p++)
        place_thresholds(thetas + p * model->states * model->actions, thresholds + p * size, model);

    const uint64_t width = (uint64_t)model->width, horizon = (uint64_t)model->horizon;
    const uint32_t *accept = model->accept, *target = model->target;
    const double *reward = model->reward, discount = model->discount;
    Place places[PLACES];
    for (int k = 0; k < PLACES; k++) places[k] = (Place){.born = NEVER, .policy = thresholds};
    int64_t upcoming = 0, p = 0, e = 0;
    int busy = 0;
    unsigned free_places = (1u << PLACES) - 1;
    uint64_t clock = 0;
    for (;;) {
        while (free_places) {
            Place *place = &places[__builtin_ctz(free_places)];
            free_places &= free_places - 1;
            if (place->born != NEVER) {
                values[place->item] = place->total;
                lengths[place->item] = (int64_t)(clock - place->born);
                busy--;
            }
            place->code = 0;
            place->born = NEVER;
            if (upcoming < all) {
                begin(place, keys[p], e, model);
                place->policy = thresholds + p * size;
                place->total = 0.0, place->factor = 1.0;
                place->item = upcoming++, place->born = clock;
                busy++;
                if (++e == episodes) p++, e = 0;
            }
        }
        if (!busy) break;
        uint64_t until = NEVER;
        for (int k = 0; k < PLACES; k++) until = places[k].born < until ? places[k].born : until;
        until += horizon;
        LOAD(0); LOAD(1); LOAD(2); LOAD(3); LOAD(4);
        do {
            STEP(0); STEP(1); STEP(2); STEP(3); STEP(4);
            clock++;
        } while ((s0 | s1 | s2 | s3 | s4) < ENDS && clock != until);
        STORE(0); STORE(1); STORE(2); STORE(3); STORE(4);
        for (unsigned k = 0; k < PLACES; k++)
            free_places |= (unsigned)((places[k].code >= ENDS) | (clock - places[k].born == horizon)) << k;
    }
    free(thresholds);
    return 0;
}

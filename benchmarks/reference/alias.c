/* The fastest sampler known to us for one policy: an alias table over (next state, reward), two episodes in flight.
 *
 * The action is summed out: each policy gets, for each state, an alias table over what can follow, so that a step is one
 * number and one read. That is the least work a step can take; but the tables are made anew for each policy, actions are
 * not known (no importance weights), and a small change of the policy may change every outcome (no common random
 * numbers). It serves as a bound, not as a design.
 * Build: gcc -O3 -march=native -shared -fPIC alias.c -lm
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN 0x9E3779B97F4A7C15ull
#define ENDS (1u << 31)
#define PAYS (1u << 30)
#define CODE (PAYS - 1)
#define MOST 64

typedef struct {
    int64_t states, actions, start, horizon;
    const int64_t *offsets, *next_states;
    const double *probabilities, *rewards;
    const uint8_t *ends;
} Sparse;

/* Which outcomes of the actions of a state are the same (next state, reward); found once per model. */
typedef struct {
    int64_t bits;        /* slots per state are 2^bits */
    int64_t *merged;     /* merged place of each outcome [K] */
    int64_t *count;      /* merged outcomes of each state [S] */
    uint32_t *code;      /* target of each merged outcome [S << bits] */
    double *reward;      /* [S << bits] */
} Layout;

typedef struct { uint32_t accept, target[2]; } Slot;

static inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static int lay_out(const Sparse *m, Layout *l, int dense) {
    int64_t most = 1;
    l->merged = malloc(sizeof(int64_t) * (size_t)m->offsets[m->states * m->actions]);
    l->count = malloc(sizeof(int64_t) * (size_t)m->states);
    int64_t *which = malloc(sizeof(int64_t) * (size_t)m->states * MOST);
    for (int64_t s = 0; s < m->states; s++) {
        int64_t n = 0, *seen = which + s * MOST;
        for (int64_t k = m->offsets[s * m->actions]; k < m->offsets[(s + 1) * m->actions]; k++) {
            int64_t i = 0;
            while (i < n && !(m->next_states[seen[i]] == m->next_states[k] && m->rewards[seen[i]] == m->rewards[k] &&
                              m->ends[seen[i]] == m->ends[k])) i++;
            if (i == MOST) { free(which); return 1; }
            if (i == n) seen[n++] = k;
            l->merged[k] = i;
        }
        l->count[s] = n;
        most = n > most ? n : most;
    }
    for (l->bits = 0; (1 << l->bits) < most; l->bits++) {}
    l->code = calloc((size_t)(m->states << l->bits), sizeof(uint32_t));
    l->reward = calloc((size_t)(m->states << l->bits), sizeof(double));
    for (int64_t s = 0; s < m->states; s++)
        for (int64_t i = 0; i < l->count[s]; i++) {
            int64_t k = which[s * MOST + i], at = (s << l->bits) + i;
            uint32_t pays = !dense && m->rewards[k] != 0.0 ? PAYS : 0;
            l->code[at] = (uint32_t)(m->next_states[k] << l->bits) | (m->ends[k] ? ENDS : 0) | pays;
            l->reward[at] = m->rewards[k];
        }
    free(which);
    return 0;
}

static void make_tables(const Sparse *m, const Layout *l, const double *theta, Slot *slots, double *pays) {
    const int64_t width = 1 << l->bits;
    for (int64_t s = 0; s < m->states; s++) {
        const double *h = theta + s * m->actions;
        double chance[MOST] = {0}, weight[256], top = h[0], total = 0.0;
        for (int64_t a = 1; a < m->actions; a++) top = h[a] > top ? h[a] : top;
        for (int64_t a = 0; a < m->actions; a++) total += weight[a] = exp(h[a] - top);
        const double scale = (double)width / total;
        for (int64_t a = 0; a < m->actions; a++)
            for (int64_t k = m->offsets[s * m->actions + a]; k < m->offsets[s * m->actions + a + 1]; k++)
                chance[l->merged[k]] += weight[a] * scale * m->probabilities[k];
        int light[MOST], heavy[MOST], other[MOST], n_light = 0, n_heavy = 0;
        for (int i = 0; i < width; i++) {
            other[i] = i;
            if (chance[i] < 1.0) light[n_light++] = i; else heavy[n_heavy++] = i;
        }
        while (n_light && n_heavy) {
            int i = light[--n_light], j = heavy[n_heavy - 1];
            other[i] = j;
            chance[j] -= 1.0 - chance[i];
            if (chance[j] < 1.0) n_heavy--, light[n_light++] = j;
        }
        for (int i = 0; i < width; i++) {
            double accept = chance[i] * 4294967296.0;
            int64_t at = (s << l->bits) + i;
            slots[at] = (Slot){accept >= 4294967295.0 ? 4294967295u : (uint32_t)accept,
                               {l->code[at], l->code[(s << l->bits) + other[i]]}};
            pays[2 * at] = l->reward[at];
            pays[2 * at + 1] = l->reward[(s << l->bits) + other[i]];
        }
    }
}

#define STEP(k)                                                                                        \
    do {                                                                                               \
        x##k += GOLDEN;                                                                                \
        uint64_t number = mix(x##k);                                                                   \
        at##k = s##k + (number >> shift);                                                              \
        const Slot *slot = &table[at##k];                                                              \
        late##k = (uint32_t)number >= slot->accept;                                                    \
        s##k = slot->target[late##k];                                                                  \
        if (dense) v##k += pay[2 * at##k + late##k];                                                   \
    } while (0)
#define EVENT(k)                                                                                       \
    if (!dense && s##k & PAYS) v##k += pay[2 * at##k + late##k];                                       \
    if (s##k & ENDS || clock == end##k) {                                                              \
        if (e##k < episodes) values[e##k] = v##k, lengths[e##k] = clock + horizon - end##k, done++;    \
        e##k = upcoming < episodes ? upcoming++ : episodes;                                            \
        x##k = mix(key + (uint64_t)(e##k + 1) * GOLDEN);                                               \
        s##k = first, v##k = 0.0, end##k = clock + horizon;                                            \
    }                                                                                                  \
    s##k &= CODE

/* Play the episodes of one policy; `dense` is known when this is compiled: add every reward, or only those marked. */
static inline __attribute__((always_inline)) void play(const int dense, const Slot *table, const double *pay, uint64_t key,
                                                       uint64_t first, unsigned shift, int64_t horizon,
                                                       int64_t episodes, double *values, int64_t *lengths) {
    int64_t upcoming = 2, done = 0, e0 = 0, e1 = 1, clock = 0, end0 = horizon, end1 = horizon;
    uint64_t x0 = mix(key + GOLDEN), x1 = mix(key + 2 * GOLDEN), s0 = first, s1 = first, at0, at1;
    unsigned late0, late1;
    double v0 = 0.0, v1 = 0.0;
    while (done < episodes) {
        const int64_t until = end0 < end1 ? end0 : end1;
        do {
            STEP(0);
            STEP(1);
            clock++;
        } while ((s0 | s1) < PAYS && clock != until);
        EVENT(0);
        EVENT(1);
    }
}

/* Returns 0, or 1 when a state has too many different outcomes. The return is not discounted. */
int sample(const Sparse *m, const double *thetas, const uint64_t *keys, int64_t policies, int64_t episodes,
           double *values, int64_t *lengths) {
    Layout l;
    int64_t paying = 0, all = m->offsets[m->states * m->actions];
    for (int64_t k = 0; k < all; k++) paying += m->rewards[k] != 0.0 && !m->ends[k];
    const int dense = 10 * paying > all;
    if (lay_out(m, &l, dense)) return 1;
    const unsigned shift = (unsigned)(64 - l.bits);
    const uint64_t first = (uint64_t)m->start << l.bits;
    Slot *table = malloc(sizeof(Slot) * (size_t)(m->states << l.bits));
    double *pay = malloc(sizeof(double) * 2 * (size_t)(m->states << l.bits));
    for (int64_t p = 0; p < policies; p++) {
        double *v = values + p * episodes;
        int64_t *n = lengths + p * episodes;
        make_tables(m, &l, thetas + p * m->states * m->actions, table, pay);
        if (dense) play(1, table, pay, keys[p], first, shift, m->horizon, episodes, v, n);
        else play(0, table, pay, keys[p], first, shift, m->horizon, episodes, v, n);
    }
    free(l.merged), free(l.count), free(l.code), free(l.reward), free(table), free(pay);
    return 0;
}

"""The affine map of a round: its mean over cohorts, work and noise, and every deviation from the mean.

With z the state and omega the cohort and its work, z' = M_omega (z, 1) + noise. Where clients' parts
add up, z' = base + sum_{i in cohort} G_{i, s_i} (z, 1) + noise_i, and the moments of who takes part give

    Cov z' = M C M' + sum_a w_a [E_a C E_a' + (E_a m + e_a)(E_a m + e_a)'] + Q

with M the mean map, m and C the mean and covariance of z, and one a for each client and each work:
clients deviate from their mean with weight `spread` (covariance of the cohort's indicators), a client's
work from its own mean with weight `square` times its chance. Every term is a square: nothing cancels.
"""

from typing import NamedTuple

import numpy as np

AGREE = 1e-9        # the map found predicts a fresh trial this well, or is not the round's
ROUNDING = 4e-16    # differences this small, next to what was subtracted, are none


class Sparse(NamedTuple):
    """Entries of a (D, M, columns) array that are not zero everywhere."""

    index: np.ndarray    # (e,) row * columns + column
    value: np.ndarray    # (D, e)


def sparse(value, scale, columns, of):
    """What is above rounding of some columns (D, M, .) of an array of `of` columns; `scale` is what it was computed
    from. Displacements, the constant and noise are told apart: each has its own unit."""
    D, M, _ = value.shape
    size = np.abs(value)
    kind = np.sign(columns - M)
    for k in (-1, 0, 1):
        if (kind == k).any():
            size[:, :, kind == k] *= size[:, :, kind == k] > ROUNDING * scale[:, :, kind == k].max(axis=2, keepdims=True)
    row, column = np.nonzero(size.any(axis=0))
    index = row * of + columns[column]
    index, first = np.unique(index, return_index=True)
    return Sparse(index, value[:, row[first], column[first]])


def combine(terms):
    """sum of weight * Sparse, without what cancels."""
    index, place = np.unique(np.concatenate([s.index for _, s in terms]), return_inverse=True)
    value, size = np.zeros((2, len(terms[0][1].value), len(index)))
    at = 0
    for w, s in terms:
        here = place[at:at + len(s.index)]
        value[:, here] += w * s.value
        size[:, here] += np.abs(w * s.value)
        at += len(s.index)
    kept = (np.abs(value) > ROUNDING * size).any(axis=0)
    return Sparse(index[kept], value[:, kept])


def compress(weights, stack):
    """Deviations (n, D, r, c) as fewer, of weight 1, with the same squares: a QR decomposition for each coordinate."""
    n, D, r, c = stack.shape
    scaled = np.sqrt(weights)[:, None, None] * stack.reshape(n, D, r * c)
    if n > r * c:
        scaled = np.linalg.qr(scaled.transpose(1, 0, 2), mode="r").transpose(1, 0, 2)
    return scaled.reshape(-1, D, r, c)


def add_to(dense, weight, s):
    dense.reshape(len(dense), -1)[:, s.index] += weight * s.value


class Part(NamedTuple):
    """The map given one value of whatever couples the clients."""

    chance: float
    mean: np.ndarray      # (D, M, columns)
    deviations: list      # (weight, Sparse)
    Q: np.ndarray         # (D, M, M) of clients' noise


class Exchange:
    """Cohorts and works that tell all clients, and all their works, apart: each changes one slot of the first.

    What client i adds when it does s steps is sum_v coefficient[item, v] (round_v - round_0), up to what
    is common to all clients.
    """

    def __init__(self, law):
        first = {i: law.support(i)[0] for i in range(1, law.N + 1)}
        self.home = np.ones(law.S, dtype=np.int64) if law.cohort == "with" else np.arange(1, law.S + 1)
        home_work = np.array([first[i] for i in self.home])
        members = sorted(set(self.home))
        outside = [i for i in range(1, law.N + 1) if i not in members]
        self.items = [(i, s) for i in range(1, law.N + 1) for s in law.support(i)]
        self.place = {item: n for n, item in enumerate(self.items)}
        changes = [(0, i, s) for i in outside for s in law.support(i)]
        for slot, i in enumerate(members):
            if outside and slot > 0:    # an outsider comes, the member of this slot goes
                changes.append((slot, outside[0], first[outside[0]]))
            changes += [(slot, i, s) for s in law.support(i)[1:]]
        V = 1 + len(changes)
        self.cohorts, self.works = np.tile(self.home, (V, 1)), np.tile(home_work, (V, 1))
        self.coefficient = np.zeros((len(self.items), V))
        self.where = {(i, first[i]): (0, slot) for slot, i in enumerate(self.home)}
        self.moved = []    # the clients that change, for each change
        for v, (slot, i, s) in enumerate(changes, 1):
            self.cohorts[v, slot], self.works[v, slot] = i, s
            self.moved.append((i, self.home[slot]))
            mine, went = self.coefficient[self.place[i, s]], self.home[slot]
            if i in members:
                mine[:] = self.coefficient[self.place[i, first[i]]]
                mine[v] = 1.0
                self.where[i, s] = v, slot
            elif slot == 0:
                mine[v] = 1.0
                self.where[i, s] = v, slot
            else:
                self.coefficient[self.place[went, first[went]]] = mine - np.eye(V)[v]
        self.home_items = [self.place[i, first[i]] for i in self.home]


class Additive:
    """base + the sum of one item a slot. If `local`, an exchange of two clients is assumed to change the map only
    where it reads what they own, or what all share."""

    def __init__(self, prober, linear, local=True):
        self.prober, plan = prober, Exchange(prober.law)
        every = np.arange(prober.m if linear else 0)
        rows = [np.concatenate([prober.shared, *prober.own[list(pair)]]) if linear and local else every
                for pair in plan.moved]
        bases = np.empty((len(plan.cohorts), prober.D, prober.M))
        _, reference = next(prober.maps(plan.cohorts[:1], plan.works[:1], every[None]))
        self.base = np.zeros((prober.D, prober.M, prober.columns))
        self.base[:, :, 0 if linear else prober.M:] = reference
        bases[0], reference = self.base[:, :, prober.M], self.base.copy()
        changes = [None]
        for columns, Y in prober.maps(plan.cohorts[1:], plan.works[1:], np.array(rows)) if rows else ():
            bases[len(changes)] = Y[:, :, prober.M - prober.columns]
            before = reference[:, :, columns]
            changes.append(sparse(Y - before, np.abs(Y) + np.abs(before), columns, prober.columns))
        none = Sparse(np.zeros(0, dtype=np.int64), np.zeros((prober.D, 0)))
        self.items = {item: combine([(row[v], changes[v]) for v in np.flatnonzero(row)]) if row.any() else none
                      for item, row in zip(plan.items, plan.coefficient)}
        for n in plan.home_items:
            add_to(self.base, -1.0, self.items[plan.items[n]])
        self._noise(plan.cohorts, plan.works, bases, plan.where)

    def _noise(self, cohorts, works, bases, where):
        prober, requests = self.prober, []
        for item, (v, slot) in where.items():
            requests += [(item, v, prober.batch.ordinal(works[v], slot, k)) for k in prober.noises(*item)]
        self.noise, answers = {item: [] for item in where}, []
        if requests:
            v = np.array([v for _, v, _ in requests])
            answers = prober.impulses(cohorts[v], works[v], np.array([o for *_, o in requests], dtype=float), bases[v])
        for (item, _, _), answer in zip(requests, answers):
            rows = np.flatnonzero(answer.any(axis=(0, 2)))
            self.noise[item].append((rows, answer[:, rows].copy()))
        for item, found in self.noise.items():    # (rows, (D, rows, calls * e))
            rows = np.unique(np.concatenate([rows for rows, _ in found])) if found else np.zeros(0, dtype=np.int64)
            whole = np.zeros((prober.D, len(rows), len(found), prober.e))
            for k, (some, answer) in enumerate(found):
                whole[:, np.searchsorted(rows, some), k] = answer
            self.noise[item] = rows, whole.reshape(prober.D, len(rows), len(found) * prober.e)

    def draw(self, generator):
        cohort, work = self.prober.law.draw(generator, 1)
        return cohort[0], work[0]

    def predict(self, cohort, work, u, noises):
        found = np.einsum("dmc,dc->dm", self.base, u)
        for i, s, n in zip(cohort, work, noises):
            item = self.items[i, s]
            rows, columns = np.divmod(item.index, self.base.shape[2])
            np.add.at(found, (slice(None), rows), item.value * u[:, columns])
            rows, answer = self.noise[i, s]
            found[:, rows] += np.einsum("drk,dk->dr", answer, n)
        return found

    def parts(self):
        law, prober = self.prober.law, self.prober
        mean, deviations, Q = self.base.copy(), [], np.zeros((prober.D, prober.M, prober.M))
        each = []
        for i in range(1, law.N + 1):
            works = [(law.pmf[i - 1, s], s) for s in law.support(i)]
            average = combine([(chance, self.items[i, s]) for chance, s in works])
            each.append(average)
            add_to(mean, law.S / law.N, average)
            for chance, s in works:
                if len(works) > 1:
                    deviations.append((law.square * chance, combine([(1.0, self.items[i, s]), (-1.0, average)])))
                rows, answer = self.noise[i, s]
                if answer.size:
                    Q[:, rows[:, None], rows] += (law.square * chance * prober.variance[i]
                                                  * (answer @ answer.transpose(0, 2, 1)))
        if law.spread > 0:
            *each, left = centred(each)
            deviations += [(law.spread, s) for s in each] + [(-law.spread * law.N, left)]
        return [Part(1.0, mean, deviations, Q)]


def centred(items):
    """Items less a common centre, and then the mean of what is left.

    The centre is the mean where all items have an entry, so that nothing is left to subtract; where
    most have it, the median, so that an entry shared by all but one client stays sparse.
    """
    N, D = len(items), len(items[0].value)
    index, count = np.unique(np.concatenate([s.index for s in items]), return_counts=True)
    common = index[2 * count >= N]
    values = np.zeros((N, D, len(common)))
    for n, s in enumerate(items):
        _, here, there = np.intersect1d(s.index, common, assume_unique=True, return_indices=True)
        values[n][:, there] = s.value[:, here]
    centre = np.where(np.isin(common, index[count == N]), values.mean(axis=0), np.median(values, axis=0))
    less = Sparse(common, centre)
    items = [combine([(1.0, s), (-1.0, less)]) for s in items]
    return [*items, combine([(1.0 / N, s) for s in items])]


class Outcomes:
    """One map for each outcome of cohort and work: for clients that are coupled."""

    def __init__(self, prober, linear, outcomes):
        self.prober, (self.chances, self.cohorts, self.works) = prober, outcomes
        rows = np.tile(np.arange(prober.m if linear else 0), (len(self.cohorts), 1))
        self.maps = np.zeros((len(rows), prober.D, prober.M, prober.columns))
        for whole, (_, Y) in zip(self.maps, prober.maps(self.cohorts, self.works, rows)):
            whole[:, :, 0 if linear else prober.M:] = Y
        self.place = {(tuple(c), tuple(w)): n for n, (c, w) in enumerate(zip(self.cohorts, self.works))}
        requests = [(n, slot, prober.batch.ordinal(w, slot, k)) for n, (c, w) in enumerate(zip(self.cohorts, self.works))
                    for slot, (i, s) in enumerate(zip(c, w)) for k in prober.noises(i, s)]
        self.noise = {(n, slot): [] for n in range(len(self.chances)) for slot in range(prober.law.S)}
        if requests:
            v = np.array([n for n, *_ in requests])
            answers = prober.impulses(self.cohorts[v], self.works[v], np.array([o for *_, o in requests], dtype=float),
                                      self.maps[v, :, :, prober.M])
            for (n, slot, _), answer in zip(requests, answers):
                self.noise[n, slot].append(answer)
        empty = np.zeros((prober.D, prober.M, 0))
        self.noise = {key: np.concatenate(found, axis=2) if found else empty for key, found in self.noise.items()}

    def draw(self, generator):
        n = generator.integers(len(self.chances))
        order = np.arange(self.prober.law.S) if self.prober.law.cohort == "full" else generator.permutation(self.prober.law.S)
        return self.cohorts[n, order], self.works[n, order]

    def predict(self, cohort, work, u, noises):
        order = np.argsort(cohort, kind="stable")
        n = self.place[tuple(cohort[order]), tuple(work[order])]
        found = np.einsum("dmc,dc->dm", self.maps[n], u)
        for slot, at in enumerate(order):
            found += np.einsum("drk,dk->dr", self.noise[n, slot], noises[at])
        return found

    def parts(self):
        for n, (chance, cohort) in enumerate(zip(self.chances, self.cohorts)):
            Q = np.zeros((self.prober.D, self.prober.M, self.prober.M))
            for i in sorted(set(cohort)):    # a client drawn twice has one noise
                answer = sum(self.noise[n, slot] for slot in np.flatnonzero(cohort == i))
                Q += self.prober.variance[i] * (answer @ answer.transpose(0, 2, 1))
            yield Part(chance, self.maps[n], [], Q)


def agrees(model, prober, linear, trials=6):
    """Whether a model found by probes predicts rounds from random states, under random noise, at many scales."""
    generator = np.random.default_rng(2)
    size = 1.0 + np.abs(prober.start - prober.centre).max()
    for n in range(trials):
        cohort, work = model.draw(generator)
        u, noises, seen = prober.trial(generator, size * 10.0 ** (n % 3 - 1), linear, cohort, work)
        found = model.predict(cohort, work, u, noises)
        # Rows are compared each on its own scale: a variate is not as large as the point it came from.
        scale = np.abs(seen).max(axis=0) if not prober.coupled else np.abs(seen)
        scale = np.maximum(scale, 1e-3 * np.abs(u).max())
        if not np.all(np.abs(found - seen) <= AGREE * scale):
            return False
    return True


class Map(NamedTuple):
    """A round's map of mean and covariance. Deviation n has r rows and c columns, size[n] = (r, c); what belongs to
    it starts at at[n] = (in rows and e, in columns, in E)."""

    linear: np.ndarray      # (D, M, M)
    constant: np.ndarray    # (D, M)
    Q: np.ndarray           # (D, M, M)
    weight: np.ndarray      # (a,)
    size: np.ndarray        # (a, 2)
    at: np.ndarray          # (a, 3)
    rows: np.ndarray        # (sum r,)
    columns: np.ndarray     # (sum c,)
    E: np.ndarray           # (D, sum r c)
    e: np.ndarray           # (D, sum r)


def map_of(linear, constant, Q, blocks):
    """`blocks` are (weight, rows, columns, E (D, r, c), e (D, r))."""
    blocks = list(blocks)
    D, integers = len(linear), np.zeros(0, dtype=np.int64)
    size = np.array([block[3].shape[1:] for block in blocks], dtype=np.int64).reshape(-1, 2)
    ends = np.cumsum([(r, c, r * c) for r, c in size], axis=0, dtype=np.int64).reshape(-1, 3)
    join = lambda parts, empty: np.concatenate(parts, axis=-1) if blocks else empty
    return Map(np.ascontiguousarray(linear), np.ascontiguousarray(constant), Q, np.array([b[0] for b in blocks]), size,
               np.vstack([np.zeros((1, 3), dtype=np.int64), ends])[:-1].copy(),
               join([b[1] for b in blocks], integers), join([b[2] for b in blocks], integers),
               join([b[3].reshape(D, -1) for b in blocks], np.zeros((D, 0))),
               join([b[4] for b in blocks], np.zeros((D, 0))))


def assemble(parts, prober):
    parts = list(parts)
    D, M = prober.D, prober.M
    mean = sum(part.chance * part.mean for part in parts)
    deviations = [(part.chance * w, s) for part in parts for w, s in part.deviations]
    if len(parts) > 1:
        every = np.arange(prober.columns)
        deviations += [(part.chance, sparse(part.mean - mean, np.abs(part.mean) + np.abs(mean), every, prober.columns))
                       for part in parts]
    variance, noise = prober.variance[0], mean[:, :, M + 1:]
    Q = sum(part.chance * part.Q for part in parts) + variance * (noise @ noise.transpose(0, 2, 1))
    blocks = []
    for w, s in deviations:
        i, j = np.divmod(s.index, prober.columns)
        rows = np.unique(i)
        i = np.searchsorted(rows, i)
        inner, level, outer = j < M, j == M, j > M
        columns = np.unique(j[inner])
        E, e = np.zeros((D, len(rows), len(columns))), np.zeros((D, len(rows)))
        E[:, i[inner], np.searchsorted(columns, j[inner])] = s.value[:, inner]
        e[:, i[level]] = s.value[:, level]
        fixed = np.zeros((D, len(rows), prober.columns - M))    # what no state multiplies is the same in every round
        fixed[:, i[outer], j[outer] - M - 1] = np.sqrt(variance) * s.value[:, outer]
        if len(columns):
            blocks.append((w, rows, columns, E, e))
        else:
            fixed[:, :, -1] = e
        Q[:, rows[:, None], rows] += w * (fixed @ fixed.transpose(0, 2, 1))
    return map_of(mean[:, :, :M], mean[:, :, M], Q, merged(blocks))


def merged(blocks):
    """Blocks with the same rows and columns, where they are many, as few."""
    groups = {}
    for block in blocks:
        groups.setdefault((block[0] > 0, block[1].tobytes(), block[2].tobytes()), []).append(block)
    for group in groups.values():
        _, rows, columns, E, e = group[0]
        if group[0][0] < 0 or len(group) <= e.shape[1] * (len(columns) + 1):
            yield from group
            continue
        stack = np.stack([np.concatenate([E, e[:, :, None]], axis=2) for *_, E, e in group])
        for both in compress(np.array([w for w, *_ in group]), stack):
            yield 1.0, rows, columns, both[:, :, :-1], both[:, :, -1]

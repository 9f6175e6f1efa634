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

from fedtheory.errors import NotExact

AGREE = 1e-9        # the map found predicts a fresh trial this well, or is not the round's
OUTCOMES = 4096     # cohorts and works that are followed one by one where clients are coupled
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


def add_to(dense, weight, s):
    dense.reshape(len(dense), -1)[:, s.index] += weight * s.value


class Part(NamedTuple):
    """The map given one value of whatever couples the clients."""

    chance: float
    mean: np.ndarray      # (D, M, columns)
    deviations: list      # (weight, Sparse)
    Q: np.ndarray         # (D, M, M) of clients' noise


class Additive:
    """base + the sum of one item a slot, the items told apart by swapping clients in a reference cohort.

    If `local`, a swap is assumed to change the map only where it reads what the two clients own or all share.
    """

    def __init__(self, prober, linear, local=True):
        law, self.prober = prober.law, prober
        first = {i: law.support(i)[0] for i in range(1, law.N + 1)}
        home = np.ones(law.S, dtype=np.int64) if law.cohort == "with" else np.arange(1, law.S + 1)
        home_work = np.array([first[i] for i in home])
        members = sorted(set(home))
        outside = [i for i in range(1, law.N + 1) if i not in members]
        asked = [("swap", 0, i, s) for i in outside for s in law.support(i)]
        for slot, i in enumerate(members):
            if outside and slot > 0:
                asked.append(("out", slot, outside[0], first[outside[0]]))
            asked += [("work", slot, i, s) for s in law.support(i)[1:]]
        cohorts, works = np.tile(home, (len(asked) + 1, 1)), np.tile(home_work, (len(asked) + 1, 1))
        every, rows = np.arange(prober.m if linear else 0), []
        for v, (_, slot, i, s) in enumerate(asked, 1):
            cohorts[v, slot], works[v, slot] = i, s
            rows.append(np.concatenate([prober.shared, prober.own[i], prober.own[home[slot]]])
                        if linear and local else every)
        bases = np.empty((len(cohorts), prober.D, prober.M))
        _, reference = next(prober.maps(cohorts[:1], works[:1], every[None]))
        self.base = np.zeros((prober.D, prober.M, prober.columns))
        self.base[:, :, 0 if linear else prober.M:] = reference
        bases[0], reference = self.base[:, :, prober.M], self.base.copy()
        none = Sparse(np.zeros(0, dtype=np.int64), np.zeros((prober.D, 0)))
        self.items = {(i, first[i]): none for i in (members[:1] if outside else members)}
        where = {(i, first[i]): (0, slot) for slot, i in enumerate(home)}
        answers = prober.maps(cohorts[1:], works[1:], np.array(rows)) if asked else ()
        for v, ((columns, Y), (name, slot, i, s)) in enumerate(zip(answers, asked), 1):
            bases[v] = Y[:, :, prober.M - prober.columns]
            before = reference[:, :, columns]
            change = sparse(Y - before, np.abs(Y) + np.abs(before), columns, prober.columns)
            if name == "out":    # the outsider came, and the member of this slot went
                self.items[home[slot], first[home[slot]]] = combine([(1.0, self.items[i, s]), (-1.0, change)])
                continue
            self.items[i, s] = change if name == "swap" else combine([(1.0, self.items[i, first[i]]), (1.0, change)])
            where[i, s] = (v, slot)
        for i in home:
            add_to(self.base, -1.0, self.items[i, first[i]])
        self._noise(cohorts, works, bases, where)

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
            self.noise[item] = rows, whole.reshape(prober.D, len(rows), -1)

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


def model_of(prober, given, linear):
    """What the round does, in the first form that predicts `given`, a prober of the problem itself."""
    for local in (True, False) if prober.own.size else (False,):
        model = Additive(prober, linear, local)
        if agrees(model, given, linear):
            return model
    law = prober.law
    cohort, work = law.draw(np.random.default_rng(4), 1)
    order = np.argsort(cohort[0], kind="stable")
    if not agrees(Outcomes(prober, linear, (np.ones(1), cohort[:, order], work[:, order])), given, linear):
        raise NotExact("its round is not an affine map of points and noise")
    most = min(OUTCOMES, int(2**25 / (prober.D * prober.M * prober.columns)))
    outcomes = law.outcomes(most)
    if outcomes is None:
        raise NotExact(f"its clients' parts do not add up, and cohorts with their work have more than {most} outcomes")
    model = Outcomes(prober, linear, outcomes)
    if not agrees(model, given, linear):
        raise NotExact("its round depends on the order of the cohort")
    return model


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
    D, integers = len(linear), np.zeros(0, dtype=np.int64)
    size = np.array([block[3].shape[1:] for block in blocks], dtype=np.int64).reshape(-1, 2)
    ends = np.cumsum([(r, c, r * c) for r, c in size], axis=0, dtype=np.int64).reshape(-1, 3)
    join = lambda parts, empty: np.concatenate(parts, axis=-1) if blocks else empty
    return Map(np.ascontiguousarray(linear), np.ascontiguousarray(constant), Q, np.array([b[0] for b in blocks]), size,
               np.vstack([np.zeros((1, 3), dtype=np.int64), ends])[:-1].copy(),
               join([b[1] for b in blocks], integers), join([b[2] for b in blocks], integers),
               join([b[3].reshape(D, -1) for b in blocks], np.zeros((D, 0))),
               join([b[4] for b in blocks], np.zeros((D, 0))))


def blocks_of(map):
    for w, (r, c), (i, j, k) in zip(map.weight, map.size, map.at):
        yield (w, map.rows[i:i + r], map.columns[j:j + c], map.E[:, k:k + r * c].reshape(-1, r, c), map.e[:, i:i + r])


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
    return map_of(mean[:, :, :M], mean[:, :, M], Q, blocks)

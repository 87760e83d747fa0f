"use strict";

/* The junction tree, exactly: tables are arrays in row-major order, the last variable fastest. */
class JunctionTree {
  constructor(model) {
    this.model = model;
    this.cards = model.states.map((states) => states.length);
    this.strides = model.bags.map((bag) => this.stridesOf(bag));
    this.sizes = model.bags.map((bag) => bag.reduce((size, v) => size * this.cards[v], 1));
    this.potentials = this.sizes.map((size) => new Float64Array(size).fill(1));
    model.tables.forEach((table, v) => this.multiplyIn(v, table));
    // For every bag but the root: where its entries, and those of the bag above, are in the separator.
    this.links = model.bags.map((bag, i) => {
      const above = model.up[i];
      if (above < 0) return null;
      const shared = bag.filter((v) => model.bags[above].includes(v));
      const strides = this.stridesOf(shared);
      const size = shared.reduce((product, v) => product * this.cards[v], 1);
      return { above, size, below: this.project(i, strides), from: this.project(above, strides) };
    });
  }

  /* The tree of the same network with some variables set (a Map of states): each of these has lost
     its parents and has its state for certain. Shares everything but the tables that change. */
  under(set) {
    if (set.size === 0) return this;
    const tree = Object.create(JunctionTree.prototype);
    const tables = this.model.tables.map((table, v) => {
      if (!set.has(v)) return table;
      const card = this.cards[v];
      return Array.from(table, (_, i) => (i % card === set.get(v) ? 1 : 0));
    });
    Object.assign(tree, this, { model: { ...this.model, tables }, calibrated: undefined });
    tree.potentials = this.potentials.slice();
    for (const bag of new Set([...set.keys()].map((v) => this.model.home[v]))) {
      tree.potentials[bag] = new Float64Array(this.sizes[bag]).fill(1);
      tables.forEach((table, v) => {
        if (this.model.home[v] === bag) tree.multiplyIn(v, table);
      });
    }
    return tree;
  }

  multiplyIn(v, table) {
    const bag = this.model.home[v];
    const at = this.project(bag, this.stridesOf([...this.model.parents[v], v]));
    const potential = this.potentials[bag];
    for (let i = 0; i < potential.length; i++) potential[i] *= table[at[i]];
  }

  /* For every variable the information, in nats, to expect from it about a target: the mutual
     information given the evidence, from one calibration for each state of the target. */
  influence(target, evidence) {
    const now = this.marginals(evidence);
    if (!now) return null;
    const found = new Float64Array(this.cards.length);
    now.posteriors[target].forEach((p, s) => {
      if (!(p > 0)) return;
      const given = this.marginals(new Map([...evidence, [target, s]]));
      if (!given) return;
      given.posteriors.forEach((values, v) => {
        values.forEach((value, t) => {
          const before = now.posteriors[v][t];
          if (value > 0 && before > 0) found[v] += p * value * Math.log(value / before);
        });
      });
    });
    return found.map((nats) => Math.max(nats, 0));
  }

  stridesOf(variables) {
    const strides = new Map();
    let stride = 1;
    for (let k = variables.length - 1; k >= 0; k--) {
      strides.set(variables[k], stride);
      stride *= this.cards[variables[k]];
    }
    return strides;
  }

  /* For every entry of a bag its place in a table over some of the bag's variables. */
  project(bag, strides) {
    const variables = this.model.bags[bag];
    let places = new Int32Array(1);
    for (const v of variables) {
      const card = this.cards[v];
      const stride = strides.get(v) ?? 0;
      const next = new Int32Array(places.length * card);
      for (let i = 0; i < places.length; i++)
        for (let s = 0; s < card; s++) next[i * card + s] = places[i] + s * stride;
      places = next;
    }
    return places;
  }

  stateIn(bag, index, v) {
    return Math.floor(index / this.strides[bag].get(v)) % this.cards[v];
  }

  withEvidence(evidence) {
    const beliefs = this.potentials.map((potential) => potential.slice());
    for (const [v, state] of evidence) {
      const bag = this.model.home[v];
      this.forStates(bag, v, (s, first, last) => { if (s !== state) beliefs[bag].fill(0, first, last); });
    }
    return beliefs;
  }

  /* Calls visit(state, first, last) for every run of entries of a bag with one state of v. */
  forStates(bag, v, visit) {
    const stride = this.strides[bag].get(v);
    const card = this.cards[v];
    for (let first = 0, s = 0; first < this.sizes[bag]; first += stride, s = (s + 1) % card)
      visit(s, first, first + stride);
  }

  /* Sums the table of the bag above to the separator; for `below`, that of the bag itself. */
  separator(i, belief, places) {
    const message = new Float64Array(this.links[i].size);
    for (let e = 0; e < belief.length; e++) message[places[e]] += belief[e];
    return message;
  }

  /* Bags, separators and posteriors before any evidence; computed once. */
  get prior() {
    if (this.calibrated) return this.calibrated;
    const beliefs = this.potentials.map((potential) => potential.slice());
    const order = this.model.order;
    const sent = new Array(beliefs.length);
    for (let k = order.length - 1; k > 0; k--) {
      const link = this.links[order[k]];
      sent[order[k]] = this.separator(order[k], beliefs[order[k]], link.below);
      scaled(sent[order[k]]);
      multiply(beliefs[link.above], sent[order[k]], link.from);
    }
    normalised(beliefs[order[0]]);
    const separators = new Array(beliefs.length);
    for (let k = 1; k < order.length; k++) {
      const i = order[k];
      const link = this.links[i];
      separators[i] = normalised(this.separator(i, beliefs[link.above], link.from));
      multiply(beliefs[i], quotient(separators[i], sent[i]), link.below);
      normalised(beliefs[i]);
    }
    const posteriors = this.cards.map((_, v) => this.posterior(v, beliefs[this.model.home[v]]));
    this.room = beliefs.map((belief) => new Float64Array(belief.length)); // for what evidence changes
    this.calibrated = { beliefs, separators, posteriors };
    return this.calibrated;
  }

  posterior(v, belief) {
    const values = new Float64Array(this.cards[v]);
    this.forStates(this.model.home[v], v, (s, first, last) => {
      let part = 0;
      for (let e = first; e < last; e++) part += belief[e];
      values[s] += part;
    });
    return normalised(values);
  }

  /* Posteriors of all variables and the logarithm of P(evidence); null if it is impossible.

     Starts from the bags before any evidence. Only bags between the evidence and the root send
     messages up; on the way back, a bag that would learn nothing new ends the way. */
  marginals(evidence) {
    const prior = this.prior;
    const { order, home, up } = this.model;
    const beliefs = prior.beliefs.slice();
    const touched = new Array(beliefs.length).fill(false);
    for (const [v, state] of evidence) {
      const bag = home[v];
      for (let i = bag; i >= 0 && !touched[i]; i = up[i]) {
        touched[i] = true;
        this.room[i].set(beliefs[i]);
        beliefs[i] = this.room[i];
      }
      this.forStates(bag, v, (s, first, last) => { if (s !== state) beliefs[bag].fill(0, first, last); });
    }
    const sent = new Array(beliefs.length);
    let log = 0;
    for (let k = order.length - 1; k > 0; k--) {
      const i = order[k];
      if (!touched[i]) continue;
      const link = this.links[i];
      const message = this.separator(i, beliefs[i], link.below);
      const top = scaled(message);
      if (top === 0) return null;
      log += Math.log(top);
      sent[i] = message;
      multiply(beliefs[link.above], quotient(message, prior.separators[i]), link.from);
    }
    const total = beliefs[order[0]].reduce((sum, value) => sum + value, 0);
    if (!(total > 0)) return null;
    log += Math.log(total);
    const changed = touched.slice();
    for (let k = 1; k < order.length; k++) {
      const i = order[k];
      const link = this.links[i];
      if (!changed[link.above]) continue;
      const message = normalised(this.separator(i, beliefs[link.above], link.from));
      if (!touched[i] && isSame(message, prior.separators[i])) continue;
      // What the bag itself sent up, or says anyway, is divided out; where that was zero, so is this.
      const ratio = quotient(message, sent[i] ?? prior.separators[i]);
      if (touched[i]) multiply(beliefs[i], ratio, link.below);
      else beliefs[i] = product(beliefs[i], ratio, link.below, this.room[i]);
      changed[i] = true;
    }
    const posteriors = this.cards.map((_, v) =>
      changed[home[v]] ? this.posterior(v, beliefs[home[v]]) : prior.posteriors[v]);
    return { posteriors, log };
  }

  /* The most probable states of all variables together, and the logarithm of their probability. */
  explanation(evidence) {
    const beliefs = this.withEvidence(evidence);
    const order = this.model.order;
    const best = new Array(beliefs.length);
    let log = 0;
    for (let k = order.length - 1; k > 0; k--) {
      const i = order[k];
      const link = this.links[i];
      const message = new Float64Array(link.size);
      best[i] = new Int32Array(link.size);
      for (let e = 0; e < beliefs[i].length; e++) {
        const place = link.below[e];
        if (beliefs[i][e] > message[place]) {
          message[place] = beliefs[i][e];
          best[i][place] = e;
        }
      }
      const top = scaled(message);
      if (top === 0) return null;
      log += Math.log(top);
      const above = beliefs[link.above];
      for (let e = 0; e < above.length; e++) above[e] *= message[link.from[e]];
    }
    const entry = new Array(beliefs.length);
    const root = beliefs[order[0]];
    entry[order[0]] = root.indexOf(root.reduce((a, b) => Math.max(a, b), 0));
    if (!(root[entry[order[0]]] > 0)) return null;
    log += Math.log(root[entry[order[0]]]);
    const states = new Array(this.cards.length);
    order.forEach((i, k) => {
      if (k > 0) entry[i] = best[i][this.links[i].from[entry[this.links[i].above]]];
      for (const v of this.model.bags[i]) states[v] = this.stateIn(i, entry[i], v);
    });
    return { states, log };
  }
}

/* Divides a message by its largest entry, which is returned: long products do not underflow. */
function scaled(message) {
  let top = 0;
  for (const value of message) if (value > top) top = value;
  if (top > 0) for (let e = 0; e < message.length; e++) message[e] /= top;
  return top;
}

function multiply(belief, message, places) {
  for (let e = 0; e < belief.length; e++) belief[e] *= message[places[e]];
}

function product(belief, message, places, result) {
  for (let e = 0; e < belief.length; e++) result[e] = belief[e] * message[places[e]];
  return result;
}

function quotient(above, below) {
  const result = new Float64Array(above.length);
  for (let e = 0; e < above.length; e++) if (below[e] > 0) result[e] = above[e] / below[e];
  return result;
}

function normalised(values) {
  let sum = 0;
  for (const value of values) sum += value;
  for (let e = 0; e < values.length; e++) values[e] /= sum;
  return values;
}

/* Whether two tables differ by no more than rounding. */
function isSame(a, b) {
  for (let e = 0; e < a.length; e++) if (Math.abs(a[e] - b[e]) > 1e-14 * b[e]) return false;
  return true;
}

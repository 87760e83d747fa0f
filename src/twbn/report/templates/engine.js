"use strict";

/* The junction tree, exactly: tables are arrays in row-major order, the last variable fastest. */
class JunctionTree {
  constructor(model) {
    this.model = model;
    this.cards = model.states.map((states) => states.length);
    this.strides = model.bags.map((bag) => this.stridesOf(bag));
    this.sizes = model.bags.map((bag) => bag.reduce((size, v) => size * this.cards[v], 1));
    this.potentials = this.sizes.map((size) => new Float64Array(size).fill(1));
    model.tables.forEach((table, v) => {
      const family = [...model.parents[v], v];
      const bag = model.home[v];
      const at = this.project(bag, this.stridesOf(family));
      const potential = this.potentials[bag];
      for (let i = 0; i < potential.length; i++) potential[i] *= table[at[i]];
    });
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

  /* Posteriors of all variables and the logarithm of P(evidence); null if it is impossible. */
  marginals(evidence) {
    const beliefs = this.withEvidence(evidence);
    const sent = new Array(beliefs.length);
    const order = this.model.order;
    let log = 0;
    for (let k = order.length - 1; k > 0; k--) {
      const i = order[k];
      const link = this.links[i];
      const message = new Float64Array(link.size);
      for (let e = 0; e < beliefs[i].length; e++) message[link.below[e]] += beliefs[i][e];
      const top = scaled(message);
      if (top === 0) return null;
      log += Math.log(top);
      sent[i] = message;
      const above = beliefs[link.above];
      for (let e = 0; e < above.length; e++) above[e] *= message[link.from[e]];
    }
    const total = beliefs[order[0]].reduce((sum, value) => sum + value, 0);
    if (!(total > 0)) return null;
    log += Math.log(total);
    for (let k = 1; k < order.length; k++) {
      const i = order[k];
      const link = this.links[i];
      const above = beliefs[link.above];
      const message = new Float64Array(link.size);
      for (let e = 0; e < above.length; e++) message[link.from[e]] += above[e];
      // The message sent up is divided out; where that was zero, so is the message sent back.
      for (let e = 0; e < message.length; e++)
        message[e] = sent[i][e] > 0 ? message[e] / sent[i][e] : 0;
      scaled(message);
      for (let e = 0; e < beliefs[i].length; e++) beliefs[i][e] *= message[link.below[e]];
    }
    const posteriors = this.cards.map((card, v) => {
      const bag = this.model.home[v];
      const values = new Float64Array(card);
      const belief = beliefs[bag];
      this.forStates(bag, v, (s, first, last) => {
        let part = 0;
        for (let e = first; e < last; e++) part += belief[e];
        values[s] += part;
      });
      const sum = values.reduce((a, b) => a + b, 0);
      return values.map((value) => value / sum);
    });
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

#include "inference/support.h"

#include <algorithm>
#include <vector>

namespace twbn {

namespace {

// States that are left for some variables, and tables that exclude combinations of them.
class Search {
 public:
  Search(const Factors& factors, const Evidence& evidence, std::int64_t max_trials);

  /// Add a table, unless it excludes nothing that evidence leaves. False if it excludes everything.
  bool add(std::int32_t v);
  /// Strike out what has no support; false if nothing is left.
  bool strike_all();
  Possible run();
  /// Set the codes of variables with a single state left.
  void read_out(std::vector<std::int32_t>& codes) const;

 private:
  // A member of a table's family: a variable by its local number, and its stride in the table.
  struct Member {
    std::size_t variable;
    std::int64_t stride;
  };
  struct Table {
    const double* first;  // where known members have their codes
    std::size_t first_member, last_member;
  };

  std::size_t local(std::int32_t v);
  std::size_t n_states(std::size_t u) const { return offsets_[u + 1] - offsets_[u]; }
  char* states(std::size_t u) { return states_.data() + offsets_[u]; }
  bool strike(std::vector<std::size_t> waiting);
  bool revise(std::size_t t);
  bool mark_supported(std::size_t member, std::size_t last, const double* entry);
  Possible try_states();
  void strike_out(std::size_t place);
  void take_back(std::size_t n_struck);

  const Factors& factors_;
  const Evidence& evidence_;
  std::int64_t trials_left_;
  std::vector<std::int32_t> place_;
  std::vector<Table> tables_;
  std::vector<Member> members_;
  std::vector<std::vector<std::size_t>> tables_of_;  // of each local variable
  std::vector<std::size_t> offsets_{0};              // of its states
  std::vector<char> states_, supported_;
  std::vector<std::size_t> struck_;  // places of states, in the order in which they were struck out
  std::vector<char> waits_;
  std::vector<std::size_t> changed_;
};

Search::Search(const Factors& factors, const Evidence& evidence, std::int64_t max_trials)
    : factors_(factors),
      evidence_(evidence),
      trials_left_(max_trials),
      place_(at(factors.n_variables()), -1) {}

std::size_t Search::local(std::int32_t v) {
  if (place_[at(v)] < 0) {
    place_[at(v)] = static_cast<std::int32_t>(tables_of_.size());
    tables_of_.emplace_back();
    const double* likelihood = evidence_.likelihoods[at(v)];
    for (std::int32_t s = 0; s < factors_.n_states(v); ++s) {
      states_.push_back(likelihood == nullptr || likelihood[s] > 0);
    }
    offsets_.push_back(states_.size());
  }
  return at(place_[at(v)]);
}

bool Search::add(std::int32_t v) {
  Table table{factors_.table(v), members_.size(), 0};
  std::int64_t stride = factors_.table_size(v);
  const auto visit = [&](std::int32_t u) {
    stride /= factors_.n_states(u);
    const std::int32_t code = evidence_.codes[at(u)];
    if (code >= 0) {
      table.first += stride * code;
    } else {
      members_.push_back({local(u), stride});
    }
  };
  for (const std::int32_t p : factors_.parents(v)) visit(p);
  visit(v);
  table.last_member = members_.size();
  if (table.first_member == table.last_member) return *table.first > 0;
  for (std::size_t m = table.first_member; m < table.last_member; ++m) {
    tables_of_[members_[m].variable].push_back(tables_.size());
  }
  tables_.push_back(table);
  return true;
}

// Goes through the entries whose states are all left, marking the states of the positive ones.
bool Search::mark_supported(std::size_t member, std::size_t last, const double* entry) {
  if (member == last) return *entry > 0;
  const auto [u, stride] = members_[member];
  bool any = false;
  for (std::size_t s = 0; s < n_states(u); ++s) {
    if (!states(u)[s]) continue;
    if (!mark_supported(member + 1, last, entry + static_cast<std::int64_t>(s) * stride)) continue;
    supported_[offsets_[u] + s] = 1;
    any = true;
  }
  return any;
}

// Strike out what a table does not support; false if nothing is left.
bool Search::revise(std::size_t t) {
  const auto [first, first_member, last_member] = tables_[t];
  supported_.resize(states_.size());
  for (std::size_t m = first_member; m < last_member; ++m) {
    const std::size_t u = members_[m].variable;
    std::fill_n(supported_.begin() + static_cast<std::ptrdiff_t>(offsets_[u]), n_states(u), 0);
  }
  changed_.clear();
  if (!mark_supported(first_member, last_member, first)) return false;
  for (std::size_t m = first_member; m < last_member; ++m) {
    const std::size_t u = members_[m].variable;
    const char* kept = supported_.data() + offsets_[u];
    if (std::equal(kept, kept + n_states(u), states(u))) continue;
    for (std::size_t s = 0; s < n_states(u); ++s) {
      if (states(u)[s] && !kept[s]) strike_out(offsets_[u] + s);
    }
    changed_.push_back(u);
  }
  return true;
}

bool Search::strike(std::vector<std::size_t> waiting) {
  waits_.assign(tables_.size(), 0);
  for (const std::size_t t : waiting) waits_[t] = 1;
  while (!waiting.empty()) {
    const std::size_t t = waiting.back();
    waiting.pop_back();
    waits_[t] = 0;
    if (!revise(t)) return false;
    for (const std::size_t u : changed_) {
      for (const std::size_t other : tables_of_[u]) {
        if (other == t || waits_[other]) continue;
        waits_[other] = 1;
        waiting.push_back(other);
      }
    }
  }
  return true;
}

// Gives one variable with a choice after the other a state, and takes back what leads nowhere.
Possible Search::try_states() {
  struct Choice {
    std::size_t variable;
    std::size_t state;       // to be tried next
    std::size_t n_struck;    // when the choice was made
  };
  const auto next_open = [&](std::size_t u) {
    while (u < tables_of_.size() && std::count(states(u), states(u) + n_states(u), 1) <= 1) ++u;
    return u;
  };
  std::vector<Choice> choices;
  struck_.clear();
  for (std::size_t open = next_open(0); open < tables_of_.size();) {
    choices.push_back({open, 0, struck_.size()});
    bool found = false;
    while (!found) {
      if (choices.empty()) return Possible::no;
      Choice& choice = choices.back();
      take_back(choice.n_struck);
      const std::size_t u = choice.variable;
      while (choice.state < n_states(u) && !states(u)[choice.state]) ++choice.state;
      if (choice.state == n_states(u)) {
        choices.pop_back();
        continue;
      }
      if (trials_left_-- <= 0) return Possible::unknown;
      for (std::size_t s = 0; s < n_states(u); ++s) {
        if (s != choice.state && states(u)[s]) strike_out(offsets_[u] + s);
      }
      ++choice.state;
      found = strike(tables_of_[u]);
    }
    open = next_open(choices.back().variable + 1);
  }
  return Possible::yes;
}

void Search::strike_out(std::size_t place) {
  states_[place] = 0;
  struck_.push_back(place);
}

void Search::take_back(std::size_t n_struck) {
  for (; struck_.size() > n_struck; struck_.pop_back()) states_[struck_.back()] = 1;
}

bool Search::strike_all() {
  std::vector<std::size_t> all(tables_.size());
  for (std::size_t t = 0; t < all.size(); ++t) all[t] = all.size() - 1 - t;
  return strike(std::move(all));
}

Possible Search::run() {
  if (!strike_all()) return Possible::no;
  return try_states();
}

void Search::read_out(std::vector<std::int32_t>& codes) const {
  for (std::size_t v = 0; v < place_.size(); ++v) {
    if (place_[v] < 0) continue;
    const auto first = states_.begin() + static_cast<std::ptrdiff_t>(offsets_[at(place_[v])]);
    const auto last = states_.begin() + static_cast<std::ptrdiff_t>(offsets_[at(place_[v]) + 1]);
    if (std::count(first, last, 1) != 1) continue;
    codes[v] = static_cast<std::int32_t>(std::find(first, last, 1) - first);
  }
}

// The ancestors of what is known or has a likelihood, and these themselves.
std::vector<std::int32_t> evidence_and_above(const Factors& factors, const Evidence& evidence) {
  const auto n = at(factors.n_variables());
  std::vector<char> seen(n);
  std::vector<std::int32_t> waiting, result;
  for (std::size_t v = 0; v < n; ++v) {
    if (evidence.codes[v] < 0 && evidence.likelihoods[v] == nullptr) continue;
    waiting.push_back(static_cast<std::int32_t>(v));
  }
  while (!waiting.empty()) {
    const std::int32_t v = waiting.back();
    waiting.pop_back();
    if (seen[at(v)]) continue;
    seen[at(v)] = 1;
    result.push_back(v);
    for (const std::int32_t p : factors.parents(v)) waiting.push_back(p);
  }
  return result;
}

}  // namespace

Possible is_possible(const Factors& factors, const Evidence& evidence,
                     std::span<const std::int32_t> answered, std::int64_t max_trials) {
  std::vector<char> is_answered(at(factors.n_variables()));
  for (const std::int32_t v : answered) is_answered[at(v)] = 1;
  Search search(factors, evidence, max_trials);
  for (const std::int32_t v : evidence_and_above(factors, evidence)) {
    if (!is_answered[at(v)] && factors.has_zero(v) && !search.add(v)) return Possible::no;
  }
  return search.run();
}

std::vector<std::int32_t> implied_codes(const Factors& factors, const Evidence& evidence) {
  std::vector<std::int32_t> codes(evidence.codes.begin(), evidence.codes.end());
  Search search(factors, evidence, 0);
  for (const std::int32_t v : evidence_and_above(factors, evidence)) {
    if (factors.has_zero(v) && !search.add(v)) return codes;
  }
  if (search.strike_all()) search.read_out(codes);
  return codes;
}

}  // namespace twbn

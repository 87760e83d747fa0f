// Whether evidence is possible: a matter of zeros alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/elimination.h"
#include "inference/factors.h"

namespace twbn {

enum class Possible { yes, no, unknown };

/// Say whether the evidence is possible, as far as tables tell that are not in `answered`
/// (ascending): those of the ancestors of what is known or has a likelihood. They share no free
/// variable with the tables that answer a question, so the probability is a product of two parts.
///
/// Tables without zeros exclude nothing. On the others, states without support are struck out until
/// nothing changes (generalised arc consistency), and states are tried in turn where that leaves a
/// choice. Unknown after `max_trials` of them.
Possible is_possible(const Factors& factors, const Evidence& evidence,
                     std::span<const std::int32_t> answered, std::int64_t max_trials);

/// The codes of the evidence, and of the variables for which it leaves a single state, as far as
/// striking out states on the tables of its ancestors tells. Unchanged if the evidence is
/// impossible.
std::vector<std::int32_t> implied_codes(const Factors& factors, const Evidence& evidence);

}  // namespace twbn

"""The tables and columns of the recording format. The list must be the reader's own (src/recording/columns.ts); a test compares them."""

from __future__ import annotations

import difflib
from typing import Dict, Mapping, NamedTuple

from .arrays import Array, to_numpy


class Column(NamedTuple):
    """What a column holds: `int`, `float`, `bool` or `text`, one per row or a list per row."""

    kind: str
    ragged: bool
    required: bool


def columns_of(*definitions: str) -> Dict[str, Column]:
    columns = {}
    for definition in definitions:
        kind, name = definition.split(" ")
        plain = kind.rstrip("!*?")
        columns[name] = Column(plain.replace("[]", ""), plain.endswith("[]"), kind[-1] in "!*")
    return columns


# fmt: off
#: Every table and column of the format `trueline/1`: `int! x` and `float* x` are required, `int[] x` is a list per row.
TABLES: Dict[str, Dict[str, Column]] = {
    "samples": columns_of(
        "int! iteration", "int! episode", "int! t", "int! agent", "float* old_logp", "int action", "int num_actions",
        "int[] subset", "bool[] legal", "float[] logits", "float temperature", "float[] obs", "float[] candidate_features",
        "float reward", "float env_reward", "bool terminated", "bool truncated", "float value", "float next_value",
        "float advantage", "float return", "int group", "int env", "int seat", "bool imagined",
        "float[] action_values", "float[] env_action", "text distribution", "float[] mean", "float[] log_std",
        "float[] logp_parts", "int[] choices", "float[] choice_logits", "float[] state_in", "int state_hash", "float state_norm", "bool starts", "int sequence",
        "int token", "text source", "bool trained", "int position", "float sampler_logp", "float sampler_again_logp",
        "int sampler_version", "float reference_logp", "float logp_plain", "float logp_tempered", "float kept_mass",
        "text kept_by", "float control_logp", "float control2_logp", "float control_plain_logp", "float earlier_logp",
        "int goal", "int judged", "float[] belief", "float[] prior", "float[] likelihood", "int[] drawn_goal",
        "float[] foreseen", "float[] search_values", "float search_root", "float rationality",
    ),
    "responses": columns_of(
        "int! iteration", "int! episode", "int group", "int length", "int prompt_length", "int turns", "text finish",
        "float reward", "float graded", "int rewarded_as", "float advantage", "int sampler_version",
        "int trainer_version", "int earlier_version", "int cached_version", "int cached_tokens", "float temperature",
        "float top_p", "int top_k", "float min_p", "int rank", "int prompt", "int padding", "int sampler_padding",
        "int[] sampled", "float[] sampled_logp",
    ),
    "replays": columns_of(
        "int! iteration", "int! epoch", "int! minibatch", "int! sample", "int? source_iteration", "int? policy",
        "float* new_logp", "float old_logp", "float advantage", "float entropy", "float value", "float return",
        "float weight", "float[] logits", "int[] subset", "bool[] legal", "float temperature", "float after_logp",
        "float again_logp",
        "float[] action_values", "float[] mean", "float[] log_std", "float[] logp_parts", "int[] choices",
        "float[] choice_logits", "float[] obs", "float[] state_in", "int state_hash", "float state_norm", "int sequence",
        "float coef", "int micro_batch", "int pack", "int rank", "float kl", "float logp_plain",
        "float logp_tempered", "float kept_mass", "float fitted_logp",
    ),
    "targets": columns_of(
        "int! iteration", "int! epoch", "int! minibatch", "int sample", "int? policy", "float[] rewards",
        "bool[] terminated", "bool[] truncated", "int n", "float discount", "float bootstrap", "float next_logp",
        "float temperature", "float* target", "float prediction", "float priority", "float probability", "float weight",
        "float[] next_values", "float[] next_online", "float prediction_again", "float coef", "float env_reward",
        "int obs_hash", "int next_hash", "float[] next_mean", "float[] next_log_std", "float[] next_action",
        "float[] next_mean_again",
    ),
    "copies": columns_of(
        "int! iteration", "int! epoch", "int! minibatch", "text* name", "int hash", "float gap", "float norm", "float moved",
    ),
    "steps": columns_of(
        "int! iteration", "int! epoch", "int! minibatch", "int? policy", "float loss", "float policy_loss",
        "float value_loss", "float entropy", "float approx_kl", "float clip_fraction", "float clip",
        "float grad_norm", "float policy_grad_norm", "float value_grad_norm", "float learning_rate", "float valid_ratio", "bool skipped",
        "bool stopped", "float delta_logits", "float kl_after", "float embed_std", "float logits_std", "text probe",
        "int tokens", "int sequences", "float grad_scale", "int groups_dropped", "float push",
    ),
    "tensors": columns_of(
        "int! iteration", "int! epoch", "int! minibatch", "int! tensor", "float grad_norm", "int grad_nonzero",
        "float delta", "float delta_norm", "float norm", "float learning_rate", "float weight_decay", "int bound",
    ),
    "episodes": columns_of(
        "int! episode", "int! agent", "float* return", "int length", "int iteration", "int seat", "int seed",
    ),
    "counters": columns_of("int! iteration", "int! agent", "text* name", "float* value"),
    "scalars": columns_of(
        "text* name", "float* value", "int iteration", "float step", "float time", "int policy", "int agent",
    ),
}
# fmt: on

#: Programs that keep minus the log-probability name the column so, and it is turned here.
NEGATED = {"old_neglogp": "old_logp", "new_neglogp": "new_logp"}


def known_columns(table: str, columns: Mapping[str, Array]) -> Dict[str, Array]:
    """Columns by the names of the format, without those that were not given; a wrong name is answered with the nearest."""
    spec = TABLES[table]
    if columns.keys() <= spec.keys():
        return {name: value for name, value in columns.items() if value is not None}
    known: Dict[str, Array] = {}
    for given, value in columns.items():
        if value is None:
            continue
        if given in spec:
            known[given] = value
            continue
        name = "return" if given in ("return_", "returns") else given
        if name in NEGATED and NEGATED[name] in TABLES[table]:
            name, value = NEGATED[name], -to_numpy(value)
        if name not in TABLES[table]:
            near = difflib.get_close_matches(name, TABLES[table], 1, 0.3)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"{table} has no column {given}{hint} It has {', '.join(TABLES[table])}.")
        known[name] = value
    return known

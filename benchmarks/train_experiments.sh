#!/usr/bin/env bash
# Every model that `lexarbor experiment` trains, on one machine with a GPU that may have nothing but torch, transformers with
# accelerate, torch-geometric, PyYAML and Optuna (and Lexarbor's src on PYTHONPATH):
#
#     lexarbor experiment all --only prepare --work lab                           where the law can be fetched
#     lexarbor experiment main --only prepare --work lab --train-on train+dev
#     bash benchmarks/train_experiments.sh lab                                    on the GPU
#     lexarbor experiment all --only report --work lab                            tables and figures into results/
#     lexarbor experiment main --only report --work lab --train-on train+dev
#
# What is done is skipped: it can be stopped and started again; what comes first is what the main table needs. Further
# arguments go to every call, e.g. --benchmark bsard --scale paper. WORKERS: processes that train side by side; five fill an
# H200, which takes most of an hour (reckoned from its parts: with models of this size it was never run in one go).
#
# Before all else a vocabulary is learned, on the CPU, while the GPU waits: where that costs, learn it before,
#
#     python -m lexarbor.experiments main --work lab --jobs vocabulary                where it was prepared
#
# and take lab along with lab/models/vocabulary in it.
#
# The article-disjoint split is a benchmark of its own:
#
#     lexarbor experiment main --only prepare --benchmark vosdroits-disjoint --work disjoint
#     python -m lexarbor.experiments main --benchmark vosdroits-disjoint --work disjoint --models lab --seeds 3
#     lexarbor experiment main --only report --benchmark vosdroits-disjoint --work disjoint --seeds 3
set -u
work=${1:?the work folder, e.g. bash benchmarks/train_experiments.sh lab}
shift
more=("$@")
workers=${WORKERS:-5}
failed=0
lab() { python -m lexarbor.experiments "$@" --work "$work" --workers "$workers" "${more[@]}" || { echo "failed: $*" >&2; failed=1; }; }

lab main learning language-models gnns layers edges similarity-loss passages
lab main --train-on train+dev
lab tune-lge tune-dsr tune-dsr-wide
exit "$failed"

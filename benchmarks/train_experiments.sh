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
# What is done is skipped: it can be stopped and started again. Further arguments go to every call, e.g. --benchmark bsard
# --scale paper. WORKERS: processes that train side by side; five fill an H200, and would take it about 50 minutes (reckoned
# from its parts: it was never run in one go).
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

lab main
lab tune-lge
lab gnns layers edges
lab main --train-on train+dev
lab tune-dsr
lab tune-dsr-wide
lab language-models similarity-loss passages
exit "$failed"

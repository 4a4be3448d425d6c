#!/usr/bin/env bash
# Every model that `lexarbor experiment` trains, on one machine with a GPU that may have nothing but torch, transformers,
# torch-geometric and Optuna:
#
#     lexarbor experiment all --only prepare --work lab     where the law can be fetched (and again with --train-on train+dev)
#     bash benchmarks/train_experiments.sh lab              on the GPU; what is done is skipped, so it can be stopped and started
#     lexarbor experiment all --only report --work lab      tables and figures into results/
#
# Half an hour on an H200. Further arguments go to every call, e.g. --benchmark bsard --scale paper.
set -u
work=$1
shift
lab() { python -m lexarbor.experiments "$@" --work "$work" "${more[@]}" || echo "failed: $*"; }
more=("$@")
searching=${SEARCHING:-5}
training=${TRAINING:-5}

# language models, with the first search beside them as soon as the one that it begins from is there
lab main language-models --jobs general,law,dpr-start,small,larger --workers 2 &
lab tune-dsr-wide --workers "$searching"
# TUNED=wide lays what it has found over the scale's recipe, for all that follows; scales/small.yaml got its values so
if [ "${TUNED:-}" ]; then more+=(--tuned "$TUNED"); fi
lab tune-lge --workers "$searching" &
lab main gnns layers edges similarity-loss passages language-models --workers "$training"
wait
lab main --train-on train+dev --workers "$training"
lab tune-dsr --workers "$searching"
echo "all done"

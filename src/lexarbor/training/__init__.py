"""How models learn: stages with recipes. Needs the extra `train`; what it writes is searched without it.

stages        what commands call, by paths; `__main__` calls them without the command line's packages
recipes       every hyper-parameter
runs          a run's folder: claimed, resumed, finished
arguments     the field's trainer, and a recipe as its arguments
pretrain      masked language modelling: `fresh` (a new BERT), `blocks` (its batches)
looking       how a run is watched: dev, the report, the log
drawing       which pairs a batch holds, and how each passage counts for each question
contrastive   the retriever: `starting`, then `tokens` → `token_pairs` → `batches` → `objective` → `losses`
graph         the graph encoder: `node_encoders` → `graph_views` → `graph_batches` → `graph_objective`
ranking       articles ranked by a model that is being trained
mining        hard negatives found by a model
"""

"""The paper's parts by short labels: what docs/paper-map.md must have a row for (tests/test_paper_map.py)."""

PAPER = {
    "Abstract": "The task | G-DSR | Source code",
    "1 Introduction": "Figure 1 | Contribution, model | Contribution, comparison | Contribution, ablations",
    "2 Preliminaries": "Problem formulation | Challenges, language | Challenges, length | Structure of legislation",
    "3 Approach": "Figure 2",
    "3.1 Dense Statute Retriever": "Bi-encoder | Equation 1 | Query encoder | Equation 2 | Hierarchical article encoder"
    " | Equation 3 | Contrastive learning | Equation 4 | Negatives, in-batch | Negatives, BM25",
    "3.2 Legislative Graph Encoder": "Graph construction | Section nodes | Article nodes | Edges"
    " | Node feature initialization | Node feature update | Equation 5 | Equation 6 | Three layers of GATv2"
    " | Equation 7 | Equation 8 | Learning process | Sub-graph | Query embeddings, made before",
    "4 Experimental Setup": "",
    "4.1 Dataset": "BSARD | Table 1",
    "4.2 Implementation Details": "Model | CamemBERT, query encoder | Domain adaptation | Second level"
    " | Data augmentation | Questions per article | Query generator | Augmented training set | Optimization"
    " | AdamW, mixed precision | Hardware and schedule | Libraries, Transformers | Libraries, PyTorch"
    " | Libraries, PyTorch-Geometric | Libraries, PyTorch-Lightning | Libraries, W&B Sweeps | Libraries, DeepSpeed",
    "4.3 Baselines": "BM25 | BM25, parameters | docT5query | DPR",
    "4.4 Evaluation": "R@k | mAP | mRP | Left out",
    "5 Experiments": "",
    "5.1 Main Results": "Table 2 | Table 2, BM25 | Table 2, docT5query | Table 2, DPR | Table 2, DSR"
    " | Table 2, DSR w. domain-adaptive pre-training | Table 2, DSR w. data augmentation | Table 2, G-DSR"
    " | Table 2, parameters",
    "5.2 Ablation Study": "Alternative pre-trained LMs | Table 3 | Table 3, XLM-R | Table 3, mBERT"
    " | Table 3, ELECTRA-fr | Table 3, CamemBERT | Alternative GNNs | Table 4 | Table 4, GCN | Table 4, GAT"
    " | Table 4, GraphSAGE | Table 4, k-GNN | Table 4, GATv2 | Table 4, parameters | Similarity and loss functions",
    "6 Related Work": "Long document modeling | Dense information retrieval | Graph neural networks"
    " | Application to the legal domain",
    "7 Conclusion": "G-DSR against baselines",
    "Limitations": "Other experts, other data | Other jurisdictions | Distant articles, citations | A re-ranker"
    " | Answers in plain words",
    "Ethics Statement, Acknowledgments": "Ethics Statement | Acknowledgments",
    "A Preliminary Studies": "",
    "A.1 The experts' approach": "Hierarchical search",
    "A.2 Neighbouring articles": "TF-IDF of neighbours | Figure 3",
    "B G-DSR Hyperparameter Tuning": "Bayes search | Trials | Final models",
    "C BM25 Hyperparameter Tuning": "Grid search | Figure 4",
    "D Evaluation Metrics": "Relevance labels, filter set | Recall | Equation 9 | R-Precision | Equation 10"
    " | Average Precision | Equation 11 | Equation 12 | Macro-averages",
    "E Ablation Details": "Table 6 | Table 6, cross-entropy | Table 6, triplet | Table 6, cosine | Table 6, dot"
    " | Table 6, Euclidean | Triplet margin",
}
"""The paper's sections, and what stands in each: paragraphs, equations, tables with their rows, figures, baselines."""

LABELS = """
    sec:introduction sec:preliminaries sec:approach subsec:dsr subsec:lge sec:experimental_setup subsec:dataset
    subsec:implementation subsec:baselines subsec:evaluation sec:experiments subsec:results subsec:ablations
    sec:related-work sec:conclusion sec:limitations app:preliminary_studies app:experts_approach
    app:neighboring_articles app:gdsr_tuning app:bm25_tuning app:evaluation_metrics app:ablation_details
    fig:hierarchy fig:model fig:article_correlation fig:bm25_tuning eq:loss eq:gnn_simple
    tab:bsard_stats tab:results tab:lm_comparison tab:gnn_comparison tab:hyperparameters tab:sim_and_loss
    foot:doc2query foot:dpr-fr
""".split()
"""Every label of its LaTeX source."""

HYPERPARAMETERS = """
    Maximum Chunk Length    | 128    | -        | encoder.chunk_tokens
    Maximum Document Length | 1024   | -        | encoder.max_tokens
    Pooling Strategy        | max    | -        | encoder.chunk_pooling
    #Layers                 | -      | 3        | graph.layers
    Temperature             | 0.01   | 0.01     | loss.temperature
    Similarity              | cosine | -        | encoder.similarity
    Batch Size              | 24     | 512      | optimisation.batch_size
    Weight Decay            | 0.01   | 0.1      | optimisation.weight_decay
    Max Epochs              | 15     | 10       | optimisation.epochs
    Peak Learning Rate      | 2.0e-5 | 2.0e-4   | optimisation.learning_rate
    Learning Rate Decay     | linear | constant | optimisation.schedule
    Warmup ratio            | 0.05   | 0.0      | optimisation.warmup
    AdamW epsilon           | 1.0e-7 | 1.0e-7   | optimisation.epsilon
    AdamW beta 1            | 0.9    | 0.9      | optimisation.beta1
    AdamW beta 2            | 0.999  | 0.999    | optimisation.beta2
    Gradient Clipping       | 1.0    | 1.0      | optimisation.clipping
"""
"""Table 5: its rows, the columns DSR and LGE, and the recipe's key. LGE's similarity is that of its retriever."""

SPACES = """
    DSR | batch size          | 8, 16, 24, 32                       | optimisation.batch_size
    DSR | learning rate       | 5.0e-5, 4.0e-5, 3.0e-5, 2.0e-5, 1.0e-5 | optimisation.learning_rate
    DSR | weight decay        | 0, 0.1, 0.01, 0.001                 | optimisation.weight_decay
    DSR | max chunk length    | 64, 128, 256, 512                   | encoder.chunk_tokens
    DSR | max document length | 1024, 2048                          | encoder.max_tokens
    DSR | pooling strategy    | mean, max                           | encoder.chunk_pooling
    DSR | similarity function | dot, cosine, euclidean              | encoder.similarity
    DSR | temperature         | 0, 0.1, 0.01, 0.001                 | loss.temperature
    LGE | batch size          | 8, 16, 32, 64, 128, 256, 512        | optimisation.batch_size
    LGE | learning rate       | 2.0e-2, 2.0e-3, 2.0e-4, 2.0e-5, 2.0e-6 | optimisation.learning_rate
    LGE | weight decay        | 0, 0.1, 0.01, 0.001                 | optimisation.weight_decay
    LGE | #layers             | 1, 2, 3, 4                          | graph.layers
"""
"""Both search spaces of appendix B. A temperature of 0 cannot be tried."""

"""Text: how a question and an article each become one vector (the paper's dense statute retriever, DSR).

settings      how texts are cut, pooled and compared: one dataclass for both halves
inputs        an article's headings and text, cut into what the encoder reads

vocabulary    a tokenizer of our own, learned from texts

The training half, with torch or onnx: `towers`, `hierarchical`, `retriever`, `similarity`, `quantisation`.
The half for use, without: `folder`, `encoder`, `shipped`; `corpus_vectors`, `vector_cache`, `vectors_folder`. `export`
leads from the one to the other.
Nothing is imported here, so that neither half loads the other's dependencies.
"""

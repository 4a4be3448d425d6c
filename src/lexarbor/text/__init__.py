"""Text: how a question and an article each become one vector (the paper's dense statute retriever, DSR).

settings      how texts are cut, pooled and compared: one dataclass for both halves
inputs        an article's headings and text, cut into what the encoder reads

The training half, with torch: `towers`, `hierarchical`, `retriever`, `similarity`.
The half for use, without it: `encoder`, `folder`, `corpus_vectors`; `export` leads from the one to the other.
Nothing is imported here, so that neither half loads the other's dependencies.
"""

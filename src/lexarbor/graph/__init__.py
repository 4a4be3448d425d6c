"""Graph: the law as nodes and edges, and how an article's vector hears those around it (the paper's legislative graph
encoder, LGE).

legislation    a `LawTree` as a graph of sections and articles, with edges of six kinds
edges          lists of edges between rows: in order, mirrored, shuffled, checked
forest         whether a graph is a tree of law
neighbourhood  what some nodes hear in a few steps
graph_file     a graph as one file
features       each node as a text, and as a vector of the text encoder
settings       what the graph encoder is like
weights        its learned numbers: names, shapes, checks
incoming       the edges that lead to each node, summed in blocks
layers         its layers in numpy
enrichment     the trained graph encoder in use: vectors that have heard those around them
model_folder   the trained graph encoder as a folder

The training half, with torch: `encoder`. All else is for use, and needs numpy alone.
Nothing is imported here, so that neither half loads the other's dependencies.
"""

"""Graph: the law as nodes and edges, and how an article's vector hears those around it (the paper's legislative graph
encoder, LGE).

legislation    a `LawTree` as a graph of sections and articles, with edges of six kinds
edges          lists of edges between rows: in order, mirrored, shuffled, checked
forest         whether a graph is a tree of law
neighbourhood  what some nodes hear in a few steps
graph_file     a graph as one file
features       each node as a text, and as a vector of the text encoder

The training half, with torch: `encoder`. All else is for use, and needs numpy alone.
Nothing is imported here, so that neither half loads the other's dependencies.
"""

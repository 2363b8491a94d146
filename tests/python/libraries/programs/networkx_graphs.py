"""networkx: graphs of matrices, matrices of graphs, positions, random graphs."""

import networkx as nx
import numpy as np
import scipy.sparse

MATRIX = np.array(
    [[0, 1, 0, 2, 1], [1, 0, 3, 0, 0], [0, 3, 0, 1, 1], [2, 0, 1, 0, 4], [1, 0, 1, 4, 0]], dtype=float
)


def edges(graph):
    return sorted((int(a), int(b), float(w)) for a, b, w in graph.edges(data="weight"))


def graphs_of_matrices():
    graph = nx.from_numpy_array(MATRIX)
    yield edges(graph)
    yield edges(nx.from_numpy_array(np.arange(9).reshape(3, 3), create_using=nx.DiGraph))
    several = nx.from_numpy_array(np.array([[1, 2], [2, 0]]), parallel_edges=True, create_using=nx.MultiGraph)
    yield sorted(several.edges(keys=True))
    yield nx.from_numpy_array(np.array([[0, 1], [1, 0]], dtype=np.uint8)).number_of_edges()
    yield nx.from_numpy_array(MATRIX > 0).number_of_edges()
    yield edges(nx.Graph(MATRIX))
    yield edges(nx.to_networkx_graph(MATRIX))
    yield edges(nx.from_scipy_sparse_array(scipy.sparse.csr_array(MATRIX)))
    weight = next(iter(graph.edges(data="weight")))[2]
    yield type(weight).__name__


def matrices_of_graphs():
    graph = nx.from_numpy_array(MATRIX)
    yield nx.to_numpy_array(graph)
    yield nx.to_numpy_array(graph, dtype=np.float32, nodelist=list(np.arange(3)))
    yield nx.adjacency_matrix(graph).toarray() @ np.ones(5)
    yield nx.laplacian_matrix(graph).toarray()
    yield nx.incidence_matrix(graph).toarray()
    yield nx.floyd_warshall_numpy(graph)
    yield nx.google_matrix(graph)
    yield nx.modularity_matrix(graph)
    yield np.sort(nx.laplacian_spectrum(graph))


def graphs_of_numbers():
    graph = nx.Graph()
    graph.add_edges_from(np.array([[0, 1], [1, 2], [2, 0]]))
    yield sorted(map(int, graph))
    graph.add_nodes_from(np.arange(5))
    graph.add_weighted_edges_from((a, b, np.float64(1.5)) for a, b in zip(np.arange(2), np.arange(1, 3)))
    yield len(graph), nx.dijkstra_path_length(graph, 0, 2)
    yield graph.has_edge(0, np.int64(1)), graph.degree[np.int64(2)], np.int64(4) in graph
    yield sorted(nx.relabel_nodes(graph, dict(zip(range(5), np.arange(5) * 2))))


def measures():
    graph = nx.from_numpy_array(MATRIX)
    for measure in (nx.pagerank, nx.eigenvector_centrality_numpy, nx.betweenness_centrality, nx.clustering):
        yield [float(value) for value in measure(graph).values()]
    yield nx.shortest_path_length(graph, 0, 2, weight="weight")
    yield nx.algebraic_connectivity(graph)
    yield nx.degree_assortativity_coefficient(graph)


def positions():
    graph = nx.from_numpy_array(MATRIX)
    for layout in (nx.spring_layout, nx.random_layout):
        yield np.array(list(layout(graph, seed=1).values()))
        yield np.array(list(layout(graph, seed=np.random.RandomState(3)).values()))
    yield np.array(list(nx.circular_layout(graph, center=np.ones(2)).values()))
    yield np.array(list(nx.spring_layout(graph, pos={i: np.ones(2) * i for i in range(5)}, seed=2).values()))
    yield np.abs(np.array(list(nx.spectral_layout(graph).values())))


def random_graphs():
    yield sorted(nx.gnp_random_graph(8, 0.5, seed=np.random.RandomState(1)).edges())
    yield sorted(nx.gnp_random_graph(8, 0.5, seed=np.random.default_rng(1)).edges())
    np.random.seed(5)
    yield np.array(list(nx.random_layout(nx.path_graph(3), seed=np.random).values()))
    pos = dict(enumerate(np.arange(8.0).reshape(4, 2) / 10))
    yield nx.random_geometric_graph(4, 0.5, pos=pos).number_of_edges()

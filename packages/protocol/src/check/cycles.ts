/** Cycles in a graph of schemas (Tarjan's algorithm, without recursion). */

/**
 * Returns the number of the cycle to which each reachable node belongs. A node in no cycle has a separate number. Takes
 * time that grows with the number of edges.
 */
export function findCycles<Node>(
  roots: Iterable<Node>,
  next: (node: Node) => Iterable<Node>,
): ReadonlyMap<Node, number> {
  const groups = new Map<Node, number>()
  const visits = new Map<Node, Visit<Node>>()
  const path: Visit<Node>[] = []
  const unassigned: Node[] = []

  function enter(node: Node): void {
    const visit = {
      node,
      index: visits.size,
      lowest: visits.size,
      rest: next(node)[Symbol.iterator](),
    }
    visits.set(node, visit)
    unassigned.push(node)
    path.push(visit)
  }

  function leave(visit: Visit<Node>): void {
    path.pop()
    const around = path.at(-1)
    if (around !== undefined) around.lowest = Math.min(around.lowest, visit.lowest)
    if (visit.lowest !== visit.index) return
    for (let node = unassigned.pop(); node !== undefined; node = unassigned.pop()) {
      groups.set(node, visit.index)
      if (node === visit.node) return
    }
  }

  for (const root of roots) {
    if (!visits.has(root)) enter(root)
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const { value: node, done } = visit.rest.next()
      if (done === true) leave(visit)
      else if (!visits.has(node)) enter(node)
      else if (!groups.has(node)) {
        visit.lowest = Math.min(visit.lowest, visits.get(node)?.index ?? visit.lowest)
      }
    }
  }
  return groups
}

/** A node that is being visited. Mutable. */
interface Visit<Node> {
  readonly node: Node
  readonly index: number
  lowest: number
  readonly rest: Iterator<Node>
}

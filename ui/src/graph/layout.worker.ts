import ELK, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js'
import type { Shape } from './shape'
import type { Point } from './way'

/** Where a step's box is, from the corner of what it stands in; lengths in pixels. */
export interface Box {
  key: string
  x: number
  y: number
  width: number
  height: number
}

/** How a line goes around the boxes, from the corner of the whole picture. */
export interface Way {
  key: string
  points: Point[]
}

export interface Layout {
  boxes: Box[]
  ways: Way[]
}

export const WIDTH = 216
export const HEIGHT = 58

const elk = new ELK()

async function placed(shape: Shape): Promise<Layout> {
  const nodes = new Map<string, ElkNode>()
  const root: ElkNode = {
    id: ' ',
    layoutOptions: {
      'elk.algorithm': 'layered',
      'elk.direction': 'DOWN',
      'elk.json.edgeCoords': 'ROOT',
      'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
      'elk.layered.spacing.nodeNodeBetweenLayers': '44',
      'elk.spacing.nodeNode': '28',
      'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
      'elk.layered.nodePlacement.bk.fixedAlignment': 'BALANCED',
      'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
      // Fewer passes: a plan of a thousand steps is laid out in a second or two.
      'elk.layered.thoroughness': shape.steps.length > 300 ? '2' : '7',
    },
    children: [],
    edges: shape.edges.map((edge) => ({ id: edge.key, sources: [edge.from], targets: [edge.to] })),
  }
  for (const step of shape.steps) {
    const node: ElkNode = step.holds
      ? { id: step.key, children: [], layoutOptions: { 'elk.padding': '[top=54,left=16,bottom=16,right=16]' } }
      : { id: step.key, width: WIDTH, height: HEIGHT }
    nodes.set(step.key, node)
    const parent = step.parent ? nodes.get(step.parent) : root
    ;(parent ?? root).children?.push(node)
  }
  const known = new Set(nodes.keys())
  root.edges = (root.edges ?? []).filter((edge) => known.has(edge.sources[0] ?? '') && known.has(edge.targets[0] ?? ''))
  await elk.layout(root)
  const boxes = [...nodes.values()].map((node) => ({
    key: node.id,
    x: node.x ?? 0,
    y: node.y ?? 0,
    width: node.width ?? WIDTH,
    height: node.height ?? HEIGHT,
  }))
  return { boxes, ways: (root.edges ?? []).map(wayOf) }
}

function wayOf(edge: ElkExtendedEdge): Way {
  const points = (edge.sections ?? []).flatMap((part) => [part.startPoint, ...(part.bendPoints ?? []), part.endPoint])
  return { key: edge.id, points: points.map(({ x, y }) => ({ x, y })) }
}

self.onmessage = (message: MessageEvent<{ number: number; shape: Shape }>) => {
  const { number, shape } = message.data
  placed(shape).then(
    (layout) => self.postMessage({ number, layout }),
    (error: unknown) => self.postMessage({ number, error: String(error) }),
  )
}

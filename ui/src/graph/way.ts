export interface Point {
  x: number
  y: number
}

/** The path of a line through points, as SVG has it, with corners that are round as far as there is room. */
export function pathOf(points: readonly Point[], radius = 6): string {
  const [first, ...rest] = points
  if (!first) return ''
  const parts = [`M${first.x},${first.y}`]
  rest.forEach((point, index) => {
    const before = points[index] ?? first
    const after = rest[index + 1]
    if (!after) {
      parts.push(`L${point.x},${point.y}`)
      return
    }
    const room = Math.min(radius, distance(before, point) / 2, distance(point, after) / 2)
    const [into, out] = [towards(point, before, room), towards(point, after, room)]
    parts.push(`L${into.x},${into.y}`, `Q${point.x},${point.y} ${out.x},${out.y}`)
  })
  return parts.join(' ')
}

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y)

function towards(from: Point, to: Point, length: number): Point {
  const all = distance(from, to) || 1
  return { x: from.x + ((to.x - from.x) * length) / all, y: from.y + ((to.y - from.y) * length) / all }
}

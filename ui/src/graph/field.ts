import type { Box } from './layout'
import type { Shape } from './shape'

/** A box where it stands in the whole picture. */
export interface Placed extends Box {
  depth: number
}

/** Where the picture is seen from: pixels, and how much closer. */
export interface Sight {
  x: number
  y: number
  zoom: number
}

/** Boxes from the corner of the whole picture, and not of what they stand in; what holds others comes before them. */
export function placedBoxes(shape: Shape, boxes: readonly Box[]): Map<string, Placed> {
  const known = new Map(boxes.map((box) => [box.key, box]))
  const found = new Map<string, Placed>()
  for (const step of shape.steps) {
    const box = known.get(step.key)
    if (!box) continue
    const around = found.get(step.parent)
    found.set(step.key, { ...box, x: box.x + (around?.x ?? 0), y: box.y + (around?.y ?? 0), depth: around ? around.depth + 1 : 0 })
  }
  return found
}

/** The sight in which all of it is seen, in the middle. */
export function wholeSight(boxes: Iterable<Placed>, width: number, height: number): Sight {
  let right = 1
  let bottom = 1
  for (const box of boxes) {
    right = Math.max(right, box.x + box.width)
    bottom = Math.max(bottom, box.y + box.height)
  }
  const zoom = Math.min(1, (0.92 * width) / right, (0.92 * height) / bottom)
  return { zoom, x: (width - right * zoom) / 2, y: (height - bottom * zoom) / 2 }
}

export const isSeen = (box: Box, sight: Sight, width: number, height: number): boolean =>
  (box.x + box.width) * sight.zoom + sight.x > -60 &&
  box.x * sight.zoom + sight.x < width + 60 &&
  (box.y + box.height) * sight.zoom + sight.y > -60 &&
  box.y * sight.zoom + sight.y < height + 60

/** The innermost box at a point of the screen. */
export function boxAt(boxes: Iterable<Placed>, sight: Sight, x: number, y: number): Placed | null {
  const left = (x - sight.x) / sight.zoom
  const top = (y - sight.y) / sight.zoom
  let found: Placed | null = null
  for (const box of boxes) {
    const inside = left >= box.x && left <= box.x + box.width && top >= box.y && top <= box.y + box.height
    if (inside && (!found || box.depth >= found.depth)) found = box
  }
  return found
}

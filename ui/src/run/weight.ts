/** Parts of a value that are counted; of a larger one the rest is taken to be like what was counted. */
const MOST_COUNTED = 400

/** About how many bytes a value takes: a guess that never walks through all of a large one. */
export function roughSize(value: unknown): number {
  let left = MOST_COUNTED
  const sizeOf = (part: unknown): number => {
    left -= 1
    if (typeof part === 'string') return part.length + 16
    if (part === null || typeof part !== 'object') return 8
    const items = Array.isArray(part) ? part : Object.values(part)
    let size = 16
    let counted = 0
    for (const item of items) {
      if (left <= 0) break
      size += sizeOf(item) + 8
      counted += 1
    }
    return counted < items.length && counted ? (size * items.length) / counted : size + (items.length - counted) * 16
  }
  return sizeOf(value)
}

import type { Shape } from './shape'
import type { Box, Layout, Way } from './layout.worker'

export type { Box, Way }

type Answer = { number: number; layout?: Layout; error?: string }

let worker: Worker | null = null
let count = 0
const waiting = new Map<number, { resolve: (layout: Layout) => void; reject: (error: Error) => void }>()

/** Where each step's box is, and how the lines go between them. Found in a worker: a plan of a thousand steps takes a second or two. */
export function layOut(shape: Shape): Promise<Layout> {
  if (!worker) {
    worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = (message: MessageEvent<Answer>) => {
      const { number, layout, error } = message.data
      const found = waiting.get(number)
      waiting.delete(number)
      if (layout) found?.resolve(layout)
      else found?.reject(new Error(error))
    }
    worker.onerror = (event) => {
      for (const found of waiting.values()) found.reject(new Error(event.message || 'The layout could not be loaded.'))
      waiting.clear()
      worker = null
    }
  }
  count += 1
  const number = count
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject })
    worker?.postMessage({ number, shape: JSON.parse(JSON.stringify(shape)) as Shape })
  })
}

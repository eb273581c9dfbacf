import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'

// Where the package looks for the page: see `server/page/assets.py`.
const built = '../src/toolpath/server/page/static'

export default defineConfig({
  // The service may be mounted under a path: the page finds its files from where it is.
  base: './',
  plugins: [vue()],
  build: {
    outDir: built,
    emptyOutDir: true,
    // What others have written in it, with their terms.
    license: { fileName: 'licences.md' },
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
  },
  worker: { format: 'es' },
  server: { proxy: { '/api': 'http://127.0.0.1:8000' } },
  // No test leaves anything behind: all share what one thread has loaded, which takes a third of the work.
  test: { environment: 'node', isolate: false, pool: 'threads', maxWorkers: 1, testTimeout: 60_000 },
} as Parameters<typeof defineConfig>[0])

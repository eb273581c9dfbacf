import { ref, type Ref } from 'vue'

/** A list that somebody wants to see again: its name, and the query of its address. */
export interface SavedFilter {
  name: string
  query: string
}

const KEPT = 'toolpath.run-filters'
/** So many are kept: more help nobody. */
const MOST = 30

/** What is kept in this browser; whatever else stands there is none. */
export function readFilters(text: string | null): SavedFilter[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]')
    if (!Array.isArray(found)) return []
    return (found as unknown[])
      .filter(
        (one): one is SavedFilter =>
          typeof (one as SavedFilter | null)?.name === 'string' && typeof (one as SavedFilter).query === 'string',
      )
      .slice(0, MOST)
  } catch {
    return []
  }
}

/** The list with the filter, in the place of one of its name. */
export function withFilter(filters: SavedFilter[], added: SavedFilter): SavedFilter[] {
  return [...filters.filter((one) => one.name !== added.name), added].slice(-MOST)
}

export interface SavedFilters {
  all: Ref<SavedFilter[]>
  save: (name: string, query: string) => void
  forget: (name: string) => void
}

export function savedFilters(): SavedFilters {
  const all = ref(readFilters(localStorage.getItem(KEPT)))
  function keep(filters: SavedFilter[]): void {
    all.value = filters
    localStorage.setItem(KEPT, JSON.stringify(filters))
  }
  return {
    all,
    save: (name, query) => keep(withFilter(all.value, { name, query })),
    forget: (name) => keep(all.value.filter((one) => one.name !== name)),
  }
}

const KEPT = 'toolpath.theme'
export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export function theme(): Theme {
  const kept = localStorage.getItem(KEPT)
  return kept === 'light' || kept === 'dark' ? kept : 'auto'
}

export function setTheme(wanted: Theme): void {
  localStorage.setItem(KEPT, wanted)
  document.documentElement.dataset['theme'] = wanted
}

document.documentElement.dataset['theme'] = theme()

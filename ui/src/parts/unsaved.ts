import { onBeforeUnmount, onMounted } from 'vue'

/** Guards what is written and not saved: the tab is not closed unasked, and Ctrl S saves. `other`: keys besides. */
export function unsaved(isChanged: () => boolean, save: () => unknown, other: (event: KeyboardEvent) => void = () => undefined): void {
  function unload(event: BeforeUnloadEvent): void {
    if (isChanged()) event.preventDefault()
  }

  function onKey(event: KeyboardEvent): void {
    if (event.key === 's' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      void save()
    } else other(event)
  }

  onMounted(() => {
    window.addEventListener('beforeunload', unload)
    window.addEventListener('keydown', onKey)
  })
  onBeforeUnmount(() => {
    window.removeEventListener('beforeunload', unload)
    window.removeEventListener('keydown', onKey)
  })
}

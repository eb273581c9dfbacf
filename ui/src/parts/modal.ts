import { onBeforeUnmount, onMounted, useTemplateRef } from 'vue'

/** The component's element `dialog` holds the keyboard while it is there, and gives it back to where it was. */
export function modal(): void {
  const dialog = useTemplateRef<HTMLDialogElement>('dialog')
  const before = document.activeElement
  onMounted(() => dialog.value?.showModal())
  onBeforeUnmount(() => {
    // An element that is taken away while it is open gives nothing back by itself.
    dialog.value?.close()
    if (before instanceof HTMLElement && before.isConnected) before.focus()
  })
}

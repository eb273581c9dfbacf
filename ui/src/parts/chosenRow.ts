import { nextTick, ref, type Ref } from 'vue'

/** The row of a list that arrow keys move to, round about; `id` names the element of a row, which is brought into sight. */
export function chosenRow(count: () => number, id: (row: number) => string): { at: Ref<number>; move: (by: number) => void } {
  const at = ref(0)
  function move(by: number): void {
    const all = count()
    if (!all) return
    at.value = (at.value + by + all) % all
    void nextTick(() => document.getElementById(id(at.value))?.scrollIntoView({ block: 'nearest' }))
  }
  return { at, move }
}

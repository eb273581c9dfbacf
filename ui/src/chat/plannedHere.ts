/** Plans of a conversation that were not run yet: kept in this browser, as what is written and not sent. */
const MOST = 5
const place = (conversation: string): string => `toolpath.planned.${conversation}`

export function plannedHere(conversation: string): string[] {
  try {
    const kept = JSON.parse(localStorage.getItem(place(conversation)) ?? '[]') as unknown
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string').slice(-MOST) : []
  } catch {
    return []
  }
}

export function keepPlanned(conversation: string, plans: readonly string[]): void {
  try {
    if (plans.length) localStorage.setItem(place(conversation), JSON.stringify(plans.slice(-MOST)))
    else localStorage.removeItem(place(conversation))
  } catch {
    // The browser keeps nothing: the plan is still among the plans.
  }
}

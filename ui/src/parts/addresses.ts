import type { RouterHistory } from 'vue-router'

/**
 * The history, which tells of each address once. Where two changes of the address come at once, the browser tells of the second
 * one twice, and the router would take the echo for a step that it refused, and go back.
 */
export function withoutEchoes(history: RouterHistory): RouterHistory {
  const listen = history.listen.bind(history)
  history.listen = (told) =>
    listen((to, from, change) => {
      if (to !== from) told(to, from, change)
    })
  return history
}

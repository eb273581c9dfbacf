import { getCurrentScope, onScopeDispose } from 'vue'
import { isNavigationFailure, NavigationFailureType, useRouter, type Router } from 'vue-router'

/** Leads on to an address, or into its place in the history. */
export type Onward = (to: string, instead?: boolean) => Promise<void>

/**
 * Leads from this view on to what comes of something that is begun here. Whoever has gone elsewhere when it comes, or is on
 * the way there, is not taken away: it is in the lists.
 */
export function onward(router: Router = useRouter()): () => Onward {
  /** The path that the person wants to see: of an address that is being opened, before the view is there. */
  let wanted = router.currentRoute.value.path
  let isLeft = false
  const unheard = [
    router.beforeEach((to) => void (wanted = to.path)),
    // Who was kept here, as by unsaved work, has not gone.
    router.afterEach((_to, _from, failure) => {
      // Of two addresses the second one is wanted, and it may be on its way still.
      if (!isNavigationFailure(failure, NavigationFailureType.cancelled)) wanted = router.currentRoute.value.path
    }),
  ]
  if (getCurrentScope()) {
    onScopeDispose(() => {
      isLeft = true
      for (const unhear of unheard) unhear()
    })
  }
  return () => {
    const from = wanted
    return async (to, instead = false) => {
      if (isLeft || wanted !== from) return
      await (instead ? router.replace(to) : router.push(to))
    }
  }
}

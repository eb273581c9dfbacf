import { expect, test } from 'vitest'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import { onward } from './onward'

const view = { render: () => null }

async function opened(): Promise<{ router: Router; free: () => void }> {
  let free = (): void => undefined
  const loading = new Promise<typeof view>((done) => (free = () => done(view)))
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', component: view },
      { path: '/made', component: view },
      { path: '/kept', component: view, beforeEnter: () => false },
      { path: '/slow', component: () => loading },
    ],
  })
  await router.push('/')
  return { router, free }
}

test('who stays is led on, also with another query', async () => {
  const { router } = await opened()
  const goOn = onward(router)()
  await router.push('/?step=one')
  await goOn('/made')
  expect(router.currentRoute.value.path).toBe('/made')
})

test('who is on the way elsewhere is not taken away, and who was kept here has not gone', async () => {
  const { router, free } = await opened()
  const leading = onward(router)
  const kept = leading()
  await router.push('/kept')
  const slow = router.push('/slow')
  await new Promise((done) => setTimeout(done))
  await kept('/made')
  free()
  await slow
  expect(router.currentRoute.value.path).toBe('/slow')
  await router.push('/')
  const goOn = leading()
  await router.push('/kept')
  await goOn('/made')
  expect(router.currentRoute.value.path).toBe('/made')
})

test('of two addresses at once the second one is wanted', async () => {
  const { router } = await opened()
  const leading = onward(router)
  const slow = router.push('/slow')
  await router.push('/made')
  await slow
  await leading()('/')
  expect(router.currentRoute.value.path).toBe('/')
})

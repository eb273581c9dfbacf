import { expect, it } from 'vitest'
import type { RouterHistory } from 'vue-router'
import { withoutEchoes } from './addresses'

type Told = Parameters<RouterHistory['listen']>[0]

it('tells of an address once, however often the browser does', () => {
  let browser: Told = () => undefined
  const history = withoutEchoes({
    listen: (told: Told) => {
      browser = told
      return () => undefined
    },
  } as unknown as RouterHistory)
  const heard: string[] = []
  history.listen((to) => heard.push(to))
  const change = { type: 'pop', direction: '', delta: 0 } as unknown as Parameters<Told>[2]
  browser('/plans', '/', change)
  browser('/plans', '/plans', change)
  browser('/', '/plans', change)
  expect(heard).toEqual(['/plans', '/'])
})

import { expect, test } from 'vitest'
import { remedyOf } from './remedy'

test('a missing model leads to where one is added, and other faults lead nowhere', () => {
  expect(remedyOf('No model is configured for planning.')?.to).toBe('/models')
  expect(remedyOf('Step clerk failed: No model is configured.')?.to).toBe('/models')
  expect(remedyOf('The model of the house does not answer.')).toBeNull()
})

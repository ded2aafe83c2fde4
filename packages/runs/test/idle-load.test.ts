import { expect, it } from 'vitest'

import { measureIdleProcess } from './idle-process.ts'

it('[RUNS-Q10] [RUNS-Z18] A fleet of 200 processes without runs asks Postgres at most 15 times a second', async () => {
  const processes = 200
  const { perSecond, methods } = await measureIdleProcess({ processes, seconds: 14_400 })
  expect(perSecond * processes).toBeLessThanOrEqual(15)
  expect(methods).not.toContain('findStranded')
})

/** The cases of added tasks that wait for people, over the embedded store and over Postgres. */
import { describe, it } from 'vitest'

import { STORES } from './stores.ts'
import { sharedChildrenCases, waitingChildrenCases } from './waiting-children.ts'

describe.each(Object.entries(STORES))('added tasks that wait for people (%s)', (kind, make) => {
  const shared = kind === 'embedded' ? [] : sharedChildrenCases
  it.for([...waitingChildrenCases, ...shared])('$name', async ({ run }) => {
    await using place = await make()
    await run(place)
  })
})

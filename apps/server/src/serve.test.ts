import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { serve } from './serve.ts'

const duet = ensemble({
  name: 'duet',
  model: scriptedModel(['done']),
  tasks: [task({ description: 'Play' })],
})

describe('serve()', () => {
  it('serve() suggests a similar option for an unknown one', async () => {
    const options = { prot: 0 }
    // @ts-expect-error No option has that name.
    const started = serve(duet, options)
    await expect(started).rejects.toThrow(
      'Cannot serve: unknown option "prot" (did you mean "port"?)',
    )
  })

  it.each([-1, 1.5, 65_536, Number.NaN])('serve() refuses the port %d', async (port) => {
    await expect(serve(duet, { port })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('port must be an integer from 0 to 65535'),
    })
  })

  it('serve() refuses an empty list of ensembles', async () => {
    await expect(serve([], { port: 0 })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'Cannot serve: "ensembles" must be a list of at least one ensemble',
    })
  })
})

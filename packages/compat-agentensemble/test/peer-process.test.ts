import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

import { rawServer } from './peer-raw.ts'

it('[NET-K1] An idle connection lets the process exit, and a used one does not', async () => {
  await using server = await rawServer(({ on, send }) => {
    on('task_request', ({ requestId }) => {
      setTimeout(() => {
        send({ type: 'task_response', requestId, status: 'COMPLETED', result: 'Done' })
      }, 200)
    })
  })
  const child = fileURLToPath(new URL('peer-child.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=@tutti/source',
    child,
    `${server.url}#task:sing`,
  ])
  expect(stdout).toBe('DoneDone')
})

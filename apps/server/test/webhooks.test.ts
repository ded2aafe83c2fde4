import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterEach, beforeEach, expect, it } from 'vitest'

import { webhookReceiver } from '../../../packages/control-api/test/webhook-receiver.ts'
import { ServerProcess } from './server-process.ts'

const CONFIG = fileURLToPath(new URL('./fixtures/hooked.config.ts', import.meta.url))

let home: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tutti-hooked-'))
})

afterEach(() => {
  rmSync(home, { recursive: true })
})

it('The server notifies a webhook of the config file about runs that name it, without showing its secret', async () => {
  await using receiver = await webhookReceiver()
  const { url, secret } = receiver
  const hook = { HOOK_URL: url, HOOK_WORD: secret }
  const server = await ServerProcess.start({ TUTTI_DATA_DIR: home, TUTTI_CONFIG: CONFIG, ...hook })
  const told = await server
    .client()
    .runs.run({ webhooks: ['ci'], inputs: { text: `Say ${secret}` } })
  await receiver.until(1)
  await server[Symbol.asyncDispose]()
  expect(receiver.received.map(({ delivery }) => delivery.type)).toEqual(['run.completed'])
  expect(told.outputs).toEqual([expect.objectContaining({ output: 'I was told: Say [redacted]' })])
  expect(`${server.output}${server.errors}`).not.toContain(secret)
})

it('The server rejects an invalid webhook at the start, with every problem and without its secret', async () => {
  const hook = { HOOK_URL: 'nowhere', HOOK_WORD: 'my-little-word' }
  const { code, errors } = await ServerProcess.refused({
    TUTTI_DATA_DIR: home,
    TUTTI_CONFIG: CONFIG,
    ...hook,
  })
  expect(code).toBe(1)
  expect(errors).toMatch(/webhooks\.ci\.url .*"nowhere"/)
  expect(errors).toContain('webhooks.ci.secret')
  expect(errors).not.toContain('my-little-word')
})

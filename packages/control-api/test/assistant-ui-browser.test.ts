/** Tests with the components of `@assistant-ui/react` over the AI SDK, in a browser. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { build, preview } from 'vite'
import { expect, it } from 'vitest'

import { launchBrowser } from '../../../tooling/browser/launch-browser.ts'
import { openServer } from './open-server.ts'

const gate = Promise.withResolvers<void>()

const tune = defineTool({
  name: 'tune',
  description: 'Tunes',
  input: Type.Object({ hertz: Type.Number() }),
  requireApproval: true,
  async execute({ hertz }) {
    await gate.promise
    return `${hertz} hertz`
  },
})

const model = scriptedModel(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return 'It was played'
  return { text: 'One moment', toolCalls: [{ name: 'tune', arguments: { hertz: 440 } }] }
})

const player = ensemble({
  name: 'player',
  tasks: [task({ name: 'play', description: 'Play {song}', tools: [tune] })],
  model,
})

it('[GW-C5][GW-C10] A chat of assistant-ui shows text and a tool call, approves it, and continues after a reload', async () => {
  const outDir = mkdtempSync(join(tmpdir(), 'tutti-assistant-ui-'))
  const settings = {
    configFile: false,
    root: join(import.meta.dirname, 'assistant-ui'),
    logLevel: 'error',
  } as const
  await using api = await openServer({ ensembles: [player] })
  // The directives of modules for servers have no effect here.
  await build({
    ...settings,
    build: { outDir, target: 'es2023', rolldownOptions: { onwarn: () => undefined } },
  })
  const served = await preview({
    ...settings,
    build: { outDir },
    preview: { port: 0, host: '127.0.0.1', proxy: { '/api': api.url } },
  })
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    await page.goto(served.resolvedUrls?.local[0] ?? '')
    await page.getByLabel('Message').fill('Ode')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('One moment').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText(/^tune .*440.* runs/).waitFor()
    gate.resolve()
    await page.getByText('It was played').waitFor()
    await expect.poll(() => page.locator('output').textContent()).toBe('ready')
    const texts = await page.getByRole('article').allInnerTexts()
    expect(texts.map((text) => text.split(/\n+/))).toEqual([
      ['Ode'],
      ['One moment', expect.stringMatching(/^tune .*440.* "440 hertz"$/), 'It was played'],
    ])
    expect(complaints).toEqual([])
  } finally {
    await browser.close()
    await served.close()
    rmSync(outDir, { recursive: true })
  }
})

/** Threads as conversations: shown live, continued on the page and elsewhere, at three widths. */
import { apiKey } from '@tutti/control-api'
import { ensemble, task } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Page } from 'playwright-core'

const WRITER = 'writer-key-of-some-length'
const READER = 'reader-key-of-some-length'

let release = Promise.withResolvers<void>()

/** Writes the first words, and the rest when the test resolves the promise. */
const model: ChatModel = {
  provider: 'scripted',
  name: 'paced',
  async *stream({ messages }, { signal }) {
    const said = messages.filter(({ role }) => role === 'user').length
    yield { type: 'text', text: `Answer ${said} ` }
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve())
    })
    await Promise.race([release.promise, aborted])
    signal.throwIfAborted()
    yield { type: 'text', text: 'is complete' }
    yield* scriptedModel([`Answer ${said} is complete`]).stream(
      { messages, tools: [], toolChoice: 'none' },
      { signal },
    )
  },
}

let browser: Browser
let stage: ServedDashboard

beforeAll(async () => {
  const chat = ensemble({ name: 'chat', tasks: [task({ description: 'Answer {message}' })], model })
  stage = await openDashboard({
    ensembles: [chat],
    key: WRITER,
    apiKeys: [
      apiKey(WRITER, { name: 'writer', scopes: ['runs:read', 'runs:write', 'runs:control'] }),
      apiKey(READER, { name: 'reader', scopes: ['runs:read'] }),
    ],
  })
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await stage?.[Symbol.asyncDispose]()
})

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel(/key/i).first().fill(key)
  await page.keyboard.press('Enter')
}

describe('the page of threads', () => {
  it.each([1440, 820, 390])(
    'The page of threads shows a conversation live and continues it, at a width of %i pixels',
    async (width) => {
      release = Promise.withResolvers<void>()
      await visit(browser, `${stage.url}#/threads`, {
        viewport: { width, height: 800 },
        async use({ page, complaints }) {
          await signIn(page, WRITER)
          const newThread = page.getByRole('button', { name: 'New thread' })
          await newThread.waitFor()
          // Those before are about requests without a key.
          const before = complaints.length
          await newThread.click()
          const log = page.getByRole('log', { name: 'Messages' })
          await log.getByText('No messages yet').waitFor()
          await page.getByRole('textbox', { name: 'Message' }).fill('First question')
          await page.getByRole('button', { name: 'Send' }).click()
          await log.getByText('First question').waitFor()
          await log.getByText('Answer 1').waitFor()
          expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(true)
          release.resolve()
          await log.getByText('Answer 1 is complete').waitFor()
          await log.getByText('Completed').waitFor()
          const threadId = decodeURIComponent(page.url().split('#/threads/')[1] ?? '')
          await stage.client.runs.submit({ threadId, inputs: { message: 'Asked elsewhere' } })
          await log.getByText('Asked elsewhere').waitFor()
          await log.getByText('Answer 2 is complete').waitFor()
          const overflow = await page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          )
          expect(overflow).toBe(0)
          const { runs } = await stage.client.threads.runs(threadId)
          await log.getByRole('link', { name: /chat/ }).first().click()
          await page.waitForURL((url) => url.hash.startsWith(`#/runs/${runs[1]?.runId}`))
          expect(complaints.slice(before)).toEqual([])
        },
      })
    },
  )

  it('The page of threads stops a run, and continues after it', async () => {
    release = Promise.withResolvers<void>()
    await stage.client.threads.create({ threadId: 'stopped', title: 'A stopped answer' })
    await visit(browser, `${stage.url}#/threads/stopped`, {
      async use({ page }) {
        await signIn(page, WRITER)
        await page.getByRole('heading', { name: 'A stopped answer' }).waitFor()
        await page.getByRole('textbox', { name: 'Message' }).fill('Tell me')
        await page.keyboard.press('Control+Enter')
        const log = page.getByRole('log', { name: 'Messages' })
        await log.getByText('Answer 1').waitFor()
        await page.getByRole('button', { name: 'Stop' }).click()
        await log.getByText('Cancelled', { exact: true }).waitFor()
        await log.getByText('Answer 1').waitFor()
        await page.getByRole('button', { name: 'Send' }).waitFor()
      },
    })
  })

  it('The page of threads shows no field for messages to a key that may not submit runs, and names an unknown thread', async () => {
    await stage.client.threads.create({ threadId: 'read-only', title: 'For readers' })
    await visit(browser, `${stage.url}#/threads/read-only`, {
      async use({ page }) {
        await signIn(page, READER)
        await page.getByRole('heading', { name: 'For readers' }).waitFor()
        await page.getByText('No messages yet').waitFor()
        expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0)
        expect(await page.getByRole('button', { name: 'New thread' }).count()).toBe(0)
        await page.goto(`${stage.url}#/threads/none`)
        await page.getByRole('heading', { name: 'Thread "none" not found' }).waitFor()
      },
    })
  })
})

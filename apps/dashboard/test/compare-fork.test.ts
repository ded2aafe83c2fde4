/** Comparison of runs, forks and replays: reached from the list, from a run, and from its transcript, at three widths. */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import { apiKey } from '@tutti/control-api'
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Page } from 'playwright-core'

const WRITER = 'writer-key-of-some-length'
const READER = 'reader-key-of-some-length'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Folder for screenshots; none are taken when unset. */
const SHOTS = process.env['TUTTI_TEST_SHOTS']

const search = defineTool({
  name: 'search',
  description: 'Searches',
  input: Type.Object({ query: Type.String() }),
  idempotent: true,
  execute: ({ query }) => `Facts about ${query}`,
})

const send = defineTool({
  name: 'send',
  description: 'Sends a letter',
  input: Type.Object({}),
  idempotent: false,
  execute: () => 'Sent',
})

/** Searches first, then writes what the prompt and the directives ask for. */
const model = scriptedModel(({ messages, tools }) => {
  const asked = messages.map(({ content }) => content ?? '').join('\n')
  const topic = /Research (\w+)/.exec(asked)?.[1]
  const isFirst = messages.at(-1)?.role !== 'tool'
  if (topic !== undefined && isFirst && tools.length > 0) {
    return { toolCalls: [{ name: 'search', arguments: { query: topic } }] }
  }
  if (tools.some(({ name }) => name === 'send') && isFirst) {
    return { toolCalls: [{ name: 'send', arguments: {} }] }
  }
  const style = asked.includes('Sing') ? 'A song' : 'A report'
  const isBrief = asked.includes('Be brief')
  return `${style} about the sea.\n${isBrief ? 'It is short.' : 'The sea has many colors.\nIt is wide.'}`
})

let browser: Browser
let stage: ServedDashboard
let parent: string
let fork: string

beforeAll(async () => {
  const team = ensemble({
    name: 'briefing',
    model,
    tasks: [
      task({ name: 'research', description: 'Research {topic}', tools: [search] }),
      task({ name: 'write', description: 'Write about {topic}', context: ['research'] }),
    ],
  })
  const mail = ensemble({
    name: 'mail',
    model,
    tasks: [task({ name: 'post', description: 'Post a letter', tools: [send] })],
  })
  stage = await openDashboard({
    ensembles: [team, mail],
    key: WRITER,
    prices: () => ({ inputPerMillion: 1, outputPerMillion: 2 }),
    apiKeys: [
      apiKey(WRITER, { name: 'writer', scopes: ['runs:read', 'runs:write', 'runs:control'] }),
      apiKey(READER, { name: 'reader', scopes: ['runs:read'] }),
    ],
  })
  const { runs } = stage.client
  parent = (await runs.run({ ensemble: 'briefing', inputs: { topic: 'tides' } })).runId
  const started = await runs.fork(parent, {
    at: { task: 'write' },
    taskOverrides: { write: { description: 'Sing about {topic}' } },
    inputs: { topic: 'storms' },
  })
  fork = (await runs.result(started.runId)).runId
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await stage?.[Symbol.asyncDispose]()
})

async function signIn(page: Page, key = WRITER): Promise<void> {
  await page.getByLabel(/key/i).first().fill(key)
  await page.keyboard.press('Enter')
}

async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return
  mkdirSync(SHOTS, { recursive: true })
  await page.screenshot({ path: `${SHOTS}/${name}.png` })
}

/** Checks that the page does not scroll sideways, and that axe finds no serious problem in either theme. */
async function checkPage(page: Page, name: string): Promise<void> {
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  expect(overflow).toBe(0)
  await page.evaluate(AXE)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const findings = page.evaluate(
      `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
        violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`,
    )
    await shoot(page, `${name}-${colorScheme}`)
    expect(await findings).toEqual([])
  }
}

const WIDTHS = [1440, 820, 390]

describe('the comparison of two runs', () => {
  it.each(WIDTHS)(
    'The comparison of two runs shows totals, inputs, tasks, texts and calls at a width of %i pixels',
    async (width) => {
      await visit(browser, `${stage.url}#/compare?a=${parent}&b=${fork}`, {
        viewport: { width, height: 900 },
        bypassCSP: true,
        async use({ page }) {
          await signIn(page)
          await page.getByRole('heading', { name: 'Compare runs' }).waitFor()
          await page.getByText(/^B is a fork after event \d+ of A$/).waitFor()
          expect(await page.getByRole('row', { name: 'Model calls' }).innerText()).toMatch(
            /Model calls\s3\s1\s−2/,
          )
          await page
            .getByRole('region', { name: 'Inputs that differ' })
            .getByText('storms')
            .waitFor()
          const write = page.getByRole('article', { name: 'write' })
          await write.getByText('Description, output differ').waitFor()
          const [before, after] = [
            write.getByRole('group', { name: 'A: output' }),
            write.getByRole('group', { name: 'B: output' }),
          ]
          expect(await before.locator('del').allTextContents()).toContain('report')
          expect(await after.locator('ins').allTextContents()).toContain('song')
          expect(await before.locator('ins').count()).toBe(0)
          const research = page.getByRole('article', { name: 'research' })
          await research.getByRole('button', { name: /No differences/ }).click()
          await research.getByText('Reused').first().waitFor()
          await research.getByText('{"query":"tides"}').first().waitFor()
          await checkPage(page, `compare-${width}`)
          const top = (await before.boundingBox())?.y ?? 0
          const other = (await after.boundingBox())?.y ?? 0
          expect(other > top).toBe(width === 390)
          await page.getByRole('link', { name: 'Swap A and B' }).click()
          await page.getByText(/^A is a fork after event \d+ of B$/).waitFor()
        },
      })
    },
  )

  it.each(WIDTHS)(
    'The comparison of two runs begins in the list with two runs, by keyboard, at a width of %i pixels',
    async (width) => {
      await visit(browser, `${stage.url}#/runs`, {
        viewport: { width, height: 900 },
        bypassCSP: true,
        async use({ page }) {
          await signIn(page)
          await page.getByRole('button', { name: 'Compare…' }).focus()
          await page.keyboard.press('Enter')
          await page.getByText('Select two runs').waitFor()
          await page.getByRole('checkbox', { name: `Compare briefing ${parent}` }).press('Space')
          await page.getByText('Select another run').waitFor()
          await page.getByRole('checkbox', { name: `Compare briefing ${fork}` }).press('Space')
          await checkPage(page, `pick-${width}`)
          await page.getByRole('link', { name: 'Compare', exact: true }).press('Enter')
          await page.waitForURL((url) => url.hash === `#/compare?a=${parent}&b=${fork}`)
          await page.getByRole('heading', { name: 'Compare runs' }).waitFor()
        },
      })
    },
  )

  it('The comparison of two runs is reached from a fork, which names its parent', async () => {
    await visit(browser, `${stage.url}#/runs/${fork}`, {
      async use({ page }) {
        await signIn(page)
        await page.getByText(/Fork after event \d+ of/).waitFor()
        await page.getByRole('link', { name: 'Compare with its parent' }).click()
        await page.waitForURL((url) => url.hash === `#/compare?a=${parent}&b=${fork}`)
        await page.getByRole('heading', { name: 'Compare runs' }).waitFor()
      },
    })
  })

  it('The comparison of two runs names an unknown run, and asks for two runs without ids', async () => {
    await visit(browser, `${stage.url}#/compare?a=${parent}&b=none`, {
      async use({ page }) {
        await signIn(page)
        await page.getByRole('heading', { name: 'Run not found' }).waitFor()
        await page.goto(`${stage.url}#/compare`)
        await page.getByRole('heading', { name: 'Choose two runs' }).waitFor()
      },
    })
  })
})

describe('a fork from the transcript', () => {
  it.each(WIDTHS)(
    'A fork from the transcript begins at a turn with guidance, after a preview, at a width of %i pixels',
    async (width) => {
      await visit(browser, `${stage.url}#/runs/${parent}?task=research`, {
        viewport: { width, height: 900 },
        bypassCSP: true,
        async use({ page }) {
          await signIn(page)
          await page.getByRole('button', { name: 'Fork from model call 2' }).click()
          const dialog = page.getByRole('dialog', { name: 'Fork from here' })
          await dialog.getByText(/begins with model call 2 of "research"/).waitFor()
          await dialog.getByRole('textbox', { name: 'Guidance' }).fill('Be brief')
          const preview = dialog.getByRole('region', { name: 'Preview' })
          await preview.getByText(/Reused at no cost: 1 model call and 1 tool call/).waitFor()
          await preview.getByText(/2 model calls and 0 tool calls.*about \$0\.\d+/).waitFor()
          await checkPage(page, `fork-${width}`)
          await dialog.getByRole('button', { name: 'Start fork' }).click()
          await page.getByText(/Fork after event \d+ of/).waitFor()
          const forkId = /#\/runs\/([^?]+)/.exec(page.url())?.[1] ?? ''
          const { parent: origin, outputs } = await stage.client.runs.result(forkId)
          expect(origin?.runId).toBe(parent)
          expect(outputs[0]?.output).toContain('It is short.')
        },
      })
    },
  )

  it('A fork from the transcript begins at the start of a task if its prompt was edited, with variables in the prompt', async () => {
    await visit(browser, `${stage.url}#/runs/${parent}?task=write`, {
      async use({ page }) {
        await signIn(page)
        await page.getByRole('button', { name: 'Fork from model call 1' }).click()
        const dialog = page.getByRole('dialog', { name: 'Fork from here' })
        const prompt = dialog.getByRole('textbox', { name: 'Prompt' })
        await expect.poll(() => prompt.inputValue()).toBe('Write about {topic}')
        await prompt.fill('Sing about {topic}')
        await dialog
          .getByText(/begins at the start of "write", because its prompt was changed/)
          .waitFor()
        await dialog.getByRole('button', { name: 'Undo changes' }).click()
        expect(await prompt.inputValue()).toBe('Write about {topic}')
        await prompt.fill('Sing about {topic}')
        await dialog.getByRole('textbox', { name: 'topic' }).fill('waves')
        await page.keyboard.press('Control+Enter')
        await page.getByText(/Fork after event \d+ of/).waitFor()
        const forkId = /#\/runs\/([^?]+)/.exec(page.url())?.[1] ?? ''
        const { tasks } = await stage.client.runs.result(forkId)
        expect(tasks[1]?.description).toBe('Sing about waves')
        expect(tasks[1]?.output).toContain('A song')
      },
    })
  })

  it('A fork from the transcript needs consent before tools with side effects are called again', async () => {
    const { runId } = await stage.client.runs.run({ ensemble: 'mail' })
    await visit(browser, `${stage.url}#/runs/${runId}?task=post`, {
      async use({ page }) {
        await signIn(page)
        await page.getByRole('button', { name: 'Fork from this task…' }).click()
        const dialog = page.getByRole('dialog', { name: 'Fork from "post"' })
        await dialog.getByText('Calls with side effects may be repeated').waitFor()
        const start = dialog.getByRole('button', { name: 'Start fork' })
        expect(await start.isDisabled()).toBe(true)
        await dialog.getByRole('checkbox', { name: /not idempotent/ }).check()
        await start.click()
        await page.getByText(/Fork after event \d+ of/).waitFor()
      },
    })
  })

  it('A fork from the transcript is not offered to a key that may not submit runs', async () => {
    await visit(browser, `${stage.url}#/runs/${parent}?task=write`, {
      async use({ page }) {
        await signIn(page, READER)
        await page.getByRole('heading', { name: 'write', exact: true }).waitFor()
        await expect
          .poll(() => page.getByRole('button', { name: /^(Fork from|Replay)/ }).count())
          .toBe(0)
      },
    })
  })
})

describe('a replay', () => {
  it('A replay executes a completed run again, and cannot be forked or replayed itself', async () => {
    await visit(browser, `${stage.url}#/runs/${parent}`, {
      async use({ page }) {
        await signIn(page)
        await page.getByRole('button', { name: 'Replay…' }).click()
        const dialog = page.getByRole('dialog', { name: 'Replay run' })
        expect(await dialog.getByRole('radio', { name: /Frozen/ }).isChecked()).toBe(true)
        await dialog.getByRole('button', { name: 'Start replay' }).click()
        await page.getByText('Frozen replay of').waitFor()
        await page.getByText('Completed', { exact: true }).first().waitFor()
        expect(await page.getByRole('button', { name: /^(Fork from|Replay…)/ }).count()).toBe(0)
        await page.getByRole('link', { name: 'Compare with its parent' }).click()
        await page.getByText('B is a frozen replay of A').waitFor()
      },
    })
  })
})

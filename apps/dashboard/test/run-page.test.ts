/** The page of a run: its live work, events, costs and details. */
import { readFileSync } from 'node:fs'

import { defineTool, Type } from '@tutti/core'
import { defineAgentTool, localConnector } from '@tutti/agent-call/internal'
import { ensemble, priceList, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { conductedModel, waitingPlace } from './paced-model.ts'
import {
  launchBrowser,
  openDashboard,
  visit,
  type ServedDashboard,
  type Visit,
} from './open-dashboard.ts'

import type { Browser, Locator, Page } from 'playwright-core'

const PRICES = priceList({
  'test:soloist': { inputPerMillion: 1_000, outputPerMillion: 10_000 },
  'test:fallback': { inputPerMillion: 2_000, outputPerMillion: 20_000 },
})

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser.close()
})

/** A run with one task whose model is controlled by the test, and its page. */
async function performance(
  use: (
    given: Visit & Awaited<ReturnType<typeof openHall>> & { readonly runId: string },
  ) => Promise<void>,
  { place = '', ensembleName = 'solo' } = {},
): Promise<void> {
  await using hall = await openHall()
  const { runId } = await hall.stage.client.runs.submit({
    ensemble: ensembleName,
    inputs: ensembleName === 'solo' ? { piece: 'a fugue' } : {},
    tags: { season: 'spring' },
  })
  await visit(browser, `${hall.stage.url}/#/runs/${runId}${place}`, {
    viewport: { width: 1440, height: 900 },
    use: async (seen) => {
      await use({ ...seen, ...hall, runId })
      expect(seen.complaints).toEqual([])
    },
  })
}

async function openHall() {
  const model = conductedModel('soloist')
  const second = conductedModel('fallback')
  const waiting = waitingPlace()
  const tune = defineTool({
    name: 'tune',
    description: 'Tunes an instrument',
    input: Type.Object({ instrument: Type.String(), hertz: Type.Integer() }),
    async execute({ instrument }, { reportProgress, signal }) {
      reportProgress({ message: 'two of four strings', fraction: 0.5 })
      await waiting.pass(signal)
      return JSON.stringify({ instrument, isInTune: true })
    },
  })
  const dump = defineTool({
    name: 'dump',
    description: 'Says very much',
    input: Type.Object({}),
    execute: () => 'All the notes there are. '.repeat(42_000),
  })
  const critic = defineAgentTool({
    name: 'ask_critic',
    description: 'Asks a critic',
    mode: 'streaming',
    connector: localConnector(
      {
        async *answer() {
          yield { kind: 'chunk', chunk: 'Not', usage: { costUsd: 0.25 } }
          yield { kind: 'chunk', chunk: ' bad' }
          return { kind: 'end', state: 'completed', output: 'Not bad' }
        },
      },
      'tutti://critic',
    ),
  })
  const reader = scriptedModel(({ messages, tools: [tool] }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length
    if (turn === 60 || tool === undefined) return 'The end'
    return { text: `This is page ${turn}`, toolCalls: [{ name: tool.name, arguments: {} }] }
  })
  const turnPage = defineTool({
    name: 'turn_page',
    description: 'Turns a page',
    input: Type.Object({}),
    execute: () => 'turned',
  })
  let pages = 0
  const turnSlowly = defineTool({
    name: 'turn_slowly',
    description: 'Turns a page, and waits at page 32',
    input: Type.Object({}),
    async execute(_input, { signal }) {
      pages += 1
      if (pages === 32) await waiting.pass(signal)
      return 'turned'
    },
  })
  const stage: ServedDashboard = await openDashboard({
    ensembles: [
      ensemble({
        name: 'solo',
        tasks: [
          task({
            name: 'play',
            description: 'Play {piece}',
            expectedOutput: 'Music',
            tools: [tune, dump, critic],
            model,
            fallbackModels: [second],
          }),
        ],
        model,
      }),
      ensemble({
        name: 'book',
        tasks: [task({ name: 'read', description: 'Read', tools: [turnPage], maxIterations: 80 })],
        model: reader,
      }),
      ensemble({
        name: 'serial',
        tasks: [
          task({ name: 'read', description: 'Read', tools: [turnSlowly], maxIterations: 80 }),
        ],
        model: reader,
      }),
      ensemble({
        name: 'again',
        tasks: [task({ name: 'insist', description: 'Insist', model, retries: 1 })],
        model,
        modelRetries: 0,
      }),
    ],
    models: { soloist: model, fallback: second },
    prices: PRICES,
  })
  return {
    stage,
    model,
    second,
    waiting,
    async [Symbol.asyncDispose]() {
      waiting.open()
      await stage[Symbol.asyncDispose]()
    },
  }
}

function work(page: Page, taskName = 'play'): Locator {
  return page.getByRole('list', { name: `Work of ${taskName}` })
}

/** Whether a row of a list is at its scroll position. */
function isAtTop(row: Locator): Promise<boolean> {
  return row.evaluate((element) => {
    const list = element.closest('[role=list]')?.getBoundingClientRect()
    const { top } = element.getBoundingClientRect()
    return list !== undefined && top >= list.top - 1 && top < list.top + list.height / 2
  })
}

/** Returns the number with a name, in the header of the page or of the task. */
function figure(scope: Page | Locator, name: string): Locator {
  return scope.locator('dl > div').filter({ hasText: name }).locator('dd').first()
}

describe('the page of a run', () => {
  it('The page of a run remembers that the timeline is collapsed, also on the next visit', async () => {
    await performance(async ({ page, model }) => {
      model.answer()
      const timeline = page.getByRole('group', { name: /^Timeline of/ })
      await timeline.waitFor()
      const fold = page.getByRole('button', { name: 'Collapse timeline', expanded: true })
      await fold.click()
      await timeline.waitFor({ state: 'detached' })
      await page.reload()
      await page.getByRole('tab', { name: 'Work' }).waitFor()
      expect(await timeline.count()).toBe(0)
      await page.getByRole('button', { name: 'Expand timeline', expanded: false }).click()
      await timeline.waitFor()
    })
  })

  it('The page of a run renders a table written by a model', async () => {
    await performance(async ({ page, model }) => {
      model.say('The **sales**:\n\n| Town | Sold |\n|---|---:|\n| *Cremona* | 3 |\n')
      model.answer()
      const table = work(page).getByRole('group', { name: 'Table' })
      await table.getByRole('columnheader', { name: 'Sold' }).waitFor()
      await table.getByRole('cell', { name: 'Cremona' }).locator('em').waitFor()
    })
  })

  it('The page of a run keeps the replay bar in view on a long page', async () => {
    await performance(async ({ page, model }) => {
      model.answer()
      const replay = page.getByRole('region', { name: 'Replay' })
      for (const viewport of [
        { width: 390, height: 700 },
        { width: 1440, height: 500 },
      ]) {
        await page.setViewportSize(viewport)
        await expect.poll(() => page.locator('main').evaluate(isLong)).toBe(true)
        await expect.poll(() => inSight(replay)).toBe(true)
      }
    })
  })
})

/** Whether it has more content than is visible. */
function isLong({ scrollHeight, clientHeight }: HTMLElement): boolean {
  return scrollHeight > clientHeight
}

/** Whether it is entirely within the window. */
async function inSight(element: Locator): Promise<boolean> {
  const box = await element.boundingBox()
  const window = element.page().viewportSize()
  return box !== null && window !== null && box.y >= 0 && box.y + box.height <= window.height
}

describe('an active run', () => {
  it('An active run streams the text of a model, and renders it when it is complete', async () => {
    await performance(async ({ page, model }) => {
      const call = work(page).getByRole('article', { name: 'Model call 1' })
      await expect.poll(() => call.getByText('No text yet').isVisible()).toBe(true)
      await expect.poll(() => page.title()).toBe('● Running — solo')
      model.say('# The *first* words')
      await call.getByText('# The *first* words', { exact: true }).waitFor()
      model.say(' and more')
      await call.getByText('# The *first* words and more', { exact: true }).waitFor()
      model.answer({ usage: { inputTokens: 1_000, outputTokens: 100 } })
      await call.getByRole('heading', { name: 'The first words and more' }).waitFor()
      await call.getByText('1000 in 100 out').waitFor()
      await call.getByText('$2.00').waitFor()
      await call.getByRole('button', { name: 'Raw answer' }).click()
      await call.getByText('# The *first* words and more', { exact: true }).waitFor()
      await work(page).getByText('the answer of model call 1').waitFor()
      await expect.poll(() => page.title()).toBe('✓ Completed — solo')
      const head = page.getByRole('banner').or(page.locator('header')).filter({ hasText: 'solo' })
      await expect.poll(() => figure(head.first(), 'Cost').textContent()).toBe('$2.00')
      await expect.poll(() => figure(head.first(), 'Progress').textContent()).toBe('1 of 1 task')
    })
  })

  it('An active run shows the input, the output and the progress of a tool', async () => {
    await performance(async ({ page, model, waiting }) => {
      model.answer({
        toolCalls: [{ name: 'tune', arguments: { instrument: 'viola', hertz: 440 } }],
      })
      const call = work(page).getByRole('article', { name: 'Tool call tune' })
      await call.getByRole('progressbar', { name: 'Progress of tune' }).waitFor()
      await call.getByText('50 % two of four strings').waitFor()
      await call.getByRole('button', { name: /^Running tune/ }).click()
      await call.getByText('viola', { exact: true }).waitFor()
      await call.getByText('440', { exact: true }).waitFor()
      await call.getByText('pending').waitFor()
      waiting.open()
      await call.getByText('isInTune').waitFor()
      await call.getByRole('img', { name: 'Succeeded' }).waitFor()
      expect(await call.getByRole('progressbar').count()).toBe(0)
      // Folds stay as they were while the run continues.
      model.say('In tune')
      await work(page).getByText('In tune', { exact: true }).waitFor()
      expect(await call.getByText('isInTune').isVisible()).toBe(true)
      model.answer()
    })
  })

  it('An active run cuts a tool output of one megabyte', async () => {
    await performance(async ({ page, model }) => {
      model.answer({ toolCalls: [{ name: 'dump', arguments: {} }] })
      const call = work(page).getByRole('article', { name: 'Tool call dump' })
      await call.getByRole('img', { name: 'Succeeded' }).waitFor()
      await call.getByRole('button', { name: /dump/ }).click()
      await call.getByRole('button', { name: /^Show all/ }).waitFor()
      const length = await call.evaluate((element) => element.textContent.length)
      expect(length).toBeLessThan(30_000)
      model.answer()
    })
  })

  it('An active run shows failed model calls, and the reaction to each', async () => {
    await performance(async ({ page, model, second }) => {
      model.fail('429 Slow down', { retryable: true })
      const call = work(page).getByRole('article', { name: 'Model call 1' })
      const failures = call.getByRole('list', { name: 'Failed calls' })
      await failures.getByText('429 Slow down').waitFor()
      await failures.getByText('soloist: retried after 0 ms').waitFor()
      model.fail('401 No such account')
      await failures.getByText('401 No such account').waitFor()
      await failures.getByText('soloist → fallback: falls back').waitFor()
      expect(await failures.getByText('MODEL_FAILED').count()).toBe(2)
      second.say('I can do it')
      second.answer()
      await call.getByText('I can do it').waitFor()
      expect(await failures.getByRole('listitem').count()).toBe(2)
    })
  })

  it('An active run shows the agents that a tool called', async () => {
    await performance(async ({ page, model }) => {
      model.answer({ toolCalls: [{ name: 'ask_critic', arguments: { input: 'How was it?' } }] })
      const agents = work(page).getByRole('list', { name: 'Agent calls' })
      await agents.getByText('Answered').waitFor()
      await agents.getByText('tutti://critic').waitFor()
      await agents.getByText('streaming · local · 2 chunks · $0.25').waitFor()
      model.answer()
    })
  })

  it('An active run keeps what is known of a failed attempt', async () => {
    await performance(
      async ({ page, model }) => {
        model.fail('The first try went wrong', { retryable: true })
        const attempts = page.getByRole('radiogroup', { name: 'Attempt' })
        await attempts.getByRole('radio', { name: 'Attempt 1' }).check({ force: true })
        await page.getByRole('alert').getByText('MODEL_FAILED').waitFor()
        await attempts.getByRole('radio', { name: 'Attempt 2' }).check({ force: true })
        model.say('The second try')
        await work(page, 'insist').getByText('The second try').waitFor()
        model.answer()
      },
      { ensembleName: 'again' },
    )
  })

  it('An active run shows the input of the agent and the messages of the model', async () => {
    await performance(async ({ page, model }) => {
      await work(page)
        .getByRole('button', { name: /^Input Play a fugue/ })
        .click()
      await work(page).getByText('Music', { exact: true }).waitFor()
      await work(page).getByText('tune, dump, ask_critic').waitFor()
      const call = work(page).getByRole('article', { name: 'Model call 1' })
      await call.getByRole('button', { name: 'Sent 2 messages' }).click()
      await call.getByRole('button', { name: /^User/ }).click()
      await call.getByText('Play a fugue').last().waitFor()
      model.answer()
    })
  })
})

describe('a long transcript', () => {
  it('A long transcript follows its end until the reader scrolls up, and offers to return', async () => {
    await performance(async ({ page, model }) => {
      model.say('line\n'.repeat(120))
      const list = work(page)
      const gap = (): Promise<number> =>
        list.evaluate((at) => at.scrollHeight - at.scrollTop - at.clientHeight)
      await list.getByText('line').last().waitFor()
      await expect.poll(gap).toBeLessThan(40)
      model.say('more\n'.repeat(60))
      await list.getByText('more').last().waitFor()
      await expect.poll(gap).toBeLessThan(40)
      await list.hover()
      await page.mouse.wheel(0, -900)
      const newest = page.getByRole('button', { name: 'Jump to latest' })
      await newest.waitFor()
      const top = await list.evaluate(async (at) => {
        // A wheel event scrolls for several frames.
        for (let before = NaN; before !== at.scrollTop;) {
          before = at.scrollTop
          for (const _ of [1, 2]) await new Promise(requestAnimationFrame)
        }
        return at.scrollTop
      })
      model.say('even more\n'.repeat(60))
      await expect.poll(gap).toBeGreaterThan(1_500)
      expect(await list.evaluate((at) => at.scrollTop)).toBe(top)
      await newest.click()
      await expect.poll(gap).toBeLessThan(40)
      await expect.poll(() => newest.count()).toBe(0)
      model.answer()
    })
  })

  it('A long transcript keeps the turn in the URL in view while turns are added', async () => {
    await using hall = await openHall()
    const { client } = hall.stage
    const { runId } = await client.runs.submit({ ensemble: 'serial' })
    await visit(browser, `${hall.stage.url}/#/runs/${runId}?task=read&turn=30`, {
      use: async ({ page, complaints }) => {
        const list = work(page, 'read')
        const call = work(page, 'read').getByRole('article', { name: 'Model call 31' })
        await call.getByText('This is page 30').waitFor()
        await work(page, 'read').getByText('This is page 31').waitFor()
        // It is near the end, where the list cannot be scrolled any further.
        const below = () => list.evaluate((at) => at.scrollHeight - at.scrollTop - at.clientHeight)
        await expect.poll(below).toBeLessThan(2)
        hall.waiting.open()
        await client.runs.result(runId)
        await page.getByText('61 model calls').first().waitFor()
        await expect.poll(() => isAtTop(call)).toBe(true)
        expect(await below()).toBeGreaterThan(500)
        // A reader who scrolls is not brought back.
        await list.hover()
        await page.mouse.wheel(0, 100_000)
        await work(page, 'read').getByText('the answer of model call 61').waitFor()
        await expect.poll(below).toBeLessThan(40)
        expect(complaints).toEqual([])
      },
    })
  })

  it('A long transcript is scrolled to the turn and the call in the URL', async () => {
    await using hall = await openHall()
    const { client } = hall.stage
    const { runId } = await client.runs.submit({ ensemble: 'book' }, { wait: 20 })
    await visit(browser, `${hall.stage.url}/#/runs/${runId}`, {
      use: async ({ page }) => {
        // Without a turn in the URL, the list is at its end.
        await work(page, 'read').getByText('the answer of model call 61').waitFor()
      },
    })
    const at = (place: string) => `${hall.stage.url}/#/runs/${runId}?task=read&${place}`
    await visit(browser, at('turn=30'), {
      use: async ({ page, complaints }) => {
        const call = work(page, 'read').getByRole('article', { name: 'Model call 31' })
        await call.getByText('This is page 30').waitFor()
        expect(
          await call
            .getByRole('button', { name: 'Model call 31', exact: true })
            .getAttribute('aria-current'),
        ).toBe('true')
        await expect.poll(() => isAtTop(call)).toBe(true)
        // A click on the heading of another turn selects it in the URL.
        await work(page, 'read').getByRole('button', { name: 'Model call 32', exact: true }).click()
        await expect.poll(() => page.url()).toContain('turn=31')
        expect(complaints).toEqual([])
      },
    })
    await visit(browser, at('turn=10&call=call-11'), {
      use: async ({ page }) => {
        // The call in the URL is unfolded.
        await work(page, 'read').getByText('turned', { exact: true }).first().waitFor()
      },
    })
  })
})

describe('the tabs of a run', () => {
  it('The tabs of a run list its events, which can be filtered, unfolded and exported', async () => {
    await performance(
      async ({ page, model, stage, runId }) => {
        model.say('Once upon a time')
        model.answer()
        await stage.client.runs.result(runId)
        const events = page.getByRole('list', { name: 'Events' })
        const { lastSeq } = await stage.client.runs.get(runId)
        const count = lastSeq + 1
        await page.getByText(new RegExp(`^${count} events, \\d+ shown$`)).waitFor()
        await events.getByRole('button', { name: /Run result/ }).waitFor()
        expect(await events.getByRole('button', { name: /Token/ }).count()).toBe(0)
        await page.getByRole('button', { name: 'Tokens', exact: true }).click()
        await page.getByText(`${count} events`, { exact: true }).waitFor()
        await page.getByRole('searchbox', { name: 'Search events' }).fill('once upon')
        await events.getByRole('button', { name: /Token.*Once upon/ }).waitFor()
        expect(await events.getByRole('button', { name: /Run queued/ }).count()).toBe(0)
        await page.getByRole('searchbox', { name: 'Search events' }).fill('run_queued')
        await events.getByRole('button', { name: /Run queued/ }).click()
        await events.getByText('solo', { exact: true }).waitFor()
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'NDJSON' }).click(),
        ])
        expect(download.suggestedFilename()).toBe(`${runId}.events.ndjson`)
        const lines = readFileSync(await download.path(), 'utf8')
          .trimEnd()
          .split('\n')
        const seqs = lines.map((line) => JSON.parse(line).seq)
        expect(seqs).toEqual(Array.from({ length: count }, (_, seq) => seq))
      },
      { place: '?tab=events' },
    )
  })

  it('The tabs of a run show its costs, with the totals of the server', async () => {
    await performance(
      async ({ page, model, second, stage, runId }) => {
        model.answer({
          toolCalls: [{ name: 'ask_critic', arguments: { input: 'How was it?' } }],
          usage: { inputTokens: 1_000, outputTokens: 100 },
        })
        model.fail('Broken')
        second.answer({ usage: { inputTokens: 1_000, outputTokens: 100 } })
        await stage.client.runs.result(runId)
        const { metrics } = await stage.client.runs.get(runId)
        expect(metrics).toMatchObject({ totalTokens: 2_200, totalToolCalls: 1, costUsd: 6.25 })
        const models = page.getByRole('table', { name: 'By model' })
        await models.getByRole('row', { name: /^fallback 1 0 1000 100 \$4\.00 64 %/ }).waitFor()
        await models.getByRole('row', { name: /^soloist 1 1 1000 100 \$2\.00 32 %/ }).waitFor()
        await models
          .getByRole('row', { name: /^Agents called by tools 0 0 0 0 \$0\.25 4 %/ })
          .waitFor()
        await models.getByRole('row', { name: /^Total 2 1 2000 200 \$6\.25/ }).waitFor()
        await page
          .getByRole('table', { name: 'By task' })
          .getByRole('row', { name: /play 2 1 2000 200 \$6\.25 100 %/ })
          .waitFor()
      },
      { place: '?tab=costs' },
    )
  })

  it('The tabs of a run show its details, which are loaded once, when the tab is opened', async () => {
    await performance(async ({ page, requests, model, stage, runId }) => {
      const asked = (): number => requests.filter((one) => one === `GET /api/runs/${runId}`).length
      model.answer()
      await stage.client.runs.result(runId)
      await page.getByRole('status').getByText('Completed').waitFor()
      expect(asked()).toBe(0)
      const details = page.getByRole('group', { name: 'Details' })
      for (const tab of ['Details', 'Work', 'Details']) {
        await page.getByRole('tab', { name: tab }).click()
      }
      await details.getByText('season: spring').waitFor()
      await details.getByText('ensemble defaults').waitFor()
      await details.getByText('a fugue').waitFor()
      expect(asked()).toBe(1)
      const again = page.getByRole('link', { name: 'Run again' })
      expect(await again.count()).toBe(1)
      expect(await again.getAttribute('href')).toBe(`#/new?from=${runId}`)
    })
  })

  it('The tabs of a run delete the run after confirmation', async () => {
    await performance(
      async ({ page, model, stage, runId }) => {
        await page.getByText('A run can be deleted after it has ended.').waitFor()
        model.answer()
        await page.getByRole('button', { name: 'Delete run…' }).click()
        const dialog = page.getByRole('dialog', { name: 'Delete this run?' })
        await dialog.getByRole('button', { name: 'Keep run' }).click()
        expect((await stage.client.runs.get(runId)).status).toBe('COMPLETED')
        await page.getByRole('button', { name: 'Delete run…' }).click()
        await dialog.getByRole('button', { name: 'Delete run' }).click()
        await page.getByText('Run deleted').waitFor()
        await expect.poll(() => new URL(page.url()).hash).toBe('#/runs')
        await expect(stage.client.runs.get(runId)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
      },
      { place: '?tab=details' },
    )
  })
})

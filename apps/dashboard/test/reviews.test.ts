/** Deciding reviews on the page of a run and on the page of all reviews. */
import { apiKey } from '@tutti/control-api'
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import {
  launchBrowser,
  openDashboard,
  visit,
  type ServedDashboard,
  type Visit,
} from './open-dashboard.ts'

import type { ReviewSettings } from '@tutti/ensemble'
import type { Browser, Locator, Page } from 'playwright-core'

const FIRST = 'The harbor is quiet.\nBoats sleep.'

/** Writes a text, then another one that contains the feedback of its reviewer. */
function writer() {
  return scriptedModel(({ messages }: ModelRequest) => {
    const said = messages.map(({ content }) => content).join('\n')
    const words = /more (?:gulls|wind)/.exec(said)?.[0]
    return words === undefined ? FIRST : `A second harbor, with ${words}.`
  })
}

/** Two tasks in sequence; the output of the first one is reviewed. */
function poems(review: ReviewSettings = { prompt: 'Is it good enough to print?' }) {
  const draft = task({ name: 'draft', description: 'Write of a harbor', review })
  const print = task({ name: 'print', description: 'Print it', context: [draft] })
  return ensemble({ name: 'poems', tasks: [draft, print], model: writer() })
}

/** A task that needs approval before it starts. */
function allowed() {
  const dig = task({ name: 'dig', description: 'Dig a small hole', beforeReview: true })
  const model = scriptedModel(({ messages }: ModelRequest) => {
    const said = messages.map(({ content }) => content).join('\n')
    return /## Task\n(Dig a (?:small|deep) hole)/.exec(said)?.[1] ?? 'nothing'
  })
  return ensemble({ name: 'diggers', tasks: [dig], model })
}

/** A tool that requires approval, and a model that wants to pay 100. */
function payers() {
  const paid: number[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays',
    input: Type.Object({ amount: Type.Number(), to: Type.String() }),
    requireApproval: true,
    execute: ({ amount }) => {
      paid.push(amount)
      return `paid ${amount}`
    },
  })
  const model = scriptedModel(({ messages }: ModelRequest) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return `Done: ${last.content}`
    return { toolCalls: [{ name: 'pay', arguments: { amount: 100, to: 'Ada' } }] }
  })
  const settle = task({ name: 'settle', description: 'Settle the bill', tools: [pay] })
  return { paid, pay, ensemble: ensemble({ name: 'payers', tasks: [settle], model }) }
}

let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser.close()
})

/** Submits a run and shows it; the page must not report errors. */
async function watch(
  stage: ServedDashboard,
  runId: string,
  use: (visit: Visit & { readonly panel: Locator }) => Promise<void>,
): Promise<void> {
  await visit(browser, `${stage.url}/#/runs/${runId}`, {
    use: async (visited) => {
      await use({ ...visited, panel: visited.page.getByRole('region', { name: /^Review of / }) })
      expect(visited.complaints).toEqual([])
    },
  })
}

function submit(stage: ServedDashboard, name: string): Promise<string> {
  return stage.client.runs.submit({ ensemble: name }).then(({ runId }) => runId)
}

async function endOf(stage: ServedDashboard, runId: string) {
  const { status, outputs } = await stage.client.runs.result(runId)
  return { status, outputs: Object.fromEntries(outputs.map((one) => [one.taskName, one.output])) }
}

/** Waits for the review of a run. */
async function reviewOf(stage: ServedDashboard, runId: string): Promise<string> {
  for await (const event of stage.client.runs.events(runId, { events: ['review_requested'] })) {
    return event.reviewId
  }
  throw new Error('There is no review')
}

describe('a review after a task', () => {
  it('A review after a task shows the output, the question and the deadline, and continues the run after approval', async () => {
    await using stage = await openDashboard({ ensembles: [poems()] })
    const runId = await submit(stage, 'poems')
    await watch(stage, runId, async ({ page, panel }) => {
      await panel.getByText('Is it good enough to print?').waitFor()
      expect(await panel.getByRole('group', { name: 'Output' }).innerText()).toContain(
        'Boats sleep.',
      )
      expect(await panel.getByRole('time').or(panel.locator('time')).innerText()).toMatch(/left$/)
      await panel.getByText(/If no decision is made in time, the run ends early/).waitFor()
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BODY')
      await page
        .getByRole('status')
        .filter({ hasText: 'Review of draft needs a decision' })
        .waitFor()
      await panel.getByRole('button', { name: 'Approve' }).click()
      await panel.waitFor({ state: 'detached' })
      await page.getByText('Review of draft: approved').waitFor()
      expect(await page.getByText('Another reviewer').count()).toBe(0)
    })
    expect((await endOf(stage, runId)).outputs).toMatchObject({ draft: FIRST })
  })

  it('A review after a task shows its buttons together with its subject, so that they do not move under the pointer', async () => {
    await using stage = await openDashboard({ ensembles: [poems()] })
    const runId = await submit(stage, 'poems')
    const library = Promise.withResolvers<void>()
    await visit(browser, stage.url, {
      use: async ({ page }) => {
        await page.route('**/assets/markdown-*.js', async (route) => {
          await library.promise
          await route.continue()
        })
        await page.goto(`${stage.url}/#/runs/${runId}`)
        const panel = page.getByRole('region', { name: 'Review of draft' })
        await panel.getByText('Loading review').waitFor()
        expect(await panel.getByRole('button').count()).toBe(0)
        library.resolve()
        await panel.getByRole('button', { name: 'Approve' }).waitFor()
        const output = panel.getByRole('group', { name: 'Output' })
        expect(await output.innerText()).toBe('The harbor is quiet. Boats sleep.')
      },
    })
  })

  it('A review after a task is edited next to a diff', async () => {
    await using stage = await openDashboard({ ensembles: [poems()] })
    const runId = await submit(stage, 'poems')
    await watch(stage, runId, async ({ page, panel }) => {
      await panel.getByRole('button', { name: 'Edit…' }).click()
      const editor = panel.getByRole('textbox', { name: 'Output' })
      await expect.poll(() => editor.inputValue()).toBe(FIRST)
      const send = panel.getByRole('button', { name: 'Approve with changes' })
      expect(await send.isDisabled()).toBe(true)
      await editor.fill(FIRST.replace('sleep', 'dream'))
      const changes = panel.getByRole('group', { name: 'Changes' })
      await changes.waitFor()
      await expect.poll(() => changes.locator('del').allInnerTexts()).toEqual(['sleep'])
      await expect.poll(() => changes.locator('ins').allInnerTexts()).toEqual(['dream'])
      await page.getByRole('tab', { name: 'Costs' }).click()
      expect(await editor.inputValue()).toContain('Boats dream.')
      await send.click()
      await panel.waitFor({ state: 'detached' })
    })
    const { outputs } = await endOf(stage, runId)
    expect(outputs['draft']).toBe(FIRST.replace('sleep', 'dream'))
  })

  it('A review after a task is rejected with feedback, and the task is repeated with it', async () => {
    await using stage = await openDashboard({ ensembles: [poems()] })
    const runId = await submit(stage, 'poems')
    await watch(stage, runId, async ({ page, panel }) => {
      await panel.getByRole('button', { name: 'Reject…' }).click()
      await panel.getByText('The agent repeats the task with your feedback.').waitFor()
      await panel.getByRole('textbox').fill('It needs more gulls')
      await panel.getByRole('button', { name: 'Reject', exact: true }).click()
      await panel.getByText('attempt 2').waitFor()
      await panel.getByText('A second harbor, with more gulls.').waitFor()
      await panel.getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('tab', { name: 'Steering' }).click()
      const acts = page.getByRole('list', { name: 'Steering log' }).getByRole('listitem')
      await expect.poll(() => acts.count()).toBe(2)
      await expect
        .poll(() => acts.first().innerText())
        .toMatch(/rejected draft[^]*It needs more gulls/)
    })
    expect((await endOf(stage, runId)).outputs['draft']).toContain('more gulls')
  })

  it('A review after a task ends the run early, after explaining the effect', async () => {
    await using stage = await openDashboard({ ensembles: [poems()] })
    const runId = await submit(stage, 'poems')
    await watch(stage, runId, async ({ panel }) => {
      await panel.getByRole('button', { name: 'End run early…' }).click()
      await panel.getByText(/no further task starts/).waitFor()
      await panel.getByRole('button', { name: 'Back' }).click()
      const button = panel.getByRole('button', { name: 'End run early…' })
      await expect.poll(() => button.evaluate((one) => one === document.activeElement)).toBe(true)
      await button.click()
      await panel.getByRole('button', { name: 'End the run' }).click()
      await panel.waitFor({ state: 'detached' })
    })
    expect((await endOf(stage, runId)).outputs).toEqual({ draft: FIRST })
  })
})

describe('a review before a task or of a tool call', () => {
  it('The panel of a review before a task or of a tool call can change the description of the task', async () => {
    await using stage = await openDashboard({ ensembles: [allowed()] })
    const runId = await submit(stage, 'diggers')
    await watch(stage, runId, async ({ panel }) => {
      await panel.getByText('before the task starts').waitFor()
      await panel.getByRole('button', { name: 'Edit…' }).click()
      const editor = panel.getByRole('textbox', { name: 'Task description' })
      await editor.fill('Dig a deep hole')
      await panel.getByRole('button', { name: 'Approve with changes' }).click()
      await panel.waitFor({ state: 'detached' })
    })
    expect((await endOf(stage, runId)).outputs['dig']).toBe('Dig a deep hole')
  })

  it('The panel of a review before a task or of a tool call shows the input of a tool, and edits it in a form of its schema or as JSON', async () => {
    const { paid, pay, ensemble: payer } = payers()
    await using stage = await openDashboard({ ensembles: [payer], tools: [pay] })
    const runId = await submit(stage, 'payers')
    await visit(browser, `${stage.url}/#/runs/${runId}`, {
      use: async ({ page }) => {
        const panel = page.getByRole('region', { name: 'Review of settle' })
        const input = panel.getByRole('group', { name: 'Input of pay' })
        await input.getByText('Ada').waitFor()
        await panel.getByRole('button', { name: 'Edit…' }).click()
        const amount = panel.getByRole('textbox', { name: 'amount' })
        await expect
          .poll(() => amount.evaluate((input) => input === document.activeElement))
          .toBe(true)
        const send = panel.getByRole('button', { name: 'Approve with changes' })
        expect(await send.isDisabled()).toBe(true)
        await amount.fill('much')
        await panel.getByText('Must be a number, got "much"').waitFor()
        await panel.getByRole('radio', { name: 'JSON' }).check()
        const editor = panel.getByRole('textbox', { name: 'Input of pay as JSON' })
        await editor.fill('{ "amount": 5, "to": "Ada"')
        await panel.getByText(/^Is not valid JSON/).waitFor()
        await expect.poll(() => editor.getAttribute('aria-invalid')).toBe('true')
        expect(await send.isDisabled()).toBe(true)
        await editor.fill('{ "amount": 6, "to": "Ada" }')
        await panel.getByRole('radio', { name: 'Form' }).check()
        await expect.poll(() => amount.inputValue()).toBe('6')
        expect(paid).toEqual([])
        await amount.fill('5')
        await amount.press('Control+Enter')
        await panel.waitFor({ state: 'detached' })
      },
    })
    expect((await endOf(stage, runId)).outputs['settle']).toMatch(
      /^Done: A reviewer changed the input of this call to {"amount":5,"to":"Ada"}[^]+paid 5$/,
    )
    expect(paid).toEqual([5])
  })
})

describe('several reviews', () => {
  it('Several reviews are shown as one panel and folded rows, and keep unsent text', async () => {
    const model = writer()
    const tasks = ['north', 'south'].map((name) =>
      task({ name, description: `Write of the ${name}`, review: true }),
    )
    const pair = ensemble({ name: 'pair', tasks, model, workflow: 'PARALLEL' })
    await using stage = await openDashboard({ ensembles: [pair] })
    const runId = await submit(stage, 'pair')
    await watch(stage, runId, async ({ page, panel }) => {
      await expect.poll(() => panel.count()).toBe(2)
      const [first, second] = [panel.first(), panel.last()]
      await first.getByRole('button', { name: 'Reject…' }).click()
      await first.getByRole('textbox').fill('more wind')
      expect(await second.getByRole('button', { name: 'Approve' }).count()).toBe(0)
      await second.getByRole('button', { name: 'Show' }).click()
      await second.getByRole('button', { name: 'Approve' }).click()
      await expect.poll(() => panel.count()).toBe(1)
      stage.cut()
      await page.getByRole('link', { name: /^Reviews/ }).click()
      const toRun = page.getByRole('link', { name: runId })
      // Until it is connected again, the page may still list the decided review.
      await expect.poll(() => toRun.count()).toBe(1)
      await toRun.click()
      await expect.poll(() => panel.getByRole('textbox').inputValue()).toBe('more wind')
      await stage.client.runs.cancel(runId)
      const note = page.getByRole('status').filter({ hasText: 'Withdrawn' })
      await note.getByText('more wind').waitFor()
    })
  })
})

describe('another reviewer', () => {
  it("Another reviewer decides while the reader watches or writes, without losing the reader's text", async () => {
    const clara = apiKey('clara-key', { name: 'clara' })
    await using stage = await openDashboard({
      ensembles: [poems()],
      apiKeys: [
        clara,
        apiKey('otto-key', { name: 'otto' }),
        apiKey('reader-key', { name: 'reader', scopes: ['runs:read'] }),
      ],
      key: 'clara-key',
    })
    const runId = await submit(stage, 'poems')
    const reviewId = await reviewOf(stage, runId)
    await withKey(stage, 'reader-key', `#/runs/${runId}`, async (page) => {
      const panel = page.getByRole('region', { name: 'Review of draft' })
      await panel.getByText('Your key can read reviews, but not decide them.').waitFor()
      for (const name of ['Approve', 'Edit…', 'Reject…', 'End run early…']) {
        expect(await panel.getByRole('button', { name }).isDisabled()).toBe(true)
      }
    })
    await withKey(stage, 'otto-key', `#/runs/${runId}`, async (page) => {
      const panel = page.getByRole('region', { name: 'Review of draft' })
      await panel.getByRole('button', { name: 'Edit…' }).click()
      await panel.getByRole('textbox', { name: 'Output' }).fill('My own harbor')
      await stage.client.reviews.decide(reviewId, { decision: 'REJECT', feedback: 'more wind' })
      const note = page.getByRole('status').filter({ hasText: 'Another reviewer decided' })
      await note.getByText(/clara rejected it/).waitFor()
      await note.getByText('more wind').waitFor()
      await note.getByText('My own harbor').waitFor()
      await note.getByRole('button', { name: 'Copy your text' }).waitFor()
      await page.getByText('A second harbor, with more wind.').first().waitFor()
      await note.getByRole('button', { name: /^Dismiss/ }).click()
      await note.waitFor({ state: 'detached' })
    })
    await stage.client.runs.cancel(runId)
  })

  it('Another reviewer decides first: the response reports it, and the run shows who', async () => {
    await using stage = await openDashboard({ ensembles: [poems()] })
    const runId = await submit(stage, 'poems')
    const reviewId = await reviewOf(stage, runId)
    await visit(browser, `${stage.url}/#/runs/${runId}`, {
      use: async ({ page }) => {
        const panel = page.getByRole('region', { name: 'Review of draft' })
        await panel.getByRole('button', { name: 'Approve' }).waitFor()
        // The page receives no events, but its requests succeed.
        await page.route('**/api/reviews/**', async (route) => {
          await stage.client.reviews.decide(reviewId, { decision: 'EXIT_EARLY' })
          await route.continue()
        })
        await panel.getByRole('button', { name: 'Approve' }).click()
        const note = page.getByRole('status').filter({ hasText: 'Another reviewer decided' })
        await note.getByText(/Ended the run early/).waitFor()
      },
    })
  })

  it('Another reviewer misses the deadline, and the panel shows the outcome', async () => {
    const begin = Promise.withResolvers<void>()
    const review = { timeoutMs: 2_000, onTimeout: 'CONTINUE' } as const
    const count = task({
      name: 'count',
      description: 'Count the boats',
      review,
      handler: async () => {
        await begin.promise
        return 'Seven'
      },
    })
    await using stage = await openDashboard({
      ensembles: [ensemble({ name: 'counters', tasks: [count] })],
    })
    const runId = await submit(stage, 'counters')
    await watch(stage, runId, async ({ page }) => {
      await page.getByRole('tab', { name: 'Steering' }).waitFor()
      begin.resolve()
      await page.getByText(/Timed out: continued without a decision/).waitFor()
    })
  })
})

describe('the page of all reviews', () => {
  it('The page of all reviews sorts them by deadline, updates them by events, and decides in place', async () => {
    const { pay, ensemble: payer } = payers()
    const slow = poems({ prompt: 'Print it?', timeoutMs: 3_600_000 })
    await using stage = await openDashboard({ ensembles: [slow, payer], tools: [pay] })
    const slowId = await submit(stage, 'poems')
    await reviewOf(stage, slowId)
    await visit(browser, `${stage.url}/#/reviews`, {
      use: async ({ page, requests, complaints }) => {
        const rows = page.getByRole('list', { name: 'Reviews' }).getByRole('listitem')
        await rows.filter({ hasText: 'Print it?' }).waitFor()
        const link = page.getByRole('link', { name: /^Reviews/ })
        await expect.poll(() => link.innerText()).toContain('1')
        const payId = await submit(stage, 'payers')
        await expect.poll(() => rows.count()).toBe(2)
        await expect.poll(() => rows.first().innerText()).toContain(payId)
        await expect.poll(() => link.innerText()).toContain('2')
        await page.getByRole('status').filter({ hasText: '2 open reviews' }).waitFor()
        await rows.first().getByRole('button', { name: 'Decide' }).click()
        await rows.first().getByRole('button', { name: 'Approve' }).click()
        await rows.first().getByText('Approved', { exact: true }).waitFor()
        await expect.poll(() => focused(page)).toBe('Dismiss')
        expect((await endOf(stage, payId)).status).toBe('COMPLETED')
        await page.getByRole('button', { name: 'Clear 1 closed' }).click()
        await expect.poll(() => rows.count()).toBe(1)
        // Once at first, and once for the details of the run that the event lacks.
        expect(requests.filter((one) => one === 'GET /api/reviews')).toHaveLength(2)
        expect(complaints).toEqual([])
        await stage.client.runs.cancel(slowId)
        await rows.getByText(/Withdrawn/).waitFor()
        await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
        await page.getByText('No open reviews').first().waitFor()
      },
    })
  })

  it('The page of all reviews shows the input of a tool for an earlier review, and after a lost connection', async () => {
    const { paid, pay, ensemble: payer } = payers()
    await using stage = await openDashboard({ ensembles: [payer], tools: [pay] })
    const runId = await submit(stage, 'payers')
    await reviewOf(stage, runId)
    await visit(browser, `${stage.url}/#/reviews`, {
      use: async ({ page, requests }) => {
        const rows = page.getByRole('list', { name: 'Reviews' }).getByRole('listitem')
        await rows.getByText('settle · before a tool call').waitFor()
        await rows.getByRole('button', { name: 'Decide' }).click()
        await rows.getByRole('group', { name: 'Input of pay' }).getByText('Ada').waitFor()
        expect(requests.filter((one) => one.includes('/events'))).toEqual([])
        await rows.getByRole('button', { name: 'Edit…' }).click()
        const editor = rows.getByRole('textbox', { name: 'amount' })
        await editor.fill('7')
        stage.cut({ stay: true })
        const other = await submit(stage, 'payers')
        await reviewOf(stage, other)
        stage.restore()
        await expect.poll(() => rows.count()).toBe(2)
        expect(await editor.inputValue()).toBe('7')
        await rows.getByRole('button', { name: 'Approve with changes' }).click()
        await rows.getByText('Edited').waitFor()
        expect(paid).toEqual([7])
        await stage.client.runs.cancel(other)
      },
    })
  })
})

describe('with the keyboard only', () => {
  it('A reader with the keyboard only finds the review, rejects it with feedback, and approves the next one', async () => {
    await using stage = await openDashboard({ ensembles: [poems()] })
    const runId = await submit(stage, 'poems')
    await watch(stage, runId, async ({ page, panel }) => {
      await panel.waitFor()
      await tabTo(page, 'Reject…')
      await page.keyboard.press('Enter')
      const words = panel.getByRole('textbox')
      await expect.poll(() => words.evaluate((one) => one === document.activeElement)).toBe(true)
      await page.keyboard.type('more gulls')
      await page.keyboard.press('Escape')
      await expect.poll(() => focused(page)).toBe('Reject…')
      await page.keyboard.press('Space')
      await expect.poll(() => panel.getByRole('textbox').inputValue()).toBe('more gulls')
      await page.keyboard.press('Control+Enter')
      await panel.getByText('attempt 2').waitFor()
      await tabTo(page, 'Approve')
      await page.keyboard.press('Enter')
      await panel.waitFor({ state: 'detached' })
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY')
    })
    expect((await endOf(stage, runId)).status).toBe('COMPLETED')
  })
})

async function withKey(
  stage: ServedDashboard,
  key: string,
  hash: string,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  await visit(browser, `${stage.url}/favicon.svg`, {
    use: async ({ page }) => {
      await page.evaluate((value) => sessionStorage.setItem('tutti.key', value), key)
      await page.goto(`${stage.url}/${hash}`)
      await use(page)
    },
  })
}

function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent ?? '')
}

/** Presses Tab until the button with this name has the focus; a page has fewer than 100 stops. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let stops = 0; stops < 100; stops += 1) {
    await page.keyboard.press('Tab')
    if ((await focused(page)) === name) return
  }
  throw new Error(`Tab does not come to "${name}"`)
}

/** Submitting runs by hand at every level, with problems shown at their fields. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { taskVariables } from '@tutti/ensemble/internal'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { findVariables } from '../src/features/submit/variables.ts'
import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Locator, Page } from 'playwright-core'

const model = scriptedModel(() => '{"done":true}')
const tools = ['calculator', 'search'].map((name) =>
  defineTool({ name, description: name, input: Type.Object({}), execute: () => 'found' }),
)
const research = task({
  name: 'research',
  description: 'Research {topic} for {audience}',
  tools: tools.slice(0, 1),
})
const write = task({ name: 'write', description: 'Write on {topic}', context: [research] })
const press = ensemble({ name: 'press', description: 'An essay', tasks: [research, write], model })
const play = task({ name: 'play', description: 'Play {piece}' })
const solo = ensemble({ name: 'solo', tasks: [play], model })

let browser: Browser
let stage: ServedDashboard

beforeAll(async () => {
  browser = await launchBrowser()
  stage = await openDashboard({
    ensembles: [press, solo],
    tools,
    models: { small: model, large: model },
  })
})

afterAll(async () => {
  await browser.close()
  await stage[Symbol.asyncDispose]()
})

/** Opens the form and runs a story during which the page must not report errors. */
async function story(
  tell: (page: Page) => Promise<void>,
  { place = '#/new', complaints: allowed = [] as readonly RegExp[] } = {},
): Promise<void> {
  await visit(browser, `${stage.url}/${place}`, {
    async use({ page, complaints }) {
      await page.getByRole('heading', { name: 'New run' }).waitFor()
      await tell(page)
      const others = complaints.filter((text) => !allowed.some((one) => one.test(text)))
      expect(others).toEqual([])
    },
  })
}

/** The message that the browser logs for a rejected request. */
const REFUSED = /status of 4\d\d/

const field = (page: Page | Locator, name: string) =>
  page.getByRole('textbox', { name, exact: true })

async function submit(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Submit run' }).click()
}

/** Returns the run that the page went to, when it has ended: a run without a process has no tasks yet. */
async function runOf(page: Page) {
  await page.waitForURL(/#\/runs\//)
  const runId = decodeURIComponent(page.url().split('/').at(-1) ?? '')
  await stage.client.runs.result(runId)
  return stage.client.runs.get(runId)
}

/** Returns the accessible description of a control. */
function readDescription(control: Locator): Promise<string> {
  // In one step, because the description may change.
  return control.evaluate((element) =>
    (element.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.innerText ?? '')
      .join(' '),
  )
}

describe('level 1', () => {
  it('Level 1 of the submission form asks for the inputs, shows them in the tasks, and starts the run', async () => {
    await story(async (page) => {
      await field(page, 'topic').fill('Bees')
      const tasks = page.getByRole('listitem').filter({ hasText: 'Research' })
      await expect.poll(() => tasks.innerText()).toContain('Research Bees for {audience}')
      await field(page, 'audience').fill('Bears')
      await page.getByText('Options', { exact: true }).click()
      await page.getByLabel('Review policy').selectOption('Never')
      await page.getByRole('button', { name: 'Add tag' }).click()
      await field(page, 'Name of tag 1').fill('team')
      await field(page, 'Value of tag 1').fill('a')
      await submit(page)
      const run = await runOf(page)
      expect(run).toMatchObject({
        ensemble: 'press',
        inputs: { topic: 'Bees', audience: 'Bears' },
        tags: { team: 'a' },
        options: { reviewPolicy: 'NEVER' },
      })
      expect(run.tasks.map(({ name }) => name)).toEqual(['research', 'write'])
    })
  })

  it('Level 1 of the submission form shows a missing input at its field, and focuses it', async () => {
    await story(async (page) => {
      await field(page, 'topic').fill('Bees')
      await expect.poll(() => readDescription(field(page, 'audience'))).toBe('')
      await submit(page)
      const summary = page.getByRole('group', { name: 'Problems' })
      await expect.poll(() => summary.evaluate((box) => box === document.activeElement)).toBe(true)
      await expect.poll(() => summary.innerText()).toContain('1 problem to fix')
      await expect.poll(() => readDescription(field(page, 'audience'))).toContain('Is required')
      await expect.poll(() => field(page, 'audience').getAttribute('aria-invalid')).toBe('true')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      const isThere = (): Promise<boolean> =>
        field(page, 'audience').evaluate((input) => input === document.activeElement)
      await expect.poll(isThere).toBe(true)
      await page.keyboard.type('Bears')
      await expect.poll(() => field(page, 'audience').inputValue()).toBe('Bears')
      await expect.poll(() => summary.count()).toBe(0)
    })
  })

  it('Level 1 of the submission form starts one run if it is submitted twice or the response is lost', async () => {
    await story(
      async (page) => {
        const before = (await stage.client.runs.list()).total
        await page.getByLabel('Ensemble', { exact: true }).selectOption('solo')
        await field(page, 'piece').fill('A waltz')
        // The client retries three times; the fourth attempt is manual.
        let lost = 3
        await page.route('**/api/runs', async (route) => {
          if (lost === 0 || route.request().method() !== 'POST') return route.fallback()
          lost -= 1
          // The server receives it, but its response is lost.
          await route.fetch()
          await route.abort('connectionreset')
        })
        await page.getByRole('button', { name: 'Submit run' }).dblclick()
        await page.getByRole('alert').filter({ hasText: 'Failed to submit the run' }).waitFor()
        expect(lost).toBe(0)
        await submit(page)
        const run = await runOf(page)
        expect(run.inputs).toEqual({ piece: 'A waltz' })
        expect((await stage.client.runs.list()).total).toBe(before + 1)
      },
      { complaints: [/ERR_CONNECTION_RESET/] },
    )
  })
})

describe('level 2', () => {
  it('Level 2 of the submission form overrides tasks of the ensemble for this run', async () => {
    await story(async (page) => {
      await page.getByRole('radio', { name: 'Override tasks' }).check()
      await field(page, 'topic').fill('Bees')
      await page.getByText('research', { exact: true }).click()
      const editor = page.getByRole('group').filter({ hasText: 'Research Bees' }).last()
      await field(editor, 'Description').fill('Look into {topic} in {place}')
      await field(page, 'place').fill('Bonn')
      await field(page, 'audience').fill('Bears')
      await editor.getByLabel('Model', { exact: true }).selectOption('large')
      await field(editor, 'Maximum model calls').fill('3')
      await editor.getByLabel('Tools to add').selectOption('search')
      await editor.getByLabel('Tools to remove').selectOption('calculator')
      await submit(page)
      const { runId, inputs } = await runOf(page)
      expect(inputs).toMatchObject({ topic: 'Bees', place: 'Bonn' })
      const { tasks } = await stage.client.runs.get(runId)
      expect(tasks[0]).toMatchObject({ name: 'research' })
      const given = await taskInput(runId, 'research')
      expect(given).toMatchObject({ taskDescription: 'Look into Bees in Bonn' })
    })
  })

  it('Level 2 of the submission form keeps the input when the level or the ensemble changes, and when the reader leaves', async () => {
    await story(async (page) => {
      await page.getByRole('radio', { name: 'Override tasks' }).check()
      await page.getByText('write', { exact: true }).click()
      const editor = page.getByRole('group').filter({ hasText: 'Write on' }).last()
      await field(editor, 'Expected output').fill('Ten pages')
      await page.getByLabel('Ensemble', { exact: true }).selectOption('solo')
      await field(page, 'piece').fill('A waltz')
      await page.getByLabel('Ensemble', { exact: true }).selectOption('press')
      await page.getByRole('radio', { name: 'Define tasks' }).check()
      await page.getByRole('radio', { name: 'Override tasks' }).check()
      await page.getByText('Changed: expected output').waitFor()
      await page.getByRole('link', { name: 'Tools' }).click()
      await page.goBack()
      await page.getByText('Changed: expected output').waitFor()
      await page.reload()
      await page.getByText('Changed: expected output').waitFor()
      await page.getByRole('button', { name: 'Discard' }).click()
      await expect.poll(() => page.getByText('Changed: expected output').count()).toBe(0)
      await expect.poll(() => page.evaluate(() => sessionStorage.length)).toBe(0)
    })
  })

  it("Level 2 of the submission form shows the server's problems at their fields until these change", async () => {
    await story(
      async (page) => {
        await page.getByText('Options', { exact: true }).click()
        await field(page, 'topic').fill('Bees')
        await field(page, 'audience').fill('Bears')
        const { runId } = await stage.client.runs.submit({
          ensemble: 'solo',
          inputs: { piece: 'A' },
        })
        await field(page, 'Run id').fill(runId)
        await field(page, 'Webhooks').fill('nobody')
        await submit(page)
        await expect
          .poll(() => readDescription(field(page, 'Webhooks')))
          .toContain("Unknown webhook 'nobody'")
        const summary = page.getByRole('group', { name: 'Problems' })
        await expect
          .poll(() => summary.evaluate((box) => box === document.activeElement))
          .toBe(true)
        await field(page, 'Webhooks').fill('')
        await expect.poll(() => summary.count()).toBe(0)
        await submit(page)
        await expect.poll(() => readDescription(field(page, 'Run id'))).toContain(runId)
        await field(page, 'Run id').fill(`${runId}-b`)
        await submit(page)
        expect((await runOf(page)).runId).toBe(`${runId}-b`)
      },
      { complaints: [REFUSED] },
    )
  })
})

describe('level 3', () => {
  it('Level 3 of the submission form runs tasks defined in the form, in the order of their dependencies', async () => {
    await story(async (page) => {
      await page.getByRole('radio', { name: 'Define tasks' }).check()
      const first = page.getByRole('region', { name: 'Task 1' })
      const second = page.getByRole('region', { name: 'Task 2' })
      await field(first, 'Name').fill('look')
      await field(first, 'Description').fill('Look at {where}')
      await first.getByLabel('Tools', { exact: true }).selectOption('search')
      await first.getByRole('button', { name: 'Duplicate look' }).click()
      await field(second, 'Name').fill('sum')
      await field(second, 'Description').fill('Sum up')
      await second.getByRole('button', { name: 'Deselect search' }).click()
      await second.getByLabel('Depends on', { exact: true }).selectOption('look')
      await second.getByText('More settings').click()
      await field(second, 'Output schema').fill('{"type":"object","required":["done"]}')
      await field(page, 'where').fill('Bonn')
      await second.getByRole('button', { name: 'Move sum up' }).click()
      await submit(page)
      const run = await runOf(page)
      expect(run).toMatchObject({ workflow: 'PARALLEL', inputs: { where: 'Bonn' } })
      expect(run.tasks.map(({ name }) => name)).toEqual(['sum', 'look'])
      const begun: string[] = []
      for await (const event of stage.client.runs.events(run.runId, { events: ['task_started'] })) {
        begun.push(event.taskName)
      }
      expect(begun).toEqual(['look', 'sum'])
      const { outputs } = await stage.client.runs.result(run.runId, { throwOnFailure: true })
      expect(outputs.find(({ taskName }) => taskName === 'sum')?.output).toBe('{"done":true}')
    })
  })

  it('Level 3 of the submission form reports a cycle at once, and an invalid schema at its field', async () => {
    await story(
      async (page) => {
        await page.getByRole('radio', { name: 'Define tasks' }).check()
        await page.getByRole('button', { name: 'Add task' }).click()
        const first = page.getByRole('region', { name: 'Task 1' })
        const second = page.getByRole('region', { name: 'Task 2' })
        await field(first, 'Description').fill('A')
        await field(second, 'Description').fill('B')
        await second.getByLabel('Depends on', { exact: true }).selectOption('Task 1')
        await first.getByLabel('Depends on', { exact: true }).selectOption('Task 2')
        await expect
          .poll(() => readDescription(first.getByLabel('Depends on', { exact: true })))
          .toContain('cycle: Task 1 › Task 2 › Task 1')
        await first.getByRole('button', { name: 'Deselect Task 2' }).click()
        await first.getByText('More settings').click()
        const schema = field(first, 'Output schema')
        await schema.fill('{"type": ')
        await expect.poll(() => readDescription(schema)).toContain('Is not valid JSON')
        await schema.fill('{"type": "strin"}')
        await submit(page)
        await expect.poll(() => readDescription(schema)).toContain('Invalid output schema:')
      },
      { complaints: [REFUSED] },
    )
  })

  it("Level 3 of the submission form accepts JSON, and shows the server's problems in it at the fields", async () => {
    await story(
      async (page) => {
        await page.getByRole('radio', { name: 'JSON' }).check()
        const text = field(page, 'Body as JSON')
        await text.fill('{"tasks": [')
        await expect.poll(() => readDescription(text)).toContain('The request is not valid JSON')
        await page
          .getByRole('radio', { name: 'Form' })
          .check({ force: true })
          .catch(() => undefined)
        await page.getByText('The form cannot show this request').waitFor()
        await text.fill('{"tasks": [{"description": 5}]}')
        await expect
          .poll(() => readDescription(text))
          .toContain('/tasks/0/description must be a string, got 5')
        await text.fill('{"tasks": [{"name": "a", "description": "A", "tools": ["hammer"]}]}')
        await submit(page)
        await expect
          .poll(() => readDescription(text))
          .toContain("/tasks/0/tools/0 Unknown tool 'hammer'")
        await page.getByRole('radio', { name: 'Form' }).check()
        const own = page.getByRole('region', { name: 'Task 1' })
        await expect
          .poll(() => readDescription(own.getByLabel('Tools', { exact: true })))
          .toContain('hammer')
        await own.getByRole('button', { name: 'Deselect hammer' }).click()
        await submit(page)
        expect((await runOf(page)).tasks.map(({ name }) => name)).toEqual(['a'])
      },
      { complaints: [REFUSED] },
    )
  })
})

describe('a repeated run', () => {
  it('A repeated run starts with the ensemble, inputs, tags, options and budget of the original', async () => {
    const { runId } = await stage.client.runs.submit({
      ensemble: 'solo',
      inputs: { piece: 'A waltz' },
      tags: { team: 'b' },
      options: { captureMode: 'FULL' },
      budget: { maxToolCalls: 7 },
    })
    await story(
      async (page) => {
        await page.getByText('Copied the ensemble, inputs, tags, options and budget').waitFor()
        await expect.poll(() => field(page, 'piece').inputValue()).toBe('A waltz')
        await field(page, 'Maximum model calls').fill('9')
        await submit(page)
        expect(await runOf(page)).toMatchObject({
          ensemble: 'solo',
          inputs: { piece: 'A waltz' },
          tags: { team: 'b' },
          options: { captureMode: 'FULL' },
          budget: { maxToolCalls: 7, maxModelCalls: 9 },
        })
      },
      { place: `#/new?from=${runId}` },
    )
  })

  it('A repeated run reports that the original does not exist', async () => {
    await story(
      async (page) => {
        await page.getByText('Failed to load run "nobody"').waitFor()
        await field(page, 'topic').waitFor()
      },
      { place: '#/new?from=nobody', complaints: [REFUSED] },
    )
  })
})

describe('the request preview', () => {
  it('The request preview shows the sent body, as JSON and as a command without the key', async () => {
    await story(async (page) => {
      await field(page, 'topic').fill("Bee's")
      await page.getByText('Command').click()
      const command = page.getByText('curl -X POST')
      await expect.poll(() => command.innerText()).toContain(`${stage.url}/api/runs`)
      await expect.poll(() => command.innerText()).toContain(String.raw`Bee'\''s`)
    })
  })
})

describe('variables of texts', () => {
  it.each([
    '{a} {b} {a}',
    '{{a}} {b}',
    '{{{a}}}',
    '{a b} {} {ä} {a1_}',
    '{a',
    'a}',
    '{{a}',
    '{a}}',
  ])('Variables of texts are those that the server finds: %s', (text) => {
    expect(findVariables(text)).toEqual(taskVariables(task({ description: text })))
  })
})

/** Returns the input of the agent of a task. */
async function taskInput(runId: string, name: string) {
  for await (const event of stage.client.runs.events(runId, { events: ['task_started'] })) {
    if (event.taskName === name) return event
  }
  throw new Error(`Task "${name}" has not begun`)
}

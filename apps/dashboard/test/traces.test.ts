import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { defineTool, Type } from '@tutti/core'
import { agent, ensemble, task } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { runStateAfter, type LoggedRunEvent, type RunState } from '@tutti/protocol'
import type { TaskState } from '@tutti/protocol/internal'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { toRunState } from '../src/features/trace-files/trace-state.ts'
import { launchBrowser, openDashboard, visit, type ServedDashboard } from './open-dashboard.ts'

import type { Browser, Page } from 'playwright-core'

let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser.close()
})

const FIXTURE = fileURLToPath(
  new URL('../../../packages/protocol/fixtures/valid/ExecutionTrace.full.json', import.meta.url),
)

const price = defineTool({
  name: 'price',
  description: 'Says what a song costs',
  input: Type.Object({ song: Type.String() }),
  output: Type.Object({ cents: Type.Number() }),
  execute: ({ song }) => {
    if (song === 'lost') throw new Error('Nobody knows this song')
    return { cents: song.length }
  },
})

/** Traces do not contain the cost of a turn. */
const UNPRICED = { provider: 'scripted' }

/** Two calls in the first turn (one fails), then an answer; the first attempt can fail. */
function model() {
  return scriptedModel(({ messages, tools }: ModelRequest) => {
    const said = JSON.stringify(messages)
    if (said.includes('Stumble')) return new Error('Out of breath')
    if (tools.length === 0) return `An evening for ${said.includes('Bach') ? 'Bach' : 'all'}`
    if (messages.at(-1)?.role === 'tool') return 'Night song, for ten cents'
    const calls = ['night song', 'lost'].map((song) => ({ name: 'price', arguments: { song } }))
    return { text: 'I look at the prices', toolCalls: calls }
  }, UNPRICED)
}

function evening() {
  const choose = task({ name: 'choose', description: 'Choose by {composer}', tools: [price] })
  const plan = task({
    name: 'plan',
    description: 'Plan an evening',
    expectedOutput: 'A list',
    context: [choose],
  })
  const stumble = task({ name: 'stumble', description: 'Stumble', retries: 1 })
  const sing = task({
    name: 'sing',
    description: 'Sing for {composer}',
    agent: agent({ role: 'Choir', goal: 'Sing' }),
  })
  return openDashboard({
    ensembles: [
      ensemble({ name: 'evening', tasks: [choose, plan], model: model() }),
      ensemble({ name: 'fall', tasks: [choose, stumble], model: model() }),
      ensemble({
        name: 'choir',
        tasks: [sing],
        workflow: 'HIERARCHICAL',
        model: scriptedModel(({ messages, tools }: ModelRequest) => {
          if (tools.length === 0) return 'La la'
          if (messages.at(-1)?.role === 'tool') return 'They have sung'
          const work = { agentRole: 'Choir', taskDescription: 'Sing softly' }
          return { toolCalls: [{ name: 'delegate_task', arguments: work }] }
        }, UNPRICED),
      }),
    ],
  })
}

async function eventsOf(stage: ServedDashboard, runId: string): Promise<readonly LoggedRunEvent[]> {
  const events: LoggedRunEvent[] = []
  for await (const event of stage.client.runs.events(runId)) events.push(event)
  return events
}

/** The parts of a task that a trace contains. */
function heldOf(task: TaskState): object {
  const { name, index, description, agentRole, status, attempt, expectedOutput, output } = task
  const { startedAt, completedAt, durationMs, structuredOutput, usage } = task
  return {
    name,
    index,
    description,
    agentRole,
    status,
    attempt,
    expectedOutput,
    output,
    startedAt,
    completedAt,
    durationMs,
    structuredOutput,
    usage,
    error: task.error === undefined ? undefined : [task.error.reason, task.error.code],
    earlierAttempts: task.earlierAttempts,
    turns: task.turns
      .filter(({ status }) => status === 'COMPLETED')
      .map(({ totalMessageCount: _, failures: __, toolCalls, ...turn }) => ({
        ...turn,
        toolCalls: toolCalls.toSorted((left, right) => left.id.localeCompare(right.id)),
      })),
  }
}

function heldOfRun(state: RunState): object {
  const { id, ensemble, status, workflow, inputs, tags, totals, outputs, tasks } = state
  return {
    id,
    ensemble,
    status,
    workflow,
    inputs,
    tags,
    totals,
    durationMs: state.durationMs,
    // Traces do not order tasks that end in the same millisecond.
    outputs: outputs?.toSorted((one, other) => one.taskName.localeCompare(other.taskName)),
    tasks: tasks.filter(({ attempt }) => attempt > 0).map(heldOf),
  }
}

describe('a trace of Tutti', () => {
  it.each([
    ['evening', { composer: 'Bach' }],
    ['fall', { composer: 'Bach' }],
    ['choir', { composer: 'Bach' }],
  ])(
    '[DASH-TS3] A trace of the ensemble "%s" results in the same state as its events',
    async (name, inputs) => {
      await using stage = await evening()
      const { runId } = await stage.client.runs.run({ ensemble: name, inputs, tags: { team: 'x' } })
      const events = runStateAfter(await eventsOf(stage, runId))
      const trace = toRunState(await stage.client.runs.trace(runId))
      expect(events.tasks.some(({ turns }) => turns.length > 0)).toBe(true)
      expect(events.delegations.length > 0).toBe(name === 'choir')
      expect(heldOfRun(trace)).toEqual(heldOfRun(events))
      expect(trace.delegations.map(({ workerTask }) => workerTask)).toEqual(
        events.delegations.map(({ workerTask }) => workerTask),
      )
    },
  )
})

async function openFile(page: Page, file: Parameters<Page['setInputFiles']>[1]): Promise<void> {
  await page.locator('input[type=file]').setInputFiles(file)
}

function textFile(name: string, text: string) {
  return { name, mimeType: 'application/json', buffer: Buffer.from(text) }
}

describe('the traces page', () => {
  it('The traces page shows an exported run again, from its trace and from its events', async () => {
    await using stage = await evening()
    const { runId } = await stage.client.runs.run({ inputs: { composer: 'Bach' } })
    await visit(browser, `${stage.url}#/runs/${runId}`, {
      acceptDownloads: true,
      async use({ page, complaints }) {
        await page.getByText('An evening for Bach').first().waitFor()
        const paths = await exported(page)
        expect(Object.keys(paths)).toEqual([
          `evening-${runId}.trace.json`,
          `evening-${runId}.dag.json`,
          `evening-${runId}.events.ndjson`,
        ])
        const { [`evening-${runId}.dag.json`]: dag = '', ...shown } = paths
        expect(JSON.parse(readFileSync(dag, 'utf8'))).toEqual({
          ...(await stage.client.runs.dag(runId)),
          generatedAt: expect.any(String),
        })
        await page.goto(`${stage.url}#/traces`)
        for (const [name, path] of Object.entries(shown)) {
          await openFile(page, textFile(name, readFileSync(path, 'utf8')))
          await page.getByRole('heading', { name }).waitFor()
          await page.getByText('An evening for Bach').first().waitFor()
          await page.getByText('choose').first().waitFor()
        }
        const slider = page.getByRole('slider', { name: 'Position in the run' })
        await slider.focus()
        await page.keyboard.press('Home')
        await expect.poll(() => page.getByText('An evening for Bach').count()).toBe(0)
        expect(complaints).toEqual([])
      },
    })
  })

  it('The traces page shows a file of AgentEnsemble, and lists what it lacks', async () => {
    await using stage = await evening()
    await visit(browser, `${stage.url}#/traces`, {
      async use({ page, complaints, requests }) {
        await page.getByText('never uploaded').waitFor()
        // The last request that the page sends on its own, after connecting.
        await expect.poll(() => requests).toContain('GET /api/reviews')
        const before = requests.length
        await openFile(page, FIXTURE)
        await page.getByText('AgentEnsemble trace 1.1 · Capture mode STANDARD').waitFor()
        await page.getByText('Research AI safety focusing on EU regulation').first().waitFor()
        await page.getByText('About this file').click()
        await page.getByText('model names').waitFor()
        await page.getByRole('region', { name: 'Loops' }).getByText('2 of 5').waitFor()
        expect(requests.slice(before)).toEqual([])
        await page.getByRole('button', { name: 'Close file' }).click()
        await page.getByRole('button', { name: 'Choose file' }).waitFor()
        expect(complaints).toEqual([])
      },
    })
  })

  it('The traces page accepts a dropped file', async () => {
    await using stage = await evening()
    await visit(browser, `${stage.url}#/traces`, {
      async use({ page, complaints }) {
        await page.getByRole('button', { name: 'Choose file' }).waitFor()
        await page.evaluate(
          (text) => {
            const dataTransfer = new DataTransfer()
            dataTransfer.items.add(new File([text], 'dropped.json'))
            const init = { bubbles: true, cancelable: true, dataTransfer }
            const target = document.querySelector('main h2')
            target?.dispatchEvent(new DragEvent('dragover', init))
            target?.dispatchEvent(new DragEvent('drop', init))
          },
          readFileSync(FIXTURE, 'utf8'),
        )
        await page.getByRole('heading', { name: 'dropped.json' }).waitFor()
        expect(complaints).toEqual([])
      },
    })
  })

  it('The traces page lists everything that is wrong with a file, and opens the next one', async () => {
    await using stage = await evening()
    const bad: ReturnType<typeof JSON.parse> = JSON.parse(readFileSync(FIXTURE, 'utf8'))
    bad.captureMode = 'SOME'
    bad.taskTraces[0].llmInteractions[0].iterationIndex = 'first'
    await visit(browser, `${stage.url}#/traces`, {
      async use({ page, complaints }) {
        const problems = page.getByRole('region', { name: 'Problems' })
        await openFile(page, textFile('bad.trace.json', JSON.stringify(bad)))
        await page.getByRole('alert').getByText('Cannot show "bad.trace.json"').waitFor()
        await expect
          .poll(() => problems.getByRole('listitem').locator('code').allTextContents())
          .toEqual(['/captureMode', '/taskTraces/0/llmInteractions/0/iterationIndex'])
        await openFile(page, textFile('page.html', '<html>'))
        await page.getByRole('alert').getByText('The file is not JSON.').waitFor()
        await openFile(page, textFile('none.json', ''))
        await page.getByRole('alert').getByText('The file is empty.').waitFor()
        await openFile(page, FIXTURE)
        await page.getByText('AgentEnsemble trace 1.1').waitFor()
        await expect.poll(() => page.getByText('Cannot show').count()).toBe(0)
        expect(complaints).toEqual([])
      },
    })
  })
})

/** Returns the files of the export menu of a run: name → path. */
async function exported(page: Page): Promise<Readonly<Record<string, string>>> {
  const files: [string, string][] = []
  const names = ['Trace (AgentEnsemble)', 'Task graph (AgentEnsemble)', 'Events as NDJSON']
  for (const name of names) {
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name }).click()
    const file = await download
    files.push([file.suggestedFilename(), await file.path()])
  }
  return Object.fromEntries(files)
}

/**
 * Executes recorded work again in each way, with each change, for each kind of review, and checks which decisions and
 * which open reviews it reuses.
 */
import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, task, type Ensemble } from '../src/index.ts'
import type { RunStep } from '../src/internal.ts'
import { runToEnd, startRecorded, type RunProcess } from './recorded-run.ts'
import { scriptedModel } from './testing.ts'
import { eventsOf } from './watch-run.ts'

type Kind = 'before a task' | 'before a call' | 'after a task'
type Way = 'resume' | 'fork' | 'models' | 'frozen'

/** Everything that a change can concern. */
interface Parts {
  readonly who: string
  readonly description: string
  readonly version: string
  readonly toolVersion: string
  readonly prompt: string
  readonly role: string
  readonly model: string
  readonly answer: string
}

const PARTS: Parts = {
  who: 'alice',
  description: 'Pay {who}',
  version: '1',
  toolVersion: '1',
  prompt: 'Pay?',
  role: 'legal',
  model: 'one',
  answer: 'paid',
}

const CHANGES = {
  nothing: {},
  'the inputs': { who: 'mallory' },
  'the description': { description: 'Pay {who} twice' },
  'the version of the task': { version: '2' },
  'the version of its tool': { toolVersion: '2' },
  'the question': { prompt: 'Really?' },
  'the required role': { role: 'finance' },
  'the answer of the model': { answer: 'paid twice' },
  'the model': { model: 'another' },
} satisfies Record<string, Partial<Parts>>

type Change = keyof typeof CHANGES

/** Changes after which a review is the same: the recorded answers are reused, and any model may give the next ones. */
const NOT_COVERED: readonly Change[] = ['nothing', 'the model', 'the answer of the model']

const KINDS: readonly Kind[] = ['before a task', 'before a call', 'after a task']

/** Returns a task with one review, and the list of payments. */
function createTeam(
  kind: Kind,
  parts: Parts,
): { readonly team: Ensemble; readonly paid: string[] } {
  const { description, version, toolVersion, prompt, role, answer } = parts
  const paid: string[] = []
  const needsApproval = kind === 'before a call'
  const pay = defineTool({
    name: 'pay',
    description: 'Pays',
    version: toolVersion,
    input: Type.Object({ who: Type.String() }),
    idempotent: false,
    ...(needsApproval ? { requireApproval: { requiredRole: role, describe: () => prompt } } : {}),
    execute({ who }) {
      paid.push(who)
      return `paid ${who}`
    },
  })
  const settings = { prompt, requiredRole: role }
  const model = scriptedModel(
    ({ messages }) =>
      needsApproval && messages.at(-1)?.role !== 'tool'
        ? { toolCalls: [{ name: 'pay', arguments: { who: 'bob' } }] }
        : answer,
    { name: parts.model },
  )
  const work = task({
    name: 'work',
    description,
    version,
    tools: [pay],
    ...(kind === 'before a task' ? { beforeReview: settings } : {}),
    ...(kind === 'after a task' ? { review: settings } : {}),
  })
  return { team: ensemble({ name: 'payers', model, tasks: [work] }), paid }
}

const APPROVING = { decide: () => Promise.resolve({ action: 'CONTINUE' as const }) }

/** Executes the run once, with a decided review. */
async function record(kind: Kind): Promise<RunProcess> {
  const { who } = PARTS
  const run = startRecorded(createTeam(kind, PARTS).team, { inputs: { who }, reviewer: APPROVING })
  expect((await runToEnd(run)).status).toBe('COMPLETED')
  return run
}

/** Executes recorded steps again. */
async function repeat(
  kind: Kind,
  {
    way,
    parts,
    steps,
  }: { readonly way: Way; readonly parts: Parts; readonly steps: readonly RunStep[] },
) {
  const { team, paid } = createTeam(kind, parts)
  const forked: RunStep = { kind: 'run_forked', runMs: 0, startedAt: 0 }
  const replay = way === 'models' || way === 'frozen' ? { replay: way } : {}
  const asked: string[] = []
  const run = startRecorded(team, {
    inputs: { who: parts.who },
    resume: { steps: way === 'resume' ? steps : [...steps, forked], ...replay },
    reviewer: {
      decide({ reviewId }) {
        asked.push(reviewId)
        return Promise.resolve({ action: 'CONTINUE' })
      },
    },
  })
  const { status } = await runToEnd(run)
  return {
    status,
    paid,
    asked,
    requested: eventsOf(run.events, 'review_requested').length,
    withdrawn: eventsOf(run.events, 'review_withdrawn').length,
  }
}

/** Returns the steps up to the first one of a kind. */
function stepsUpTo(steps: readonly RunStep[], kind: RunStep['kind']): readonly RunStep[] {
  return steps.slice(0, steps.findIndex((step) => step.kind === kind) + 1)
}

const CASES = KINDS.flatMap((kind) =>
  // NOTE: `CHANGES` has the names of changes.
  (Object.keys(CHANGES) as Change[]).map((change) => [kind, change] as const),
)

describe.each(CASES)('a review %s, after a change of %s', (kind, change) => {
  const parts: Parts = { ...PARTS, ...CHANGES[change] }
  const isSame = NOT_COVERED.includes(change)

  it('[ENS-G15] A review is reused by a resumed run if the decision covers it, else asked again', async () => {
    const steps = stepsUpTo((await record(kind)).steps, 'gate_closed')
    const end = await repeat(kind, { way: 'resume', parts, steps })
    expect(end).toMatchObject({ requested: isSame ? 0 : 1, withdrawn: 0, status: 'COMPLETED' })
    expect(end.paid).toHaveLength(kind === 'before a call' ? 1 : 0)
  })

  it.each(['resume', 'fork'] as const)(
    '[ENS-G15] [ENS-G17] A review stays open in a %s if it is the same, else is withdrawn and asked again',
    async (way) => {
      const { steps } = await record(kind)
      const open = stepsUpTo(steps, 'gate_opened')
      const end = await repeat(kind, { way, parts, steps: open })
      const count = isSame ? 0 : 1
      expect(end).toMatchObject({ requested: count, withdrawn: count, status: 'COMPLETED' })
      const ids = open.flatMap((step) => (step.kind === 'gate_opened' ? step.reviewId : []))
      expect(end.asked.map((id) => ids.includes(id))).toEqual([isSame])
    },
  )

  it('[ENS-G16] A review is asked again by each fork after its decision', async () => {
    const steps = stepsUpTo((await record(kind)).steps, 'gate_closed')
    for (let count = 0; count < 2; count += 1) {
      const end = await repeat(kind, { way: 'fork', parts, steps })
      expect(end).toMatchObject({ requested: 1, withdrawn: 0, status: 'COMPLETED' })
      expect(end.paid).toHaveLength(kind === 'before a call' ? 1 : 0)
    }
  })

  it.each(['models', 'frozen'] as const)(
    '[ENS-E25] [ENS-E26] A review is never asked again by a replay in the mode %s',
    async (way) => {
      const { steps } = await record(kind)
      const end = await repeat(kind, { way, parts, steps })
      expect(end).toMatchObject({ requested: 0, withdrawn: 0, asked: [], paid: [] })
    },
  )
})

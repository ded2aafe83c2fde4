/** Ensembles for measurements of durable runs: one agent each, on models without a provider. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { defineTool, Type } from '@tutti/core'

import { builtPackage } from './built.ts'
import { orderTool } from './order-tool.ts'
import { answerTo, ARGUMENTS, PROMPT, TOOL } from './story.ts'
import { sized } from './form.ts'

import type { ChatModel } from '../../../packages/ensemble/src/adapter.ts'
import type { Ensemble } from '../../../packages/ensemble/src/index.ts'

type EnsembleDoor = typeof import('../../../packages/ensemble/src/index.ts')
type Tool =
  | typeof orderTool
  | ReturnType<typeof heldTool>
  | ReturnType<typeof shortTool>
  | ReturnType<typeof pageTool>

/** Receives the events of a tool. */
export type ToolReport = (kind: 'called' | 'aborted', runId: string) => void

/** Name of an ensemble. */
export type TeamName = 'order' | 'held' | 'stepping' | 'tokens' | 'long' | 'ledger'

/** Duration of the tool of `stepping`, in milliseconds. */
export const STEP_MS = 20

/** Model calls of a run of `long`. */
export const LONG_TURNS = sized(200, 10)

/** Output of each run of `tokens`. */
export const TOKENS = sized(
  { everyMs: 20, warmUpMs: 500, measuredMs: 5_000 },
  { everyMs: 20, warmUpMs: 40, measuredMs: 200 },
)

const USAGE = { inputTokens: 1, outputTokens: 1 }

/** Longer than a measurement waits for a held tool. */
const HELD_MS = 120_000

/** More turns than a run of a benchmark takes. */
const MANY_TURNS = 1_000_000

/** Returns milliseconds of a clock that all processes of this machine share. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/**
 * Returns an ensemble by name, so that another process can create the same.
 *
 * - `order`: one typed tool call, then an immediate answer.
 * - `held`: one tool call that lasts until its signal aborts.
 * - `stepping`: sequential tool calls of {@link STEP_MS}, without end.
 * - `tokens`: an answer of many tokens, see {@link TOKENS}; each contains the time at which it was written.
 * - `long`: {@link LONG_TURNS} model calls, each with a text and a call of a tool that returns a page.
 * - `ledger`: like `order`, with two tasks of code after it; the first fails when the input `goods` is `none`.
 */
export async function teamNamed(
  name: TeamName,
  report: ToolReport = () => undefined,
): Promise<Ensemble> {
  switch (name) {
    case 'order':
      return teamOf(orderTool, callingModel(TOOL.name, 'once'))
    case 'held':
      return teamOf(heldTool(report), callingModel('hold', 'once'))
    case 'stepping':
      return teamOf(shortTool(report), callingModel('step', 'always'))
    case 'tokens':
      return teamOf(orderTool, tokenModel())
    case 'ledger':
      return ledgerTeam()
    case 'long':
      return teamOf(pageTool(), readingModel())
  }
}

/** Returns the times at which the tokens of an event were written, by {@link nowMs}; none for the warm-up. */
export function stampsOf(text: string): readonly number[] {
  return [...text.matchAll(/\d+\.\d+/g)].map(([stamp]) => Number(stamp))
}

async function teamOf(tool: Tool, model: ChatModel): Promise<Ensemble> {
  const { ensemble, task } = await builtPackage<EnsembleDoor>('ensemble')
  const only = task({
    name: 'order',
    description: PROMPT,
    tools: [tool],
    maxIterations: MANY_TURNS,
  })
  return ensemble({ name: 'shop', model, tasks: [only] })
}

async function ledgerTeam(): Promise<Ensemble> {
  const { ensemble, task } = await builtPackage<EnsembleDoor>('ensemble')
  const order = task({ name: 'order', description: PROMPT, tools: [orderTool] })
  const enter = task({
    name: 'enter',
    description: 'Enter {goods}',
    context: [order],
    handler({ inputs }) {
      if (inputs['goods'] === 'none') throw new Error('There are no goods')
      return 'Entered'
    },
  })
  const file = task({ name: 'file', description: 'File it', handler: () => 'Filed' })
  return ensemble({
    name: 'shop',
    model: callingModel(TOOL.name, 'once'),
    tasks: [order, enter, file],
  })
}

/** Calls a tool and answers with its output; records nothing. */
function callingModel(tool: string, times: 'once' | 'always'): ChatModel {
  return {
    provider: 'forgetful',
    name: 'model',
    async *stream({ messages }) {
      const last = messages.at(-1)
      if (last?.role !== 'tool' || times === 'always') {
        const toolCalls = [{ id: `call-${messages.length}`, name: tool, arguments: ARGUMENTS }]
        yield { type: 'reply', reply: { text: '', toolCalls, usage: USAGE } }
        return
      }
      const text = answerTo(last.content)
      yield { type: 'text', text }
      yield { type: 'reply', reply: { text, toolCalls: [], usage: USAGE } }
    },
  }
}

function tokenModel(): ChatModel {
  return {
    provider: 'forgetful',
    name: 'writer',
    async *stream(_request, { signal }) {
      const { everyMs, warmUpMs, measuredMs } = TOKENS
      const beginMs = nowMs() + Math.random() * everyMs
      for (let atMs = 0; atMs < warmUpMs + measuredMs; atMs += everyMs) {
        await sleep(Math.max(beginMs + atMs - nowMs(), 0), undefined, { signal })
        yield { type: 'text', text: atMs < warmUpMs ? 'warm ' : `${nowMs().toFixed(3)} ` }
      }
      yield { type: 'reply', reply: { text: 'written', toolCalls: [], usage: USAGE } }
    },
  }
}

/** Reads page after page, then answers; records nothing. */
function readingModel(): ChatModel {
  return {
    provider: 'forgetful',
    name: 'reader',
    async *stream({ messages }) {
      const turn = messages.filter(({ role }) => role === 'assistant').length
      const text = turn + 1 < LONG_TURNS ? proseOf(turn, 300) : 'All pages are read.'
      yield { type: 'text', text }
      const toolCalls =
        turn + 1 < LONG_TURNS
          ? [{ id: `call-${turn}`, name: 'read', arguments: JSON.stringify({ page: turn }) }]
          : []
      yield { type: 'reply', reply: { text, toolCalls, usage: USAGE } }
    },
  }
}

function pageTool() {
  return defineTool({
    name: 'read',
    description: 'Reads a page',
    input: Type.Object({ page: Type.Integer() }),
    execute: ({ page }) => proseOf(LONG_TURNS + page, 2_000),
  })
}

/** Returns text of a length that differs from every other, so that a store can share only real copies. */
function proseOf(seed: number, length: number): string {
  let text = ''
  for (let word = 0; text.length < length; word += 1) {
    text += `${createHash('sha256').update(`${seed} ${word}`).digest('base64url').slice(0, 7)} `
  }
  return text.slice(0, length)
}

function heldTool(report: ToolReport) {
  return defineTool({
    name: 'hold',
    description: 'Waits until it is stopped',
    timeoutMs: HELD_MS,
    input: Type.Object({ item: Type.String() }),
    execute(_input, { signal, runId = '' }): Promise<string> {
      report('called', runId)
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          report('aborted', runId)
          reject(new Error('stopped'))
        })
      })
    },
  })
}

function shortTool(report: ToolReport) {
  return defineTool({
    name: 'step',
    description: 'Takes a while',
    input: Type.Object({ item: Type.String() }),
    async execute(_input, { signal, runId = '' }) {
      report('called', runId)
      await sleep(STEP_MS, undefined, { signal })
      return 'done'
    },
  })
}

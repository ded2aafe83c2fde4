/** Runs that measure the dashboard: a long one, and many short ones. */
import { setTimeout as sleep } from 'node:timers/promises'

import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

import type { TuttiClient } from '@tutti/client'
import type { Ensemble } from '@tutti/ensemble'

/** Returns the ensembles of the long run, with `turns` model turns, and of the short runs. */
export function bigEnsembles(turns: number): { readonly ensembles: readonly Ensemble[] } {
  const look = defineTool({
    name: 'look',
    description: 'Looks at a page',
    input: Type.Object({ page: Type.Integer() }),
    execute: ({ page }) => `Page ${page} says what page ${page - 1} said, and a little more.`,
  })
  const reader = scriptedModel(({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length
    if (turn >= turns) return 'All pages are read.'
    return {
      text: `Page ${turn} comes next. `,
      toolCalls: [{ name: 'look', arguments: { page: turn } }],
    }
  })
  const read = task({
    name: 'read',
    description: 'Read all pages of {book}',
    tools: [look],
    maxIterations: turns + 10,
  })
  const short = task({ name: 'note', description: 'Note {book}', handler: () => 'Noted' })
  return {
    ensembles: [
      ensemble({ name: 'reader', tasks: [read], model: reader }),
      ensemble({ name: 'note', tasks: [short], model: reader }),
    ],
  }
}

/** An ensemble whose run adds tasks, then waits, and then adds more. */
export interface GrowingTeam {
  readonly ensembles: readonly Ensemble[]
  /** Resolves when the run waits. */
  readonly hasGrown: Promise<void>
  /** Lets the run add the other tasks, one after another. */
  readonly grow: () => void
}

/** Returns the ensemble `growth`, whose run adds `count` tasks, and `later` more when it may. */
export function growingTeam(count: number, later: number): GrowingTeam {
  const grown = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const child = task({
    name: 'child',
    description: 'Work on {item}',
    handler: ({ inputs }) => `Done with ${inputs['item']}`,
  })
  const paced = task({
    name: 'later',
    description: 'Work on {item}',
    async handler({ inputs, signal }) {
      await sleep(10, undefined, { signal })
      return `Done with ${inputs['item']}`
    },
  })
  const list = (length: number): readonly number[] => Array.from({ length }, (_, at) => at)
  const grow = task({
    name: 'grow',
    description: 'Grow',
    async handler({ map }) {
      await map(list(count), child, { maxItems: count })
      grown.resolve()
      await gate.promise
      await map(list(later), paced, { maxItems: later, maxParallel: 1 })
      return `${count + later} done`
    },
  })
  return {
    ensembles: [ensemble({ name: 'growth', tasks: [grow] })],
    hasGrown: grown.promise,
    grow: () => {
      gate.resolve()
    },
  }
}

/** Starts the long run. */
export async function startBigRun(client: TuttiClient): Promise<string> {
  const { runId } = await client.runs.submit({ ensemble: 'reader', inputs: { book: 'Ulysses' } })
  return runId
}

/** Submits short runs, some at a time, and waits until they have ended. */
export async function submitMany(client: TuttiClient, count: number): Promise<void> {
  const waiting = Array.from({ length: count }, (_, index) => index)
  const work = async (): Promise<void> => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      await client.runs.submit(
        { ensemble: 'note', inputs: { book: `Book ${index}` }, tags: { shelf: String(index % 7) } },
        { wait: 30 },
      )
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

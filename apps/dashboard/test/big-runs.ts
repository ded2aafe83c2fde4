/** Runs that measure the dashboard: a long one, and many short ones. */
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

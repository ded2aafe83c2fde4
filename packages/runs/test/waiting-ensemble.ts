/** An ensemble whose second task has a tool that waits until the test continues it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { defineTool, Type } from '@tutti/core'
import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import {
  createRunService,
  type RunService,
  sqliteRunStorage,
  type RunServiceOptions,
} from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { scriptedModel, type ScriptedModel } from '@tutti/testing'

import type { LoggedRunEvent } from '@tutti/protocol'

/** The ensemble and its controls. */
export interface WaitingEnsemble {
  readonly ensemble: Ensemble
  readonly model: ScriptedModel
  /** Resolves when the tool of the second task has been called that many times. */
  waiting(calls: number): Promise<void>
  /** Continues every waiting and every later call of the tool. */
  play(): void
}

/**
 * Creates an ensemble of two tasks, and a third with `encore`. With `obedient: false` its tool ignores its signal.
 */
export function waitingEnsemble({
  name = 'band',
  obedient = true,
  encore = false,
} = {}): WaitingEnsemble {
  const tool = gatedTool(obedient)
  const model = scriptedModel((request) => {
    if (request.tools.length === 0) return `tuned for ${readTopic(request)}`
    const last = request.messages.at(-1)
    if (last?.role === 'tool') return `played: ${last.content}`
    return { toolCalls: [{ name: 'wait', arguments: {} }] }
  })
  const tune = task({ name: 'tune', description: 'Tune for {topic}' })
  const play = task({
    name: 'play',
    description: 'Play {topic}',
    context: [tune],
    tools: [tool.definition],
  })
  const again = task({ name: 'again', description: 'Bow', context: [play] })
  return {
    ensemble: ensemble({ name, tasks: [tune, play, ...(encore ? [again] : [])], model }),
    model,
    waiting: tool.waiting,
    play: tool.open,
  }
}

function readTopic({ messages }: ModelRequest): string {
  return /Tune for (.*)/.exec(messages.at(-1)?.content ?? '')?.[1] ?? ''
}

function gatedTool(obedient: boolean) {
  const gate = Promise.withResolvers<void>()
  let calls = 0
  const watchers = new Set<() => void>()
  const definition = defineTool({
    name: 'wait',
    description: 'Waits until the test lets it go on',
    input: Type.Object({}),
    async execute(_input, { signal }) {
      calls += 1
      for (const watcher of watchers) watcher()
      await Promise.race([gate.promise, ...(obedient ? [untilAborted(signal)] : [])])
      return 'done'
    },
  })
  return {
    definition,
    open: gate.resolve,
    waiting: (wanted: number) =>
      new Promise<void>((resolve) => {
        const watcher = (): void => {
          if (calls >= wanted) resolve()
        }
        watchers.add(watcher)
        watcher()
      }),
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')))
  })
}

/** A directory that is deleted at the end of the block that uses it. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'tutti-runs-'))
  return {
    path,
    [Symbol.dispose]() {
      rmSync(path, { recursive: true })
    },
  }
}

/** Starts a service over the store in `path`. */
export async function openRuns(
  path: string,
  ensembles: readonly Ensemble[],
  options: RunServiceOptions = {},
): Promise<RunService> {
  return startRuns(await sqliteRunStorage(path, options), ensembles, options)
}

/** Starts a service over a storage. */
export async function startRuns(
  storage: RunStorage,
  ensembles: readonly Ensemble[],
  options: RunServiceOptions = {},
): Promise<RunService> {
  const service = createRunService(storage, ensembles, options)
  await service.start()
  return service
}

/** Returns all events of a run when it has ended. */
export async function allEvents(
  service: RunService,
  runId: string,
): Promise<readonly LoggedRunEvent[]> {
  const events: LoggedRunEvent[] = []
  for await (const batch of service.follow({ runId, from: 0 })) events.push(...batch)
  return events
}

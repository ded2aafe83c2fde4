/** Takes a message to a task that goes on: it decides an open gate, or tells its agents something. */
import { actorOf } from '../caller.ts'
import { decideReview } from '../runs/decide-review.ts'
import { A2aError, invalidParams } from './a2a-error.ts'
import { act, type Asker } from './asker.ts'
import { decisionOf } from './decision-of.ts'
import { loadTask, type LoadedTask } from './load-task.ts'
import { objectsIn, saidIn, type Said } from './said.ts'
import { isTerminal, withoutGate, type Gate, type TaskView } from './task-view.ts'

import type { ClientMessage } from './a2a-wire.ts'

/**
 * Resolves with the task when what was said is durable, as it stood before what follows from it.
 *
 * @throws {A2aError} TASK_NOT_FOUND; UNSUPPORTED_OPERATION when it is over; INVALID_PARAMS when its context is
 * another one, or the message is no answer to what is asked.
 * @throws {TuttiError} as `decideReview` and `injectDirective`.
 */
export async function continueTask(
  message: ClientMessage & { readonly taskId: string },
  asker: Asker,
): Promise<LoadedTask> {
  const { taskId, contextId } = message
  const loaded = await loadTask(asker, taskId)
  const { view, facts } = loaded
  if (contextId !== undefined && contextId !== facts.contextId) {
    const problem = `must be "${facts.contextId}", that of task "${taskId}", got "${contextId}"`
    throw invalidParams([{ path: '/message/contextId', message: problem }])
  }
  const said = saidIn(message.parts)
  if (isTerminal(view)) {
    throw new A2aError(
      'UNSUPPORTED_OPERATION',
      `Operation not supported: task "${taskId}" is over. Send a message in its context without its id`,
    )
  }
  const gate = gateMeant(view, said)
  if (gate !== undefined) return { ...loaded, view: await decide(view, { gate, said, asker }) }
  if (Object.hasOwn(objectsIn(said), 'decision')) {
    const message = `Operation not supported: task "${taskId}" asks nothing that could be decided`
    throw new A2aError('UNSUPPORTED_OPERATION', message)
  }
  await direct(taskId, said, asker)
  return loaded
}

/** The open gate that a message names by its `reviewId`, else the oldest. */
function gateMeant({ gates }: TaskView, said: Said): Gate | undefined {
  const { reviewId } = objectsIn(said)
  if (reviewId === undefined) return gates[0]
  const found = gates.find((gate) => gate.reviewId === reviewId)
  if (found !== undefined) return found
  const open = gates.map((gate) => `"${gate.reviewId}"`).join(', ') || 'none'
  const problem = `must be an open review of the task (open: ${open}), got ${JSON.stringify(reviewId)}`
  throw invalidParams([{ path: '/message/parts/reviewId', message: problem }])
}

interface Answer {
  readonly gate: Gate
  readonly said: Said
  readonly asker: Asker
}

async function decide(view: TaskView, { gate, said, asker }: Answer): Promise<TaskView> {
  const { options, caller } = asker
  const { reviewId } = gate
  const decision = decisionOf(gate, said)
  const action = { name: 'decideReview', scope: 'reviews:decide', target: reviewId } as const
  await act(asker, action, (tell) =>
    decideReview(options.runs, reviewId, { ...decision, caller, tell }),
  )
  return withoutGate(view, reviewId)
}

async function direct(runId: string, said: Said, asker: Asker): Promise<void> {
  const { options, caller } = asker
  const texts = [said.text, ...said.data.map((data) => JSON.stringify(data))]
  const content = texts.filter((text) => text.trim() !== '').join('\n')
  if (content === '')
    throw invalidParams([{ path: '/message/parts', message: 'must say something' }])
  const action = { name: 'injectDirective', scope: 'runs:control', runId } as const
  const directive = { content, ...actorOf(caller) }
  await act(asker, action, () => options.runs.send(runId, { kind: 'inject', directive }))
}

/** Switches the model of a run as a body or a message asks. */
import { actorOf, type Caller } from './caller.ts'

import type { ModelSwitched, SwitchModelBody } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

/**
 * Sends the next model calls of a run, or of one of its tasks, to another model.
 *
 * @throws {TuttiError} as `RunService.switchModel`.
 */
export async function switchModel(
  runs: RunService,
  runId: string,
  { model, taskName, caller }: SwitchModelBody & { readonly caller: Caller },
): Promise<ModelSwitched> {
  const task = taskName === undefined ? {} : { task: taskName }
  const { previousModel, ...made } = await runs.switchModel(runId, model, {
    ...task,
    ...actorOf(caller),
  })
  return {
    runId,
    model: made.model,
    ...(previousModel === undefined ? {} : { previousModel }),
    status: 'APPLIED',
  }
}

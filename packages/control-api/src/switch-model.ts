/** Switches the model of a run as a body or a message asks. */

import { actorOf, badRequest, type Caller } from '@tutti/gateway'

import type { ModelSwitched, RunCommandOf, SwitchModelBody } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'

/**
 * Sends the next model calls of a run, or of one of its tasks, to another model or tier.
 *
 * @throws {TuttiError} as `RunService.send`; BAD_REQUEST unless either a model or a tier is named.
 */
export async function switchModel(
  runs: RunService,
  runId: string,
  { model, tier, taskName, caller }: SwitchModelBody & { readonly caller: Caller },
): Promise<ModelSwitched> {
  const switched = await runs.send(runId, {
    kind: 'switch_model',
    model: choiceOf(model, tier),
    ...(taskName === undefined ? {} : { taskName }),
    ...actorOf(caller),
  })
  return { runId, ...switched, status: 'APPLIED' }
}

function choiceOf(
  model: string | undefined,
  tier: string | undefined,
): RunCommandOf<'switch_model'>['model'] {
  if (model !== undefined && tier !== undefined) {
    throw badRequest('Request', [{ path: '/tier', message: 'cannot be given together with model' }])
  }
  if (tier !== undefined) return { tier }
  if (model !== undefined) return model
  throw badRequest('Request', [{ path: '/model', message: 'is required, or tier' }])
}

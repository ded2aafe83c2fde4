/** Calls the guardrails of a task. */
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { stoppedError } from '../work/stopped-error.ts'
import { untilStopped } from '../work/until-stopped.ts'

import type { GuardrailVerdict } from '../definition/guardrail.ts'
import type { TaskScope } from '../scope/task-scope.ts'

/**
 * Calls guardrails in order.
 *
 * @throws {TuttiError} GUARDRAIL_VIOLATION with the reason of the first one that rejects or throws, or the
 * reason why the work was stopped.
 */
export async function assertGuardrails<Value>(
  { identity: { taskName }, signal, run }: TaskScope,
  guardrails: readonly ((
    value: Value,
    signal: AbortSignal,
  ) => GuardrailVerdict | Promise<GuardrailVerdict>)[],
  { what, value }: { readonly what: 'input' | 'output'; readonly value: Value },
): Promise<void> {
  for (const [index, guardrail] of guardrails.entries()) {
    const holding = run.inFlight.waitIfDraining(signal, 'Guardrail')
    if (holding !== undefined) await holding
    const asking = askGuardrail(() => guardrail(value, signal))
    const verdict = await untilStopped(asking, { signal, clock: run.clock, what: 'Guardrail' })
    if (signal.aborted) throw stoppedError(signal, 'Guardrail')
    if (verdict === true) continue
    const name = guardrail.name === '' ? `number ${index + 1}` : `"${guardrail.name}"`
    throw new TuttiError(
      'GUARDRAIL_VIOLATION',
      `Guardrail ${name} rejected the ${what} of task "${taskName}": ${verdict}`,
      { details: { what, guardrail: guardrail.name, reason: verdict } },
    )
  }
}

/**
 * Returns the verdict of one guardrail. One that throws, or returns neither a boolean nor a reason, rejects.
 */
async function askGuardrail(
  ask: () => GuardrailVerdict | Promise<GuardrailVerdict>,
): Promise<GuardrailVerdict> {
  try {
    const verdict: unknown = await ask()
    if (verdict === true || typeof verdict === 'string') return verdict
    return verdict === false
      ? 'no reason given'
      : `expected true or a reason, got ${String(verdict)}`
  } catch (error) {
    return errorMessage(error)
  }
}

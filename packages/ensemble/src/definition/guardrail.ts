/** Guardrails: the author's own checks of what a task is given and of what it gives. */
import {
  errorMessage,
  findUnknownOptions,
  TuttiError,
  type Clock,
  type OptionNames,
} from '@tutti/core'

import { stoppedError } from '../work/stopped-error.ts'
import { untilStopped } from '../work/until-stopped.ts'

import type { InFlight } from '../work/in-flight.ts'

/** `true` lets it pass, a text says why it does not; `false` refuses it with no reason given. */
export type GuardrailVerdict = boolean | string

/** What an input guardrail sees. */
export interface GuardedInput {
  readonly taskName: string
  readonly agentRole: string
  readonly description: string
  readonly expectedOutput: string
  /** Outputs of the tasks that this one builds on, by task name. */
  readonly context: Readonly<Record<string, string>>
}

/** What an output guardrail sees. */
export interface GuardedOutput {
  readonly taskName: string
  readonly agentRole: string
  readonly description: string
  readonly output: string
  /** The output as a value, when the task declares a schema. */
  readonly structured?: unknown
}

/** Checks a task before its agent is asked. */
export type InputGuardrail = (
  input: GuardedInput,
  signal: AbortSignal,
) => GuardrailVerdict | Promise<GuardrailVerdict>

/** Checks the output of a task before anybody else gets it. */
export type OutputGuardrail = (
  output: GuardedOutput,
  signal: AbortSignal,
) => GuardrailVerdict | Promise<GuardrailVerdict>

/** The guardrails of a task; each list is asked in order, and the first refusal ends the task. */
export interface Guardrails {
  readonly input?: readonly InputGuardrail[]
  readonly output?: readonly OutputGuardrail[]
}

const GUARDRAIL_NAMES = { input: true, output: true } as const satisfies OptionNames<Guardrails>

/** Returns what is wrong with the guardrails of a task, one sentence each. */
export function findGuardrailProblems(guardrails: Guardrails | undefined): readonly string[] {
  return guardrails === undefined
    ? []
    : findUnknownOptions(guardrails, GUARDRAIL_NAMES, 'guardrails')
}

/** What a guardrail looks at, and how it is called in a message. */
export interface GuardedPart<Value> {
  readonly what: 'input' | 'output'
  readonly taskName: string
  readonly value: Value
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly inFlight: InFlight
}

/**
 * Asks the guardrails in order.
 *
 * @throws {TuttiError} GUARDRAIL_VIOLATION with the reason of the first one that refuses, or that throws,
 * or why the work was stopped.
 */
export async function assertGuardrails<Value>(
  guardrails: readonly ((
    value: Value,
    signal: AbortSignal,
  ) => GuardrailVerdict | Promise<GuardrailVerdict>)[],
  { what, taskName, value, signal, clock, inFlight }: GuardedPart<Value>,
): Promise<void> {
  for (const [index, guardrail] of guardrails.entries()) {
    const holding = inFlight.heldBack(signal, 'Guardrail')
    if (holding !== undefined) await holding
    const asking = verdictOf(() => guardrail(value, signal))
    const verdict = await untilStopped(asking, { signal, clock, what: 'Guardrail' })
    if (signal.aborted) throw stoppedError(signal, 'Guardrail')
    if (verdict === true) continue
    const name = guardrail.name === '' ? `number ${index + 1}` : `"${guardrail.name}"`
    throw new TuttiError(
      'GUARDRAIL_VIOLATION',
      `The ${what} of task "${taskName}" was refused by guardrail ${name}: ${verdict}`,
      { details: { what, guardrail: guardrail.name, reason: verdict } },
    )
  }
}

/** A guardrail that throws, or says neither yes nor why not, does not let anything pass. */
async function verdictOf(
  ask: () => GuardrailVerdict | Promise<GuardrailVerdict>,
): Promise<GuardrailVerdict> {
  try {
    const verdict: unknown = await ask()
    if (verdict === true || typeof verdict === 'string') return verdict
    return verdict === false
      ? 'no reason given'
      : `it gave ${String(verdict)}, not true or a reason`
  } catch (error) {
    return errorMessage(error)
  }
}

/** Guardrails: the author's own checks of what a task is given and of what it gives. */
import { findUnknownOptions, type OptionNames } from '@tutti/core'

/** `true` lets it pass, a text says why it does not; `false` refuses it with no reason given. */
export type GuardrailVerdict = boolean | string

/** The input of an input guardrail. */
export interface GuardedInput {
  readonly taskName: string
  readonly agentRole: string
  readonly description: string
  readonly expectedOutput: string
  /** Outputs of the tasks that this one builds on, by task name. */
  readonly context: Readonly<Record<string, string>>
}

/** The input of an output guardrail. */
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

/** Guardrails: checks by the author of the input and the output of a task. */
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'

/** Verdict of a guardrail: `true` accepts, a text rejects with this reason, `false` rejects without one. */
export type GuardrailVerdict = boolean | string

/** Input of an input guardrail. */
export interface GuardedInput {
  readonly taskName: string
  readonly agentRole: string
  readonly description: string
  readonly expectedOutput: string
  /** Outputs of the tasks in the context of this one, by task name. */
  readonly context: Readonly<Record<string, string>>
}

/** Input of an output guardrail. */
export interface GuardedOutput {
  readonly taskName: string
  readonly agentRole: string
  readonly description: string
  readonly output: string
  /** The output as a value, when the task declares a schema. */
  readonly structured?: unknown
}

/** Checks a task before its agent runs. */
export type InputGuardrail = (
  input: GuardedInput,
  signal: AbortSignal,
) => GuardrailVerdict | Promise<GuardrailVerdict>

/** Checks the output of a task before any other task or reviewer receives it. */
export type OutputGuardrail = (
  output: GuardedOutput,
  signal: AbortSignal,
) => GuardrailVerdict | Promise<GuardrailVerdict>

/** Guardrails of a task. Each list is called in order, and the first rejection fails the task. */
export interface Guardrails {
  readonly input?: readonly InputGuardrail[]
  readonly output?: readonly OutputGuardrail[]
}

const GUARDRAIL_NAMES = { input: true, output: true } as const satisfies OptionNames<Guardrails>

/** Returns the problems of the guardrails of a task, one text each. */
export function findGuardrailProblems(guardrails: Guardrails | undefined): readonly string[] {
  return guardrails === undefined
    ? []
    : findOptionProblems(guardrails, GUARDRAIL_NAMES, 'guardrails')
}

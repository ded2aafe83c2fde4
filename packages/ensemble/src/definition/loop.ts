/**
 * Tasks that are repeated: such a task has a handler that adds its body as a task for each round, and the task of its judge.
 *
 *   round 1 ─▶ until? ─no─▶ round 2 ─▶ … ─▶ round max ─▶ until? ─no─▶ accept | fail | ask a person ─▶ another round
 *                └yes─▶ output                             └yes─▶ output
 *
 * ENS-P18 A task with `loop` adds its body again for each round, named by its number, until its condition is true, until a round
 *    has the output of the one before with `stopWhenUnchanged`, or up to `max` rounds. A failed round fails it, and so do outputs
 *    that are too long for a list of all.
 * ENS-P19 A condition is a function whose result is recorded, or a task: `judge-1` judges round 1. It gets the variables of its
 *    round and `{output}`.
 * ENS-P20 A round has `{round}`, `{previous}`, `{feedback}` and `{history}`. The last three are empty in round 1. Values are
 *    never templates. `{history}` has the newest rounds that fit into its limits, and says which older ones it leaves out.
 * ENS-P21 After `max` rounds a loop accepts its last output, fails, or asks a person, who accepts it, replaces it, or orders up
 *    to `maxRevisions` more rounds. The person decides after each of these.
 */
import { TuttiError, Type } from '@tutti/core'
import { formatCanonicalJson } from '@tutti/core/internal'

import { CHARACTERS_PER_TOKEN } from '../usage/budget.ts'
import { evaluateCondition } from './choose-task.ts'
import { createFormReader } from './list-reader.ts'
import { taskVariables } from './inputs.ts'
import { JUDGE_KEY } from './loop-variables.ts'
import { reactionAtMax } from './loop-end.ts'
import { DEFAULT_HISTORY_TOKENS, MAX_ALL_OUTPUTS_LENGTH } from './loop-settings.ts'
import { DEFAULT_MAX_REVISIONS, type ReviewSettings } from './review-settings.ts'
import { readPath, toInputText, toValueInputs } from './value-inputs.ts'

import type { HandlerContext } from './handler.ts'
import type { LoopHistory, LoopSettings } from './loop-settings.ts'
import type { OutputReader } from '../output/structured-output.ts'
import type { PlannedChildOptions } from './ensemble-task.ts'
import type { LoopPlan } from './task.ts'
import type { Inputs } from './template.ts'

/** Text between two rounds of a history. */
const SEPARATOR = '\n\n---\n\n'

/** A round that has ended. */
interface Round {
  output: unknown
  /** Changes that the next round should make; empty without feedback. */
  feedback: string
}

/** Returns a handler that repeats the body of the plan. */
export function createLoopHandler(plan: LoopPlan): (context: HandlerContext) => Promise<unknown> {
  return (context) => new LoopRun(plan, context).run()
}

/** One execution of a loop. */
class LoopRun {
  readonly #plan: LoopPlan
  readonly #context: HandlerContext
  /** Variables in the texts of the body and the judge. */
  readonly #variables: readonly string[]
  readonly #rounds: Round[] = []
  /** Length of the outputs of all rounds, in characters, if the output of the task has all of them. */
  #length = 0

  constructor(plan: LoopPlan, context: HandlerContext) {
    const { template, judge } = plan
    this.#plan = plan
    this.#context = context
    this.#variables = [template, ...(judge === undefined ? [] : [judge])].flatMap(taskVariables)
  }

  async run(): Promise<unknown> {
    const { max, stopWhenUnchanged = false } = this.#plan.settings
    while (this.#rounds.length < max) {
      const { round, inputs } = await this.#addRound()
      if (stopWhenUnchanged && this.#isUnchanged()) return this.#toResult()
      const { done, feedback = '' } = await this.#evaluate(round, inputs)
      if (done) return this.#toResult()
      round.feedback = feedback
    }
    const reaction = reactionAtMax(this.#plan)
    if (typeof reaction === 'object') await this.#review(reaction.review)
    else if (reaction === 'fail') throw this.#createFailure()
    return this.#toResult()
  }

  /** Adds the task of the next round and waits for it. Returns the round and its variables. */
  async #addRound(): Promise<{ readonly round: Round; readonly inputs: Inputs }> {
    const { template } = this.#plan
    const number = String(this.#rounds.length + 1)
    const previous = this.#rounds.at(-1)
    const inputs = {
      ...toPreviousInputs(previous, this.#variables),
      round: number,
      feedback: previous?.feedback ?? '',
      history: formatHistory(this.#rounds, this.#plan.settings),
    }
    const options: PlannedChildOptions = { key: number, inputs, isRound: true }
    const output = await this.#context.task<unknown>(template, options)
    const round = { output, feedback: '' }
    this.#rounds.push(round)
    if (this.#plan.settings.result === 'all') this.#assertSmall(output)
    return { round, inputs }
  }

  /** Fails a loop whose list of outputs becomes too long, before it executes more rounds. @throws {TuttiError} TASK_FAILED */
  #assertSmall(output: unknown): void {
    this.#length += toInputText(output).length
    if (this.#length <= MAX_ALL_OUTPUTS_LENGTH) return
    throw new TuttiError(
      'TASK_FAILED',
      `The outputs of ${this.#rounds.length} rounds of task "${this.#context.taskName}" have ${this.#length} characters. ` +
        `With result "all" a loop can have ${MAX_ALL_OUTPUTS_LENGTH}; use result "last", or shorter outputs`,
    )
  }

  #isUnchanged(): boolean {
    const [before, last] = this.#rounds.slice(-2)
    if (before === undefined || last === undefined) return false
    return formatCanonicalJson(before.output) === formatCanonicalJson(last.output)
  }

  /** Evaluates the condition for the last round. */
  async #evaluate({ output }: Round, inputs: Inputs): Promise<Verdict> {
    const { until, judge } = this.#plan
    const round = this.#rounds.length
    if (judge !== undefined) {
      const own = toValueInputs('output', output, this.#variables)
      const verdict = await this.#context.task<unknown>(judge, {
        key: `${JUDGE_KEY}${round}`,
        inputs: { ...inputs, ...own },
      })
      return readVerdict(`${this.#context.taskName}/${JUDGE_KEY}${round}`, verdict)
    }
    if (until === undefined) return { done: false }
    const { taskName, inputs: own, step } = this.#context
    const done = await step(`until-${round}`, () => {
      const outputs = this.#rounds.map((one) => one.output)
      const state = { round, outputs, inputs: own }
      const what = `The condition of the loop of task "${taskName}"`
      return evaluateCondition(what, until, () => until.test(output, state))
    })
    return { done }
  }

  /** Asks a person about the last output, and adds the rounds that the person orders. */
  async #review({ maxRevisions = DEFAULT_MAX_REVISIONS, prompt, ...settings }: ReviewSettings) {
    const { output, outputReader } = this.#plan.template
    for (let revisions = 0; ; revisions += 1) {
      const last = this.#rounds.at(-1)
      if (last === undefined) return
      const question = prompt ?? this.#describeEnd()
      try {
        const answer = await this.#context.ask(`${question}\n\n${toInputText(last.output)}`, {
          schema: output ?? outputReader?.schema ?? Type.String(),
          ...settings,
        })
        if (answer.answered) last.output = answer.value
        return
      } catch (error) {
        const feedback = readFeedback(error)
        if (feedback === undefined || revisions >= maxRevisions) throw error
        last.feedback = feedback
        await this.#addRound()
      }
    }
  }

  #describeEnd(): string {
    return (
      `Task "${this.#context.taskName}" has ended round ${this.#rounds.length}. Continue to accept its output, ` +
      'edit it, or reject it with feedback for another round.'
    )
  }

  #createFailure(): TuttiError {
    const rounds = this.#rounds.length
    const feedback = this.#rounds.at(-1)?.feedback ?? ''
    return new TuttiError(
      'TASK_FAILED',
      `The loop of task "${this.#context.taskName}" has not met its condition after ${rounds} rounds` +
        (feedback.trim() === '' ? '' : `: ${feedback}`),
      { details: { rounds } },
    )
  }

  #toResult(): unknown {
    const outputs = this.#rounds.map(({ output }) => output)
    return this.#plan.settings.result === 'all' ? outputs : outputs.at(-1)
  }
}

interface Verdict {
  readonly done: boolean
  readonly feedback?: string
}

/** Reads the answer of a judge. @throws {TuttiError} OUTPUT_INVALID */
function readVerdict(judge: string, value: unknown): Verdict {
  if (typeof value === 'boolean') return { done: value }
  const done = readPath(value, ['done'])
  const feedback = readPath(value, ['feedback']) ?? ''
  if (typeof done === 'boolean' && typeof feedback === 'string') return { done, feedback }
  throw new TuttiError(
    'OUTPUT_INVALID',
    `The output of judge "${judge}" must be a boolean, or { done: boolean, feedback: text }`,
  )
}

/** Returns the feedback of a person who rejected an output; undefined for another error, and without feedback. */
function readFeedback(error: unknown): string | undefined {
  if (!TuttiError.isInstance(error) || error.code !== 'REVIEW_REJECTED') return undefined
  const feedback = error.details?.['feedback']
  return typeof feedback === 'string' && feedback.trim() !== '' ? feedback : undefined
}

/** Returns the variables with the output of the round before; they are empty in the first round. */
function toPreviousInputs(previous: Round | undefined, variables: readonly string[]): Inputs {
  if (previous !== undefined) return toValueInputs('previous', previous.output, variables)
  const fields = variables.filter((name) => name.startsWith('previous.'))
  return Object.fromEntries(['previous', ...fields].map((name) => [name, '']))
}

/** Returns the newest rounds that fit into the limits, in their order (ENS-P20). */
function formatHistory(
  rounds: readonly Round[],
  { history = 'last' }: Pick<LoopSettings, 'history'>,
): string {
  const { window = Infinity, maxTokens = DEFAULT_HISTORY_TOKENS } = toHistoryLimits(history)
  const texts: string[] = []
  let room = maxTokens * CHARACTERS_PER_TOKEN
  for (const [index, { output, feedback }] of [...rounds.entries()].toReversed()) {
    if (texts.length === window) break
    const said = feedback.trim() === '' ? '' : `\n\nFeedback: ${feedback}`
    const text = `Round ${index + 1}:\n\n${toInputText(output)}${said}`
    room -= text.length + SEPARATOR.length
    if (texts.length > 0 && room < 0) {
      texts.push(`(Rounds before ${index + 2} are left out.)`)
      break
    }
    texts.push(text)
  }
  return texts.toReversed().join(SEPARATOR)
}

function toHistoryLimits(history: NonNullable<LoopSettings['history']>): LoopHistory {
  if (typeof history === 'object') return history
  return history === 'last' ? { window: 1 } : {}
}

/** Returns a reader of the output, which the tasks of the rounds have already read; undefined for text. */
export function createLoopReader(
  body: OutputReader | undefined,
  { result }: Pick<LoopSettings, 'result'>,
): OutputReader | undefined {
  if (result === 'all') return createFormReader('list', body?.schema ?? { type: 'string' })
  if (body === undefined) return undefined
  return { ...body, readValue: (value) => Promise.resolve({ ok: true, value }) }
}

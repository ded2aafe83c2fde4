/** The human_input tool. */
import { defineTextTool, ToolResult } from '@tutti/core'
import { assertKnownOptions, TOOL_SETTING_NAMES } from '@tutti/core/internal'

import type { ToolContext, ToolSettings, TypedTool } from '@tutti/core'
import type { ApprovalTimeoutAction, OptionNames } from '@tutti/core/internal'

export interface HumanInputOptions extends Omit<Partial<ToolSettings<string>>, 'requireApproval'> {
  /**
   * Time limit for the answer, in milliseconds; Infinity waits forever.
   * @default the time limit of the run's reviews, or 300000
   */
  readonly answerTimeoutMs?: number
  /**
   * Effect of a missing answer: the model continues without it, the run ends early, or the call fails.
   * @default CONTINUE
   */
  readonly onTimeout?: ApprovalTimeoutAction
}

const { requireApproval: _, ...SETTING_NAMES } = TOOL_SETTING_NAMES

const OPTION_NAMES = {
  ...SETTING_NAMES,
  answerTimeoutMs: true,
  onTimeout: true,
} as const satisfies OptionNames<HumanInputOptions>

const DEFAULTS = {
  name: 'human_input',
  description:
    'Asks the person who supervises this work a question, and waits for the answer. Ask one clear ' +
    'question with everything that is needed to answer it.',
} as const satisfies ToolSettings<string>

/**
 * Creates a text tool that asks a person. The person's text is the result; an approval without text and a missing answer
 * have their own results. The time limit of the tool is paused while it waits.
 *
 * @throws {TypeError} naming every invalid setting.
 * @throws {RangeError} when `answerTimeoutMs` is not positive.
 */
export function humanInput(options: HumanInputOptions = {}): TypedTool<string> {
  assertKnownOptions('Cannot define tool "human_input":', options, OPTION_NAMES)
  const { answerTimeoutMs, onTimeout = 'CONTINUE', ...settings } = options
  if (answerTimeoutMs !== undefined && !(answerTimeoutMs > 0)) {
    throw new RangeError(
      `Cannot define tool "human_input": answerTimeoutMs must be > 0, got ${answerTimeoutMs}`,
    )
  }
  return defineTextTool({
    ...DEFAULTS,
    ...settings,
    execute: (question, context) => ask(question, context, { answerTimeoutMs, onTimeout }),
  })
}

interface AskOptions {
  readonly answerTimeoutMs: number | undefined
  readonly onTimeout: ApprovalTimeoutAction
}

async function ask(
  question: string,
  { hasReviewer, requestAnswer }: ToolContext<string>,
  { answerTimeoutMs, onTimeout }: AskOptions,
): Promise<ToolResult> {
  if (question.trim() === '') return ToolResult.failure('Question must not be blank')
  if (!hasReviewer) return ToolResult.failure(NO_REVIEWER)
  const answer = await requestAnswer(question, {
    onTimeout,
    ...(answerTimeoutMs === undefined ? {} : { timeoutMs: answerTimeoutMs }),
  })
  if (answer.answered) {
    return ToolResult.success(answer.value.trim() === '' ? APPROVED : answer.value)
  }
  return ToolResult.success(answer.timedOut ? describeTimeout(answerTimeoutMs) : APPROVED)
}

const NO_REVIEWER =
  'This run has no reviewer to ask. Continue with what you have, and state your assumptions'

const APPROVED =
  'The person has read the question and lets you continue, without a written answer. Decide for yourself.'

function describeTimeout(timeoutMs: number | undefined): string {
  const time = timeoutMs === undefined ? 'in time' : `within ${timeoutMs / 1000} seconds`
  return `The person did not answer ${time}. Decide for yourself, and state your assumptions.`
}
